"""Writes the key table of README.md from the command registry: `make keys`."""

from __future__ import annotations

import re
from pathlib import Path

from arcview.session.commands_help import key_table_markdown

README = Path(__file__).parents[1] / "README.md"
PLACE = re.compile(r"(?<=<!-- keys -->\n).*?(?=\n<!-- /keys -->)", re.DOTALL)

if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    table = key_table_markdown().strip()
    README.write_text(PLACE.sub(lambda _: table, text), encoding="utf-8")
