# SPDX-License-Identifier: Apache-2.0
"""The reports that the command line offers, by name."""

REPORTS: list[str] = [
    "count",
]
