"""The guarded reader of text files, under the name that sources know it by; settings read with it too."""

from __future__ import annotations

from aircoding.records.printable import printable
from aircoding.text_files import MAX_FILE_BYTES, TextRead, list_folder, read_text_file

__all__ = ["MAX_FILE_BYTES", "TextRead", "list_folder", "printable", "read_text_file"]
