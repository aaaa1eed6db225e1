# SPDX-License-Identifier: Apache-2.0
"""Count what is in a warehouse."""
