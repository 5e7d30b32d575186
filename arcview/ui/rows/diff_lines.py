"""How the rows of a diff look: file headers, hunk lines, numbered lines with their marks.

Pure: every function makes content from cleaned text; no widget is imported.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content, Span

from arcview.analysis.syntax import SyntaxSpan
from arcview.analysis.words import Marks
from arcview.model.patch import ChangeKind, DiffLine, FileChange, LineKind, PathClass
from arcview.text import cells, clean
from arcview.ui import theme
from arcview.ui.rows.lines import Cell, styled_parts, syntax_parts
from arcview.ui.safe import one_line

WIDE_GUTTERS = 84
"""Columns from which on the unified view has both line numbers."""
ORIGIN_WIDTH = 7
"""Columns of the gutter that says who wrote a line: `2p#104?`."""

_KIND_LETTERS = {
    ChangeKind.ADDED: ("A", theme.ADDED),
    ChangeKind.DELETED: ("D", theme.REMOVED),
    ChangeKind.MODIFIED: ("M", theme.INFO),
    ChangeKind.RENAMED: ("R", theme.ROLE_USER),
    ChangeKind.COPIED: ("C", theme.ROLE_USER),
    ChangeKind.TYPE_CHANGED: ("T", theme.WARN),
    ChangeKind.MODE_CHANGED: ("M", theme.WARN),
    ChangeKind.UNMERGED: ("U", theme.WARN),
}
_MODES = {"100644": "file", "100755": "executable", "120000": "symlink", "160000": "submodule"}
_SYMLINK = "120000"


def kind_letter(change: FileChange) -> tuple[str, str]:
    """The letter git has for a change, and its style."""
    return _KIND_LETTERS[change.kind]


def size(size_bytes: int) -> str:
    """A size for people: `980 B`, `18.3 kB`, `4.1 MB`."""
    if size_bytes < 1_000:
        return f"{size_bytes} B"
    for unit, factor in (("kB", 1_000), ("MB", 1_000_000)):
        if size_bytes < 999.95 * factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes / 1_000_000_000:.1f} GB"


def describe(change: FileChange) -> str:
    """What happened to a file beyond added and removed lines, in words; empty for a plain edit."""
    words: list[str] = []
    if change.kind in (ChangeKind.RENAMED, ChangeKind.COPIED):
        share = "" if change.similarity is None else f" {change.similarity}%"
        words.append(f"{change.kind.value} from {change.old_path}{share}")
    elif change.kind is ChangeKind.TYPE_CHANGED:
        words.append(f"{_mode(change.old_mode)} → {_mode(change.new_mode)}")
    elif change.kind is ChangeKind.UNMERGED:
        words.append("combined")
    elif change.kind in (ChangeKind.ADDED, ChangeKind.DELETED):
        words.append(change.kind.value)
        mode = change.new_mode or change.old_mode
        if mode in _MODES and mode != "100644":
            words.append(_MODES[mode])
    elif change.old_mode == change.new_mode == _SYMLINK:
        words.append("symlink target changed")
    if (
        change.kind is not ChangeKind.TYPE_CHANGED
        and change.old_mode
        and change.new_mode
        and change.old_mode != change.new_mode
    ):
        words.append(f"mode {change.old_mode} → {change.new_mode}")
    if change.binary:
        words.append(f"binary{_sizes(change)}")
    return ", ".join(words)


def nothing(change: FileChange) -> str:
    """Why a file has no lines to show."""
    if change.binary:
        return "binary, not shown as text"
    match change.kind:
        case ChangeKind.ADDED:
            return "an empty file"
        case ChangeKind.DELETED:
            return "it was empty"
        case ChangeKind.RENAMED | ChangeKind.COPIED:
            return "no line changed"
        case ChangeKind.MODE_CHANGED:
            return "only the mode changed"
        case _:
            return "no lines to show"


def _mode(mode: str | None) -> str:
    return _MODES.get(mode or "", mode or "?")


def _sizes(change: FileChange) -> str:
    sides = [size(n) for n in (change.old_size_bytes, change.new_size_bytes) if n is not None]
    return f" {' → '.join(sides)}" if sides else ""


def counts(added: int | None, removed: int | None) -> Content:
    """`+180 −12`; a side that is 0 is left out, one that is unknown too."""
    parts: list[tuple[str, str]] = []
    if added:
        parts.append((f"+{added:,}", theme.ADDED))
    if removed:
        parts.append((f"−{removed:,}", theme.REMOVED))
    if not parts and added is not None:
        return Content.styled("±0", theme.MUTED)
    joined: list[str | tuple[str, str]] = []
    for part in parts:
        joined += [" ", part] if joined else [part]
    return Content.assemble(*joined)


def shortened(path: str, width: int) -> str:
    """A cleaned path that fits: its beginning is left out, never its file name's end."""
    if cells(path) <= width:
        return path
    kept = path
    while kept and cells(kept) > max(1, width - 1):
        kept = kept[1:]
    return f"…{kept}"


def header(change: FileChange, *, is_open: bool, width: int, line_style: str) -> list[Cell]:
    """`▾ M src/engine.py  renamed from …            +180 −12`."""
    letter, style = kind_letter(change)
    right = Content.assemble(" ", counts(change.added, change.removed), " ")
    room = max(8, width - right.cell_length - 4)
    words = describe(change)
    path = shortened(one_line(change.path) or "(no name)", room)
    left: list[str | tuple[str, str]] = [
        (f"{'▾' if is_open else '▸'} ", theme.MUTED),
        (f"{letter} ", f"bold {style}"),
        (path, theme.HEADING),
    ]
    rest = room - cells(path) - 2
    if words and rest > 6:
        words = one_line(words)
        left.append(
            (f"  {words if cells(words) <= rest else words[: rest - 1] + '…'}", theme.MUTED)
        )
    return [
        Cell(Content.assemble(*left), style=line_style, scrolls=True),
        Cell(right, width=right.cell_length, style=line_style),
    ]


def group(name: PathClass, files: int, added: int, removed: int, *, is_open: bool) -> Content:
    """`▸ 214 vendored files  +120,331 −4`."""
    noun = "file" if files == 1 else "files"
    return Content.assemble(
        (f"{'▾' if is_open else '▸'} ", theme.MUTED),
        (f"{files:,} {name.value} {noun}", theme.HEADING),
        "  ",
        counts(added, removed),
        ("" if is_open else "  folded — enter opens", theme.FAINT),
    )


def hunk(heading: str, old: int, new: int, unchanged: int) -> Content:
    """`··· 120 unchanged lines ···  @@ -88 +92 @@ def apply`."""
    parts: list[tuple[str, str]] = [("  ", "")]
    if unchanged:
        parts.append((f"··· {unchanged:,} unchanged {_lines(unchanged)} ", theme.MUTED))
    parts.append((f"@@ −{old} +{new} @@ ", theme.HUNK))
    parts.append((one_line(heading), theme.HUNK))
    return Content.assemble(*parts)


def end_gap(unchanged: int | None) -> Content:
    """`··· 40 unchanged lines to the end`, without the number where the file is not there yet."""
    known = "" if unchanged is None else f" {unchanged:,} unchanged {_lines(unchanged)}"
    return Content.styled(f"  ···{known or ' unchanged'} to the end", theme.MUTED)


def _lines(count: int) -> str:
    return "line" if count == 1 else "lines"


_LINE_STYLES = {
    LineKind.ADDED: (theme.ADDED, theme.ADDED_LINE, theme.ADDED_WORD),
    LineKind.REMOVED: (theme.REMOVED, theme.REMOVED_LINE, theme.REMOVED_WORD),
    LineKind.CONTEXT: (theme.FAINT, "", ""),
}


def line_style(kind: LineKind) -> str:
    """The background of a line of that kind."""
    return _LINE_STYLES[kind][1]


def gutter(
    numbers: Sequence[int | None], digits: int, kind: LineKind, origin: str | None
) -> Content:
    """The fixed left part of a line: where it is from, its numbers, its sign."""
    style = _LINE_STYLES[kind][0]
    parts: list[tuple[str, str]] = []
    if origin is not None:
        parts.append((f"{clean(origin)[:ORIGIN_WIDTH]:<{ORIGIN_WIDTH}} ", theme.MUTED))
    parts += [(f"{'' if number is None else number:>{digits}} ", theme.FAINT) for number in numbers]
    sign = "−" if kind is LineKind.REMOVED else kind.value
    parts.append((f"{sign} ", f"bold {style}"))
    return Content.assemble(*parts)


def body(text: str, line: DiffLine, syntax: Sequence[SyntaxSpan], marks: Marks) -> Content:
    """A cleaned line with its syntax, its changed words, and what blanks and ends it has."""
    _, _, word = _LINE_STYLES[line.kind]
    spans = styled_parts(syntax_parts(syntax), 0, len(text))
    spans += styled_parts(((start, end, word) for start, end in marks), 0, len(text))
    tail: list[tuple[str, str]] = []
    if line.kind is not LineKind.CONTEXT:
        stripped = text.rstrip(" ")
        if len(stripped) < len(text):
            raw_tail = line.text.removesuffix("\r")
            blank = "→" if raw_tail.endswith("\t") else "·"
            spans.append(Span(len(stripped), len(text), f"{theme.WARN} {word}"))
            text = stripped + blank * (len(text) - len(stripped))
    if line.text.endswith("\r"):
        tail.append(("␍", theme.FAINT))
    if line.no_newline:
        tail.append((" ⊘ no newline at end of file", theme.WARN))
    return Content.assemble(Content(text, spans), *tail) if tail else Content(text, spans)


def context(text: str, syntax: Sequence[SyntaxSpan]) -> Content:
    """A line of an opened gap."""
    return Content(text, styled_parts(syntax_parts(syntax), 0, len(text)))


def raw(text: str) -> Content:
    """A line of a patch that is shown as it is written."""
    style = (
        theme.HUNK
        if text.startswith("@@")
        else theme.ADDED
        if "+" in text[:2]
        else theme.REMOVED
        if "-" in text[:2]
        else ""
    )
    return Content.styled(text, style) if style else Content(text)
