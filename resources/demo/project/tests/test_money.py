# SPDX-License-Identifier: Apache-2.0
import unittest

from stock.money import amount, cents


class MoneyTest(unittest.TestCase):
    def test_amounts_survive_the_way_there_and_back(self) -> None:
        for text in ("0.00", "0.05", "12.50", "1000.99"):
            self.assertEqual(amount(cents(text)), text)


if __name__ == "__main__":
    unittest.main()
