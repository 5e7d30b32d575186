"""How far the agent was aware of what was broken when a stage began: a suggestion, never a label.

Lexical and mechanical: what was on the screen, what was said, what was edited, each with the span
that decided. A person confirms or corrects it; how well it does is measured by `arcview agreement`.
Pure: failures, regions and steps are handed in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from arcview.analysis.awareness_words import (
    blames_earlier,
    failed_test_about,
    failure_near,
    is_distinct,
    problems,
)
from arcview.analysis.clues import Clue, ClueKind
from arcview.analysis.edits import edits_of
from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory

RULE = "awareness"
VERSION = 1
"""Of the rule; goes with what it suggested."""


class Level(IntEnum):
    """The ladder; the highest rung that was reached counts."""

    NO_EXPOSURE = 0
    REGION_VIEWED = 1
    SYMPTOM_EXPOSED = 2
    ACKNOWLEDGED = 3
    ATTRIBUTED = 4
    REPAIR_ATTEMPTED = 5
    REPAIRED = 6


Channel = Literal["text", "thinking", "result", "arguments"]


@dataclass(frozen=True, slots=True)
class Span:
    """The piece of a step that speaks for a level."""

    level: Level
    step_key: str
    step: int | None
    call_key: str | None
    """The call whose result or arguments it stands in; null for what the agent said."""
    channel: Channel
    start: int
    """Character offsets in the text of that channel."""
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class RegionLine:
    """A line of code that is suspected, as it stood when the stage began."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Defect:
    """Tests that are broken for one reason when a stage begins."""

    title: str
    tests: tuple[str, ...]
    """Their ids."""
    clues: tuple[Clue, ...]
    """What their failures say."""
    region: tuple[RegionLine, ...]
    """Where the defect may lie; empty where nothing leads there."""
    names: tuple[str, ...] = ()
    """Functions that it may lie in."""


@dataclass(frozen=True, slots=True)
class DefectAwareness:
    """How far the agent got with one defect."""

    defect: Defect
    level: Level
    spans: tuple[Span, ...]
    """The first span for each rung that was reached, the lowest rung first."""
    healed: bool
    """One of its tests is ok when the stage ends."""


@dataclass(frozen=True, slots=True)
class AwarenessSuggestion:
    """What is suggested for a stage."""

    level: Level
    """The highest of all defects."""
    defects: tuple[DefectAwareness, ...]
    """The most noticed first."""
    messages: int
    """Messages of the agent in the stage."""
    with_thinking: int
    """Those whose thinking is recorded; without it awareness looks lower than it was."""


def suggest(
    defects: Iterable[Defect], trajectory: Trajectory, healed: Collection[str]
) -> AwarenessSuggestion | None:
    """Suggests the level of a stage; null where there is nothing to look for, or no step.

    Args:
        defects: What was broken when the stage began. One whose failure says nothing and leads
            nowhere is left out: that nothing of it was seen would mean nothing.
        trajectory: The steps of the stage.
        healed: Ids of the tests that were broken and are ok when it ends.
    """
    messages = [
        s for s in trajectory.steps if s.kind is StepKind.MESSAGE and s.role is not Role.USER
    ]
    if not messages:
        return None
    screen = _Screen(messages)
    found = [_look(defect, screen, healed) for defect in defects if defect.region or defect.clues]
    if not found:
        return None
    found.sort(key=lambda one: -one.level)
    thinking = sum(bool(step.thinking.strip()) for step in messages)
    return AwarenessSuggestion(found[0].level, tuple(found), len(messages), thinking)


@dataclass(frozen=True, slots=True)
class _Piece:
    """One text of a step."""

    place: int
    """Ordinal among all pieces: what was on the screen earlier has a lower one."""
    step: Step
    call: ToolCall | None
    channel: Channel
    text: str

    def span(self, level: Level, start: int, end: int, reason: str) -> Span:
        call = self.call.key if self.call is not None else None
        return Span(level, self.step.key, self.step.number, call, self.channel, start, end, reason)


class _Screen:
    """The texts of a stage in the order in which they came up."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.pieces = list(_pieces(steps))
        self.outputs = [p for p in self.pieces if p.channel == "result" and _ran(p.call)]
        self.said = [p for p in self.pieces if p.channel in ("text", "thinking")]


_SHOWING = frozenset(
    {
        *(
            "cat",
            "head",
            "tail",
            "sed",
            "grep",
            "rg",
            "awk",
            "ls",
            "find",
            "git",
            "wc",
            "nl",
            "less",
        ),
        *("diff", "cd", "pwd", "echo", "tree", "file", "stat", "mkdir", "cp", "mv", "rm"),
    }
)


def _ran(call: ToolCall | None) -> bool:
    """Whether a call ran something: what only shows files shows code, not its behaviour."""
    if call is None or call.kind is not ToolKind.SHELL or not call.command:
        return False
    from arcview.analysis.shell import parse_shell, runs_nothing  # 20 ms with the parser

    if runs_nothing(call.command):
        return False
    return any(command.argv[0] not in _SHOWING for command in parse_shell(call.command))


def _pieces(steps: Sequence[Step]) -> Iterator[_Piece]:
    place = 0
    for step in steps:
        parts: list[tuple[ToolCall | None, Channel, str]] = [
            (None, "thinking", step.thinking),
            (None, "text", step.text),
        ]
        for call in step.calls:
            parts += [(call, "arguments", text) for text in _arguments(call)]
            if call.result is not None:
                parts.append((call, "result", call.result.text))
        for part_call, channel, text in parts:
            if text:
                yield _Piece(place, step, part_call, channel, text)
                place += 1


def _arguments(call: ToolCall) -> Iterator[str]:
    if call.command is not None:
        yield call.command
        return
    for value in call.arguments.values():
        if isinstance(value, str):
            yield value


def _look(defect: Defect, screen: _Screen, healed: Collection[str]) -> DefectAwareness:
    names = _identifiers(defect, screen)
    spans = [
        _viewed(defect, screen),
        _symptom(defect, names, screen),
        *_said(names, screen),
    ]
    noticed = [s for s in spans if s is not None and s.level >= Level.SYMPTOM_EXPOSED]
    is_healed = any(test in healed for test in defect.tests)
    if noticed:
        order = {piece.step.key: piece.place for piece in reversed(screen.pieces)}
        since = min(order[span.step_key] for span in noticed)
        repair = _repair(defect, screen, since)
        spans.append(repair)
        if repair is not None and is_healed:
            spans.append(_repaired(repair))
    found = [span for span in spans if span is not None]
    level = max((span.level for span in found), default=Level.NO_EXPOSURE)
    return DefectAwareness(defect, level, tuple(sorted(found, key=lambda s: s.level)), is_healed)


def _repaired(repair: Span) -> Span:
    return Span(
        Level.REPAIRED, repair.step_key, repair.step, repair.call_key, repair.channel,
        repair.start, repair.end, "a test that was broken is ok when the stage ends",
    )  # fmt: skip


def _viewed(defect: Defect, screen: _Screen) -> Span | None:
    """The first time that a suspected line stood in something the agent read or wrote."""
    for piece in screen.pieces:
        if piece.channel not in ("result", "arguments"):
            continue
        for line in defect.region:
            start = piece.text.find(line.text)
            if start >= 0:
                reason = f"shows a suspected line of {line.path}"
                return piece.span(Level.REGION_VIEWED, start, start + len(line.text), reason)
    return None


def _symptom(defect: Defect, names: Sequence[str], screen: _Screen) -> Span | None:
    """The first output that shows a failure which belongs to the defect."""
    messages = [clue.text for clue in defect.clues if clue.kind is ClueKind.MESSAGE]
    telling = [*_rare(messages, screen.outputs), *names]
    for piece in screen.outputs:
        for text in telling:
            found = failure_near(text, piece.text)
            if found is not None:
                reason = f"shows a failure near {text!r}"
                return piece.span(Level.SYMPTOM_EXPOSED, *found, reason)
        for name in names:
            found = failed_test_about(name, piece.text)
            if found is not None:
                reason = f"reports a failed test that is called after {name!r}"
                return piece.span(Level.SYMPTOM_EXPOSED, *found, reason)
    return None


_MAX_SHARE = 0.5
_COMMON = 3


def _rare(texts: Iterable[str], pieces: Sequence[_Piece]) -> list[str]:
    """Those that stand in few steps: what is everywhere is the task, and says nothing."""
    by_step: dict[str, list[str]] = {}
    for piece in pieces:
        by_step.setdefault(piece.step.key, []).append(piece.text)
    limit = max(_COMMON, _MAX_SHARE * len(by_step))
    return [
        text
        for text in texts
        if sum(any(text in part for part in parts) for parts in by_step.values()) <= limit
    ]


def _identifiers(defect: Defect, screen: _Screen) -> list[str]:
    """Names that belong to the defect: of its tests, of what they call, of where it may lie."""
    kinds = (ClueKind.SYMBOL, ClueKind.ERROR_TYPE, ClueKind.NAME)
    names = [
        *(test.rpartition("::")[2].partition("[")[0] for test in defect.tests),
        *(clue.text for clue in defect.clues if clue.kind in kinds),
        *defect.names,
    ]
    return _rare(dict.fromkeys(filter(is_distinct, names)), screen.pieces)


def _said(names: Sequence[str], screen: _Screen) -> list[Span]:
    """The first time that the agent says something is wrong there, and that it was so before."""
    spans: list[Span] = []
    for piece in screen.said:
        for start, end, name in problems(names, piece.text):
            if not spans:
                reason = f"says that something is wrong with {name!r}"
                spans.append(piece.span(Level.ACKNOWLEDGED, start, end, reason))
            earlier = blames_earlier(piece.text, start, end)
            if earlier is not None:
                reason = "says that it comes from earlier work"
                spans.append(piece.span(Level.ATTRIBUTED, *earlier, reason))
                return spans
    return spans


def _repair(defect: Defect, screen: _Screen, since: int) -> Span | None:
    """The first edit that touches the region, after the symptom was seen or spoken of."""
    for piece in screen.pieces:
        if piece.place < since or piece.channel != "arguments" or piece.call is None:
            continue
        target = _edited(piece.call, defect)
        if target is not None:
            reason = f"edits {target} after that"
            return piece.span(Level.REPAIR_ATTEMPTED, 0, len(piece.text), reason)
    return None


def _edited(call: ToolCall, defect: Defect) -> str | None:
    """The suspected file that a call edits in the region, as far as its arguments show."""
    paths = dict.fromkeys(line.path for line in defect.region)
    if call.kind is ToolKind.SHELL:
        from arcview.analysis.shell_edits import files_written

        written = [named for named in files_written(call) if named is not None]
        return next((p for p in paths for named in written if _is_file(named, p)), None)
    for edit in edits_of(call):
        target = next((path for path in paths if _is_file(edit.path, path)), None)
        if target is not None and (edit.kind != "replace" or _overlaps(edit.old, target, defect)):
            return target
    return None


def _is_file(named: str, path: str) -> bool:
    return named == path or named.endswith(f"/{path}") or named.removeprefix("./") == path


def _overlaps(old: str, path: str, defect: Defect) -> bool:
    """Whether a text that is replaced holds a suspected line, or names the suspected function."""
    lines = [line.text for line in defect.region if line.path == path]
    return any(line in old or old.strip() in line for line in lines) or any(
        name in old for name in defect.names
    )
