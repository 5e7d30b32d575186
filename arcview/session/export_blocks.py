"""What an export is made of: headings, tables, code, folds. Plain data, knows no format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["plain", "good", "bad", "unknown"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    text: str
    tone: Tone = "plain"
    """Colours nothing that the text does not say too."""
    code: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; the first of a document is its title."""

    level: int
    text: str
    anchor: str = ""
    """Where a link leads; unique in the document."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of words."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Code:
    """Text that keeps its lines and blanks."""

    text: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of lines."""

    items: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; every row has as many cells as the head."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    right: frozenset[int] = frozenset()
    """Columns of numbers."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that open on demand, where the format can."""

    summary: str
    blocks: tuple[Block, ...]
    tone: Tone = "plain"
    open: bool = False


Block = Heading | Paragraph | Code | Bullets | Table | Fold
