"""Export blocks → Markdown. Outside text is escaped or stands in code; nothing of it is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from arcview.session.export_blocks import (
    Block,
    Bullets,
    Cell,
    Code,
    Fold,
    Heading,
    Paragraph,
    Table,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~&@])")


def markdown(blocks: Iterable[Block]) -> str:
    """A whole document; its text must be clean and masked."""
    return "\n\n".join(part for block in blocks for part in _block(block)).rstrip() + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading(level, text):
            yield f"{'#' * level} {_escaped(_line(text))}"
        case Paragraph(text):
            yield _escaped(_line(text))
        case Code(text, caption):
            if caption:
                yield _escaped(_line(caption))
            yield _fenced(text)
        case Bullets(items):
            yield "\n".join(f"- {_cell(item)}" for item in items)
        case Table():
            yield _table(block)
        case Fold(summary, inner):
            # Folds of HTML would let no Markdown in: a bold line and what is below it.
            yield f"**{_escaped(_line(summary))}**"
            for one in inner:
                yield from _block(one)


def _table(table: Table) -> str:
    marks = ("---:" if place in table.right else "---" for place in range(len(table.head)))
    lines = [_row(_escaped(text) for text in table.head), _row(marks)]
    lines += [_row(_cell(cell) for cell in row) for row in table.rows]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = _line(cell.text)
    if not cell.code or not text:
        return _escaped(text)
    # In a table a bar ends the cell even inside code.
    ticks = _ticks(text, 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}".replace("|", "\\|")


def _fenced(text: str) -> str:
    ticks = _ticks(text, 3)
    return f"{ticks}text\n{text}\n{ticks}"


def _ticks(text: str, least: int) -> str:
    """A run of back-ticks that the text does not hold."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _escaped(text: str) -> str:
    text = _SPECIAL.sub(r"\\\1", text)
    # Nothing becomes a heading, a list or, by looking like an address, a link.
    text = re.sub(r"^(\d+)([.)])", r"\1\\\2", re.sub(r"^([#+\-=])", r"\\\1", text))
    return text.replace("://", ":\\/\\/").replace("www.", "www\\.")


def _line(text: str) -> str:
    return " ".join(text.split())
