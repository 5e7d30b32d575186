"""Whether the files that a stage began and ended with are what its steps account for. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from arcview.analysis.audit import Check, Finding, Part
from arcview.analysis.edits import edits_of
from arcview.analysis.replay import StepEdit
from arcview.model.patch import ChangeKind, FileChange
from arcview.model.trajectory import Step, ToolCall, ToolKind

_NUMBERED = re.compile(r"^\s*\d+(?:→|\t|: ?|\| ?)")
_NO_CODE = re.compile(r"^\s*<system-reminder>|^\s*\[?(?:\.\.\.|…|truncated)|^<", re.IGNORECASE)

ReadBase = Callable[[str], str | None]
"""From a path as the agent wrote it to the file as the stage began; null for no such file."""


def find_foreign_reads(part: Part, read_base: ReadBase) -> Iterator[Finding]:
    """Files that an untouched workspace shows otherwise than the recorded base has them.

    Only what is read before the first call that may have changed a file is compared.

    Args:
        part: The stage.
        read_base: Gives a file as the stage is recorded to have begun.
    """
    from arcview.analysis.shell import runs_nothing

    for step in part.trajectory.steps:
        for call in step.calls:
            if call.kind is ToolKind.SHELL:
                if call.command is None or not runs_nothing(call.command):
                    return
            elif edits_of(call) or call.kind not in (ToolKind.READ, ToolKind.SEARCH):
                return
            elif call.kind is ToolKind.READ:
                yield from _compare(part, step, call, read_base)


def _compare(part: Part, step: Step, call: ToolCall, read_base: ReadBase) -> Iterator[Finding]:
    if call.path is None or call.result is None or call.result.is_error:
        return
    base = read_base(call.path)
    if base is None:
        return
    known = {line.strip() for line in base.split("\n")}
    for line in _code_lines(call.result.text):
        if line not in known:
            what = f"{call.path} is read with a line that the recorded base does not have"
            yield part.finding(Check.STATE, step, what, line, "candidate")
            return


def _code_lines(output: str) -> Iterator[str]:
    """The lines of a file as a reading tool prints them, line numbers taken off."""
    for line in output.split("\n"):
        if _NO_CODE.match(line):
            return
        match = _NUMBERED.match(line)
        # Without numbers nothing tells the file from what the tool adds to it.
        if match is not None and line[match.end() :].strip():
            yield line[match.end() :].strip()


def find_lost_edits(
    part: Part, edits: Sequence[StepEdit], changes: Sequence[FileChange], base: frozenset[str]
) -> Iterator[Finding]:
    """Edits of files that the stage is recorded to have left as they were.

    Args:
        part: The stage.
        edits: Its visible edits, with workspace paths.
        changes: What differs between its base and its end.
        base: The files of its base.
    """
    differs = {name for change in changes for name in (change.path, change.old_path)}
    last: dict[str, StepEdit] = {}
    for item in edits:
        if item.edit.kind in ("delete", "move"):
            last.pop(item.edit.path, None)
            last.pop(item.edit.source, None)
        elif item.edit.old != item.edit.new:
            last[item.edit.path] = item
    steps = {step.key: step for step in part.trajectory.steps}
    for path, item in last.items():
        if path in differs or path not in base or item.step not in steps:
            continue
        if not _named_later(part, item.step, path):
            what = f"edits {path}, which ends the stage as it began"
            yield part.finding(Check.REVERTED, steps[item.step], what, None, "candidate")


def _named_later(part: Part, key: str, path: str) -> bool:
    """Whether a later command may have put a file back: it names it, or works on the whole tree."""
    name = path.rpartition("/")[2]
    is_later = False
    for step in part.trajectory.steps:
        for call in step.calls:
            command = call.command or ""
            if is_later and (
                name in command or re.search(r"\bgit (?:checkout|restore|reset|stash)", command)
            ):
                return True
        is_later = is_later or step.key == key
    return False


def find_put_back(
    before: Part,
    changes: Sequence[FileChange],
    between: Sequence[FileChange],
    named: frozenset[str],
) -> Iterator[Finding]:
    """Files of a stage's change that something after the stage put back as they had been.

    Args:
        before: The stage.
        changes: What it changed.
        between: What changed from its end to the next state, which no stage made.
        named: Files that the steps of the pass between them edit, if there is such a pass.
    """
    old = {change.path: change for change in changes}
    last = before.trajectory.steps[-1] if before.trajectory.steps else None
    for change in between:
        made = old.get(change.path)
        if made is None or change.path in named:
            continue
        gone = change.kind is ChangeKind.DELETED and made.kind is ChangeKind.ADDED
        if gone or (made.old_blob is not None and change.new_blob == made.old_blob):
            what = f"after the stage {change.path} is put back as it was before it"
            yield before.finding(Check.REVERTED, last, what)
