"""Which trajectory step wrote a line: replay the visible edits of a stage, then align with its end.

Three kinds of answer, never mixed: exact (the line survives from a replayed edit), candidate (an
edit inserted the same text), none. Pure: file contents and edits are handed in.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from arcview.analysis.edits import FileEdit

Certainty = Literal["exact", "candidate", "none"]


@dataclass(frozen=True, slots=True)
class StepEdit:
    """One edit with the step that made it."""

    step: str
    """Key of the step."""
    edit: FileEdit


@dataclass(frozen=True, slots=True)
class LineOrigin:
    """Where one line of the stage's end state comes from."""

    certainty: Certainty
    step: str | None = None
    """Key of the step that wrote it; null for lines that the stage began with and for none."""
    inherited: bool = False
    """True when the line stood in the stage's base already: no step of this stage wrote it."""


@dataclass(frozen=True, slots=True)
class FileOrigins:
    """The origins of every line of one file at the end of a stage."""

    lines: tuple[LineOrigin, ...]
    unapplied: tuple[str, ...]
    """Steps whose edit did not fit what the replay had: something invisible changed the file."""
    faithful: bool
    """The replayed file equals the end state byte for byte (up to line ends)."""

    @property
    def written(self) -> int:
        """Lines that this stage wrote (all but the inherited ones)."""
        return sum(not line.inherited for line in self.lines)

    @property
    def attributed(self) -> int:
        """Lines of this stage whose step is known exactly."""
        return sum(line.certainty == "exact" and not line.inherited for line in self.lines)


_Line = tuple[str, str | None]
"""Text of a line, and the key of the step that wrote it; null means the stage began with it."""


def split_lines(text: str) -> list[str]:
    r"""Splits at `\n` alone; a last line without one is a line too, an empty text has none."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


class Replay:
    """The files of a workspace while the edits of a stage are replayed on it, in memory.

    Args:
        base: Gives a file as the stage began; null where it did not exist.
        renamed: New → old path of the files that were renamed meanwhile, however that came about.
    """

    def __init__(
        self, base: Callable[[str], str | None], renamed: Mapping[str, str] | None = None
    ) -> None:
        self._base = base
        self._renamed = renamed or {}
        self._documents: dict[str, list[_Line] | None] = {}
        self._unapplied: dict[str, list[str]] = {}
        self._deleted: list[str] = []
        """Folders, with a slash at the end."""

    def apply(self, item: StepEdit) -> bool:
        """Replays one edit; false where it did not fit, which changes nothing."""
        edit = item.edit
        if edit.kind in ("move", "copy"):
            return self._take_over(edit)
        if edit.kind == "delete":
            self._delete(edit.path)
            return True
        after = _apply(self._document(edit.path), item)
        if isinstance(after, _Misfit):
            self._unapplied.setdefault(edit.path, []).append(item.step)
            return False
        self._documents[edit.path] = after
        return True

    @property
    def touched(self) -> tuple[str, ...]:
        """Every file that an edit has named so far, deleted ones included."""
        return tuple(self._documents)

    def text(self, path: str) -> str | None:
        """A file as it stands now; null where there is none."""
        document = self._document(path)
        return None if document is None else "".join(f"{line}\n" for line, _ in document)

    def origins(
        self,
        path: str,
        end: str,
        inserted: Callable[[], Mapping[tuple[str, str], str]] | None = None,
    ) -> FileOrigins:
        """Attributes every line of a file as the stage ended.

        The method is that of two tiers: the replayed edits first (a whole-file write keeps the
        origin of the lines that it repeats), then, for lines that no replay explains, the last
        text that held the same line after the same previous line.

        Args:
            path: The file.
            end: Its text as the stage ended.
            inserted: Gives what `inserted_lines` gives; asked only where lines are left open.
        """
        document = self._document(path) or []
        end_lines = split_lines(end)
        aligned = _aligned(document, end_lines)
        is_open = any(origin is None for origin in aligned)
        index = inserted() if inserted is not None and is_open else {}
        lines = [
            origin or _by_content(index, end_lines, number) for number, origin in enumerate(aligned)
        ]
        return FileOrigins(
            _with_blanks(lines, end_lines),
            tuple(self._unapplied.get(path, ())),
            [text for text, _ in document] == end_lines,
        )

    def _document(self, path: str) -> list[_Line] | None:
        if path not in self._documents:
            base = self._base(path) if not path.startswith(tuple(self._deleted)) else None
            known: list[_Line] | None = None
            if base is not None:
                known = [(line, None) for line in split_lines(base)]
            elif path in self._renamed:
                # No edit shows the rename: the file goes on under its new name.
                known = self._document(self._renamed[path])
            self._documents[path] = known
        return self._documents[path]

    def _delete(self, path: str) -> None:
        self._deleted.append(f"{path}/")
        for known in (*self._documents, path):
            if known == path or known.startswith(f"{path}/"):
                self._documents[known] = None

    def _take_over(self, edit: FileEdit) -> bool:
        document = self._document(edit.source)
        if document is None:
            return False
        self._documents[edit.path] = list(document)
        if edit.kind == "move" and edit.source != edit.path:
            self._documents[edit.source] = None
        return True


def replay_file(
    base: str | None,
    end: str,
    edits: Sequence[StepEdit],
    commands: Sequence[tuple[str, str]] = (),
) -> FileOrigins:
    """Attributes every line of one file to a step of the stage; see `Replay.origins`.

    Args:
        base: The file as the stage began, null where it did not exist.
        end: The file as the stage ended.
        edits: The visible edits of this file in order of their steps.
        commands: (Step key, shell text) of the stage in order: a program in them may have written
            lines that stand in it word for word, which makes its step a candidate.
    """
    path = edits[-1].edit.path if edits else ""
    replay = Replay(lambda name: base if name == path else None)
    for item in edits:
        replay.apply(item)
    texts = [*commands, *((item.step, item.edit.new) for item in edits)]
    return replay.origins(path, end, lambda: inserted_lines(texts))


class _Misfit:
    """An edit whose old text is not there, or not only once."""


def _apply(known: list[_Line] | None, item: StepEdit) -> list[_Line] | _Misfit:
    edit, document = item.edit, known or []
    if edit.kind == "write":
        return _rewritten(document, split_lines(edit.new), item.step)
    if edit.kind == "append":
        return document + [(line, item.step) for line in split_lines(edit.new)]
    if edit.kind == "insert":
        new = [(line, item.step) for line in split_lines(edit.new)]
        return document[: edit.after_line] + new + document[edit.after_line :]
    return _replaced(document, edit, item.step)


def _replaced(document: list[_Line], edit: FileEdit, step: str) -> list[_Line] | _Misfit:
    """Puts `new` where `old` stands; only whole lines that differ get a new origin."""
    old = edit.old.replace("\r\n", "\n")
    new = edit.new.replace("\r\n", "\n")
    text = "\n".join(line for line, _ in document) + "\n"
    count = text.count(old)
    if count == 0 or (count > 1 and not edit.replace_all):
        return _Misfit()
    return _rewritten(document, split_lines(text.replace(old, new)), step)


def _rewritten(document: list[_Line], new: list[str], step: str) -> list[_Line]:
    """The new lines; those that the document has already, in order, keep their origin."""
    result: list[_Line] = [(line, step) for line in new]
    for old_start, new_start, size in matching_runs([line for line, _ in document], new):
        result[new_start : new_start + size] = document[old_start : old_start + size]
    return result


_SMALL = 10_000
"""Lines times lines up to which difflib alone is quick."""


def matching_runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Matching runs (old start, new start, length), in order.

    Common ends are trimmed first, which makes an ordinary edit linear. What is left is cut at the
    lines that both sides have exactly once (patience), and difflib does the small rest.
    """
    head = 0
    limit = min(len(old), len(new))
    while head < limit and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head:
        yield 0, 0, head
    middle = (old[head : len(old) - tail], new[head : len(new) - tail])
    for old_start, new_start, size in _between_ends(*middle):
        yield head + old_start, head + new_start, size
    if tail:
        yield len(old) - tail, len(new) - tail, tail


def _between_ends(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    if not old or not new:
        return
    anchors = _anchors(old, new) if len(old) * len(new) > _SMALL else []
    if not anchors:
        for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            if block.size:
                yield block.a, block.b, block.size
        return
    at_old = at_new = 0
    for old_line, new_line in [*anchors, (len(old), len(new))]:
        for old_start, new_start, size in matching_runs(old[at_old:old_line], new[at_new:new_line]):
            yield at_old + old_start, at_new + new_start, size
        if old_line < len(old):
            yield old_line, new_line, 1
        at_old, at_new = old_line + 1, new_line + 1


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest rising sequence of lines that each side has exactly once."""
    counts_old, counts_new = Counter(old), Counter(new)
    places = {line: place for place, line in enumerate(new) if counts_new[line] == 1}
    pairs = [
        (place, places[line])
        for place, line in enumerate(old)
        if counts_old[line] == 1 and line in places
    ]
    ends: list[int] = []
    last: list[int] = []
    before: list[int | None] = []
    for index, (_, new_line) in enumerate(pairs):
        rank = bisect_left(ends, new_line)
        before.append(last[rank - 1] if rank else None)
        if rank == len(ends):
            ends.append(new_line)
            last.append(index)
        else:
            ends[rank], last[rank] = new_line, index
    found: list[tuple[int, int]] = []
    step: int | None = last[-1] if last else None
    while step is not None:
        found.append(pairs[step])
        step = before[step]
    return found[::-1]


def _squeezed(line: str) -> str:
    return "".join(line.split())


def _aligned(document: list[_Line], end: list[str]) -> list[LineOrigin | None]:
    """Origins of the end's lines that the replayed document has, white space ignored."""
    origins: list[LineOrigin | None] = [None] * len(end)
    kept: dict[str | None, LineOrigin] = {}
    old = [_squeezed(line) for line, _ in document]
    new = [_squeezed(line) for line in end]
    for old_start, new_start, size in matching_runs(old, new):
        for offset in range(size):
            step = document[old_start + offset][1]
            if step not in kept:
                kept[step] = LineOrigin("exact", step, inherited=step is None)
            origins[new_start + offset] = kept[step]
    return origins


def inserted_lines(texts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """(Previous line, line) → the last step whose text holds them so; trivial lines left out.

    Args:
        texts: (Step key, text that an edit put in or a shell line spells out), in order.
    """
    index: dict[tuple[str, str], str] = {}
    for step, text in texts:
        previous = ""
        for line in map(_squeezed, split_lines(text)):
            # Braces and lone keywords stand everywhere and would point anywhere.
            if len(line) > 4:
                index[(previous, line)] = step
                # The first line of an insertion follows a line that the text does not hold.
                index.setdefault(("", line), step)
            previous = line
    return index


def _by_content(
    index: Mapping[tuple[str, str], str], end: Sequence[str], number: int
) -> LineOrigin:
    line = _squeezed(end[number])
    previous = _squeezed(end[number - 1]) if number else ""
    # A long line is telling by itself; a short one only after the line it was inserted after.
    step = index.get((previous, line)) or (index.get(("", line)) if len(line) > 20 else None)
    return LineOrigin("candidate", step) if step else LineOrigin("none")


def _with_blanks(lines: list[LineOrigin], end: Sequence[str]) -> tuple[LineOrigin, ...]:
    """Blank lines between two candidate lines of one step are candidates of it too."""
    last: LineOrigin | None = None
    start = 0
    for number, origin in enumerate(lines):
        if origin.certainty == "none" and not end[number].strip():
            continue
        if origin.certainty == "candidate" and origin == last:
            for between in range(start + 1, number):
                lines[between] = origin
        last, start = origin, number
    return tuple(lines)
