"""How the rows of a trajectory look: one header row a step, and the lines of its opened parts.

Pure: every function makes content from the model; all text of the run is cleaned here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textual.content import Content

from arcview.analysis.syntax import SyntaxSpan
from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind
from arcview.model.trajectory_refs import Usage
from arcview.text import ansi_spans, cells, clean, clip
from arcview.ui import theme
from arcview.ui.rows.diff_lines import size
from arcview.ui.rows.lines import Cell, styled_parts, syntax_parts
from arcview.ui.rows.steps_parts import PartKind, StepPart, has_failed
from arcview.ui.rows.text_view import ansi_content
from arcview.ui.safe import one_line, visible

MARGIN = 9
"""Columns left of the lines of an opened step."""
_SUMMARY_CHARACTERS = 400
_LINE_BREAK = re.compile(r"\s*\n\s*")

_TOOL_GLYPHS = {
    ToolKind.SHELL: "$",
    ToolKind.READ: "→",
    ToolKind.WRITE: "✎",
    ToolKind.EDIT: "✎",
    ToolKind.SEARCH: "?",
    ToolKind.TASK: "»",
    ToolKind.OTHER: "•",
}


class Badge(NamedTuple):
    """A short remark at the right of a step, such as the outcome of its tests."""

    text: str
    style: str = ""


class Columns(NamedTuple):
    """Which figures any step of the trajectory has; the others take no room."""

    duration: bool = False
    tokens: bool = False
    cost: bool = False

    def fitting(self, width: int) -> Columns:
        """Those that leave enough room for the summary in a view of that width."""
        return Columns(
            self.duration and width >= 60, self.tokens and width >= 110, self.cost and width >= 80
        )


def duration(seconds: float) -> str:
    """A duration for people: `<0.1s`, `0.2s`, `12s`, `3m05s`, `1h07m`."""
    if seconds < 0.05:
        return "<0.1s"
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3_600}h{whole % 3_600 // 60:02}m"


def count(number: int) -> str:
    """A count for people in at most five columns: `950`, `16.5k`, `1.2M`."""
    if number < 1_000:
        return str(number)
    if number < 999_950:
        return f"{number / 1_000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def call_summary(call: ToolCall) -> str:
    """What a call does, in one line of outside text."""
    if call.command is not None:
        return _LINE_BREAK.sub(" ⏎ ", call.command.strip()[:_SUMMARY_CHARACTERS])
    arguments = call.arguments
    if call.kind is ToolKind.SEARCH:
        found = [arguments.get(name) for name in ("pattern", "query", "path")]
        return "  ".join(str(value) for value in found if value) or _first_argument(call)
    return call.path or str(arguments.get("description") or "") or _first_argument(call)


def _first_argument(call: ToolCall) -> str:
    for value in call.arguments.values():
        if isinstance(value, str) and value.strip():
            return _first_line(value)
    for name, value in call.arguments.items():
        if isinstance(value, list):
            return f"{len(value)} {name}"
    return _first_line(call.raw_arguments or "")


def _first_line(text: str) -> str:
    # Not the whole text is split: results are megabytes long.
    head = text.lstrip()[: 4 * _SUMMARY_CHARACTERS]
    return head.split("\n", 1)[0][:_SUMMARY_CHARACTERS]


def speaker(step: Step) -> tuple[str, str, str]:
    """Glyph, name and style of who or what a step is."""
    match step.kind:
        case StepKind.COMPACTION:
            return "≋", "compaction", theme.WARN
        case StepKind.NOTE:
            return "·", "note", theme.FAIL if step.is_error else theme.MUTED
        case StepKind.RAW:
            return "?", "raw", theme.MUTED
    if step.calls:
        call = step.calls[0]
        return _TOOL_GLYPHS[call.kind], call.name, theme.ROLE_TOOL
    if step.role is Role.USER:
        return "◆", "prompt" if step.agent else "user", theme.ROLE_USER
    if step.role is Role.ASSISTANT:
        return "●", "assistant", theme.ROLE_ASSISTANT
    return "■", step.role.value, theme.MUTED


def summary(step: Step) -> Content:
    """The gist of a step: what its first call does, or the first line of what is said."""
    if not step.calls:
        style = theme.MUTED if step.kind in (StepKind.NOTE, StepKind.RAW) else ""
        line = _first_line(step.text)
        if not line and step.thinking:
            line, style = _first_line(step.thinking), theme.THINKING
        if not line and step.raw:
            line = _first_line(step.raw)
        return Content.assemble((clean(visible(line)) or "(empty)", style))
    parts: list[tuple[str, str]] = [(one_line(call_summary(step.calls[0])), "")]
    if len(step.calls) > 1:
        names = ", ".join(dict.fromkeys(call.name for call in step.calls[1:]))
        parts.append((f"  +{len(step.calls) - 1}: {one_line(clip(names, 60))}", theme.MUTED))
    if step.text.strip():
        parts.append((f"  — {clean(visible(_first_line(step.text)))}", theme.MUTED))
    return Content.assemble(*parts)


def outcome(step: Step) -> Badge | None:
    """How the calls of a step ended, where that is bad or not known."""
    failed = [call for call in step.calls if has_failed(call)]
    if failed:
        code = failed[0].result.exit_code if failed[0].result else None
        word = f"✗ exit {code}" if code not in (None, 0) else "✗ error"
        many = f" ×{len(failed)}" if len(failed) > 1 else ""
        return Badge(f"{word}{many}", theme.FAIL)
    if step.is_error:
        return Badge("✗ error", theme.FAIL)
    if any(call.result is None for call in step.calls):
        return Badge("◌ no result", theme.WARN)
    return None


def header(
    step: Step,
    *,
    depth: int,
    is_open: bool,
    columns: Columns,
    badges: Sequence[Badge],
    width: int,
) -> list[Cell]:
    """`▾  77 $ Bash       pytest -q | tail -5       ✗ exit 1   2.1s   ↑16.5k ↓206   $0.031`."""
    number = "" if step.number is None else str(step.number)
    left = _left("▾" if is_open else "▸", number, speaker(step), depth, width)
    right = _figures(step, columns.fitting(width), badges)
    line = theme.HEADING_LINE if is_open else ""
    return [
        Cell(left, left.cell_length, style=line, is_searched=True),
        Cell(summary(step), scrolls=True, style=line),
        Cell(right, right.cell_length, style=line, is_searched=True),
    ]


def folded_notes(count: int, gist: Content, depth: int, width: int) -> list[Cell]:
    """`▸      · 7 notes      file-history-snapshot ×5, session started`."""
    left = _left("▸", "", ("·", notes_name(count), theme.MUTED), depth, width)
    return [Cell(left, left.cell_length, is_searched=True), Cell(gist, scrolls=True)]


def notes_name(count: int) -> str:
    """`7 notes`."""
    return f"{count:,} notes"


def _left(fold: str, number: str, told: tuple[str, str, str], depth: int, width: int) -> Content:
    glyph, name, style = told
    shown = one_line(clip(name, 40))
    name_width = 12 if width >= 90 else 10
    shown = shown if cells(shown) <= name_width else f"{shown[: name_width - 1]}…"
    padding = " " * max(1, name_width + 1 - cells(shown))
    return Content.assemble(
        (f"{fold} ", theme.MUTED),
        (f"{number:>4} ", theme.FAINT),
        ("╎ " * depth, theme.FAINT),
        (f"{glyph} ", f"bold {style}"),
        (f"{shown}{padding}", style),
    )


def told(step: Step, columns: Columns, badges: Sequence[Badge]) -> Iterator[str]:
    """What a header says besides the gist of the step; cheap, nothing is cleaned or laid out."""
    yield speaker(step)[1]
    yield from (call.name for call in step.calls)
    yield from (badge.text for badge in badges)
    if step.number is not None:
        yield str(step.number)
    yield from _figure_texts(step, columns)


def _figures(step: Step, columns: Columns, badges: Sequence[Badge]) -> Content:
    took, up, down, cost = _figure_texts(step, columns)
    parts = [(f"  {one_line(clip(badge.text, 40))}", badge.style) for badge in badges]
    if columns.duration:
        parts.append((f"{took:>8}", theme.MUTED))
    if columns.tokens:
        parts.append((f"{up:>8} {down:>7}", theme.FAINT))
    if columns.cost or cost:
        parts.append((f"{cost:>9}", theme.MUTED))
    parts.append((" ", ""))
    return Content.assemble(*parts)


def _figure_texts(step: Step, columns: Columns) -> tuple[str, str, str, str]:
    """Duration, tokens in and out, and cost; empty where not known or without a column."""
    usage = step.usage or Usage()
    took = step.duration_s if columns.duration else None
    up = usage.input_tokens if columns.tokens else None
    down = usage.output_tokens if columns.tokens else None
    cost = usage.cost_usd if columns.cost or step.number is None else None
    return (
        "" if took is None else duration(took),
        "" if up is None else f"↑{count(up)}",
        "" if down is None else f"↓{count(down)}",
        "" if cost is None else f"${cost:.3f}",
    )


_MARGINS = {
    PartKind.META: (" ", theme.FAINT),
    PartKind.THINKING: ("┆", theme.THINKING),
    PartKind.TEXT: (" ", ""),
    PartKind.CALL: (" ", theme.ROLE_TOOL),
    PartKind.CHANGE: ("±", theme.ROLE_TOOL),
    PartKind.CONTENT: ("✎", theme.ROLE_TOOL),
    PartKind.RESULT: ("│", theme.FAINT),
    PartKind.NOTE: ("▲", theme.WARN),
    PartKind.RAW: ("?", theme.MUTED),
}
_TEXT_STYLES = {
    PartKind.META: theme.FAINT,
    PartKind.THINKING: theme.THINKING,
    PartKind.NOTE: theme.WARN,
    PartKind.RAW: theme.MUTED,
}
_SIGN_STYLES = {"+": theme.ADDED_LINE, "-": theme.REMOVED_LINE}


def cleaned(part: StepPart, line: str) -> str:
    """A line of a part as it is drawn; results and notes are terminal output."""
    line = visible(line)
    return ansi_spans(line)[0] if part.kind is PartKind.RESULT else clean(line)


def margin(part: StepPart, line: int, depth: int, *, first: bool) -> Cell:
    """What stands left of a line: the sign of the part, of the call on its first line."""
    glyph, style = _MARGINS[part.kind]
    if part.is_error:
        style = theme.FAIL
    if part.kind is PartKind.CALL and part.call is not None:
        glyph = _TOOL_GLYPHS[part.call.kind] if line == 0 and first else " "
    elif part.kind in (PartKind.CONTENT, PartKind.NOTE) and not (line == 0 and first):
        glyph = " "
    sign = part.signs[line] if part.signs and first else " "
    if part.kind is PartKind.CHANGE:
        glyph = "│"
        style = theme.FAINT
    sign_style = theme.ADDED if sign == "+" else theme.REMOVED
    content = Content.assemble(
        (" " * (MARGIN - 4), ""),
        ("╎ " * depth, theme.FAINT),
        (f"{glyph} ", style),
        ("−" if sign == "-" else sign, f"bold {sign_style}"),
        " ",
    )
    return Cell(content, content.cell_length, style=_line_style(part, line) if first else "")


def _line_style(part: StepPart, line: int) -> str:
    return _SIGN_STYLES.get(part.signs[line], "") if part.signs else ""


def line(part: StepPart, number: int, start: int, end: int, syntax: Sequence[SyntaxSpan]) -> Cell:
    """A part of a line, between two characters of its cleaned text."""
    raw = visible(part.lines[number])
    if part.kind is PartKind.RESULT:
        text, spans = ansi_spans(raw)
        content = ansi_content(text, spans, start, end)
    else:
        style = _TEXT_STYLES.get(part.kind, "")
        content = Content.assemble((clean(raw)[start:end], style))
    if part.is_error and part.kind in (PartKind.TEXT, PartKind.NOTE):
        content = content.stylize(theme.FAIL)
    content = content.add_spans(styled_parts(syntax_parts(syntax), start, end))
    return Cell(content, scrolls=True, style=_line_style(part, number))


def folded(part: StepPart, hidden: int) -> Content:
    """`… 412 more lines (18.3 kB) — enter opens`."""
    noun = "line" if hidden == 1 else "lines"
    return Content.styled(
        f"… {hidden:,} more {noun} ({size(part.size_bytes)} in all) — enter opens", theme.INFO
    )
