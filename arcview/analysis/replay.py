"""Which trajectory step wrote a line: replay the visible edits of a stage, then align with its end.

Three kinds of answer, never mixed: exact (the line survives from a replayed edit), candidate (an
edit inserted the same text), none. Pure: file contents and edits are handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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


def replay_file(
    base: str | None,
    end: str,
    edits: Sequence[StepEdit],
    commands: Sequence[tuple[str, str]] = (),
) -> FileOrigins:
    """Attributes every line of one file to a step of the stage.

    The method is that of two tiers: replayed edits first (a whole-file write keeps the origin of
    the lines that it repeats), then, for lines that no replay explains, the last edit that
    inserted the same line after the same previous line.

    Args:
        base: The file as the stage began, null where it did not exist.
        end: The file as the stage ended.
        edits: The visible edits of this file in order of their steps.
        commands: (Step key, shell text) of the stage in order: a program in them may have written
            lines that stand in it word for word, which makes its step a candidate.
    """
    document: list[_Line] = [(line, None) for line in split_lines(base or "")]
    unapplied: list[str] = []
    for item in edits:
        after = _apply(document, item)
        if after is None:
            unapplied.append(item.step)
        else:
            document = after
    end_lines = split_lines(end)
    replayed = [text for text, _ in document]
    origins = _aligned(document, end_lines)
    by_content = _inserted_lines([*commands, *((item.step, item.edit.new) for item in edits)])
    lines = [
        origin or _by_content(by_content, end_lines, number)
        for number, origin in enumerate(origins)
    ]
    return FileOrigins(_with_blanks(lines, end_lines), tuple(unapplied), replayed == end_lines)


def _apply(document: list[_Line], item: StepEdit) -> list[_Line] | None:
    edit = item.edit
    if edit.kind == "delete":
        return []
    if edit.kind == "write":
        return _rewritten(document, split_lines(edit.new), item.step)
    if edit.kind == "append":
        return document + [(line, item.step) for line in split_lines(edit.new)]
    if edit.kind == "insert":
        new = [(line, item.step) for line in split_lines(edit.new)]
        return document[: edit.after_line] + new + document[edit.after_line :]
    return _replaced(document, edit, item.step)


def _replaced(document: list[_Line], edit: FileEdit, step: str) -> list[_Line] | None:
    """Puts `new` where `old` stands; only whole lines that differ get a new origin."""
    old = edit.old.replace("\r\n", "\n")
    new = edit.new.replace("\r\n", "\n")
    text = "\n".join(line for line, _ in document) + "\n"
    count = text.count(old)
    if count == 0 or (count > 1 and not edit.replace_all):
        return None
    return _rewritten(document, split_lines(text.replace(old, new)), step)


def _rewritten(document: list[_Line], new: list[str], step: str) -> list[_Line]:
    """The new lines; those that the document has already, in order, keep their origin."""
    result: list[_Line] = [(line, step) for line in new]
    for old_start, new_start, size in _matches([line for line, _ in document], new):
        result[new_start : new_start + size] = document[old_start : old_start + size]
    return result


def _matches(old: Sequence[str], new: Sequence[str]) -> Iterable[tuple[int, int, int]]:
    """Matching runs (old start, new start, length): common ends first, then difflib between.

    Trimming the ends first makes an ordinary edit linear; what is left is small.
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
    middle = SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    for block in middle.get_matching_blocks():
        if block.size:
            yield head + block.a, head + block.b, block.size
    if tail:
        yield len(old) - tail, len(new) - tail, tail


_BLANKS = re.compile(r"\s+")


def _squeezed(line: str) -> str:
    return _BLANKS.sub("", line)


def _aligned(document: list[_Line], end: list[str]) -> list[LineOrigin | None]:
    """Origins of the end's lines that the replayed document has, white space ignored."""
    origins: list[LineOrigin | None] = [None] * len(end)
    old = [_squeezed(line) for line, _ in document]
    new = [_squeezed(line) for line in end]
    for old_start, new_start, size in _matches(old, new):
        for offset in range(size):
            step = document[old_start + offset][1]
            origins[new_start + offset] = LineOrigin("exact", step, inherited=step is None)
    return origins


def _inserted_lines(texts: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
    """(Previous line, line) → the last step whose text holds them so; trivial lines left out."""
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
