# SPDX-License-Identifier: Apache-2.0
import unittest
from pathlib import Path

ROOT = Path(__file__).parent.parent


class HeaderTest(unittest.TestCase):
    def test_every_python_file_states_its_licence(self) -> None:
        for folder in ("stock", "tests", "tools"):
            for path in sorted((ROOT / folder).glob("*.py")):
                first = path.read_text(encoding="utf-8").partition("\n")[0]
                with self.subTest(path=path.name):
                    self.assertTrue(first.startswith("# SPDX-License-Identifier:"), f"{path.name}: no licence line")


if __name__ == "__main__":
    unittest.main()
