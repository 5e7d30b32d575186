"""The pieces that plain text is put together from: glyphs, clean lines, columns, figures. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arcview.model.results import Verdict
from arcview.secrets import mask_secrets
from arcview.text import cells, clean

if TYPE_CHECKING:
    from arcview.analysis.gate_view import GateView

LINE_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The few characters beyond ASCII that plain text uses, or what stands in for them."""

    passed: str = "✓"
    failed: str = "✗"
    unmeasured: str = "?"
    nothing: str = "–"
    dot: str = "·"
    minus: str = "−"
    more: str = "…"
    between: str = "◇"
    derived: str = "≈"
    times: str = "×"

    @classmethod
    def for_encoding(cls, encoding: str | None) -> Glyphs:
        """The glyphs that can be written in an encoding."""
        wanted = cls()
        try:
            "✓✗–·−…◇≈×".encode(encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return cls("+", "x", "?", "-", "|", "-", "...", ">", "d", "*")
        return wanted

    def verdict(self, verdict: Verdict) -> str:
        """The glyph of a verdict."""
        return {
            Verdict.PASSED: self.passed,
            Verdict.FAILED: self.failed,
            Verdict.UNMEASURED: self.unmeasured,
        }[verdict]


def shown(text: str) -> str:
    """A text of a run as it may stand on a terminal: clean, and what looks like a secret masked."""
    return clean(mask_secrets(text))


def one_line(text: str) -> str:
    """The same, as one line."""
    return " ".join(shown(text).split())


def clipped(text: str, glyphs: Glyphs, limit: int = LINE_LIMIT) -> str:
    """A clean text, cut with a mark that says how much is left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}{glyphs.more} ({len(text) - limit} more characters)"


def aligned(table: Sequence[tuple[str, ...]], *, right: frozenset[int]) -> Iterator[str]:
    """Columns two blanks apart; those in `right` end at one edge, the last is not padded."""
    widths = [max(cells(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        parts = []
        for column, (text, width) in enumerate(zip(line, widths, strict=True)):
            pad = " " * (width - cells(text))
            parts.append(pad + text if column in right else text + pad)
        yield "  ".join(parts).rstrip()


def cost(usd: float | None) -> str:
    """`$1.20`; empty where it is unknown."""
    return "" if usd is None else f"${usd:.2f}"


def duration(seconds: float | None) -> str:
    """`7s`, `2m05`, `1h07`; empty where it is unknown."""
    if seconds is None:
        return ""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}"
    return f"{whole // 3600}h{whole % 3600 // 60:02}"


def counted(number: int, what: str) -> str:
    """`1 test`, `2 tests`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def not_ok(view: GateView) -> str:
    """What of a gate is not ok: `3 failing tests, 1 skipped test that counts as not ok, …`."""
    failing = len(view.failing) - view.skipped
    words = [counted(failing, "failing test")] if failing else []
    if view.skipped:
        verb = "counts" if view.skipped == 1 else "count"
        words.append(f"{counted(view.skipped, 'skipped test')} that {verb} as not ok")
    return ", ".join((*words, counted(len(view.groups), "cause")))


_PARTS = 12
_FIRST_PARTS = 8


def ranges(names: Sequence[str], glyphs: Glyphs) -> str:
    """Names of stages in one short line: `1–3, 5, S5.refactor`; three in a row are a range."""
    rows: list[list[str]] = []
    for name in names:
        last = rows[-1][-1] if rows else ""
        if name.isdecimal() and last.isdecimal() and int(name) == int(last) + 1:
            rows[-1].append(name)
        else:
            rows.append([name])
    parts: list[str] = []
    for row in rows:
        parts += [f"{row[0]}{glyphs.nothing}{row[-1]}"] if len(row) > 2 else row
    if len(parts) <= _PARTS:
        return ", ".join(parts)
    first = ", ".join(parts[:_FIRST_PARTS])
    return f"{first} {glyphs.more} {parts[-1]} ({len(names)} in all)"
