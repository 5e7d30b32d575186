"""Search over a whole run: steps, diffs, gate messages, specifications and raw logs, hit by hit.

Places are read when their turn comes, stage by stage; nothing is capped in silence. Knows no
screen; a caller stops by cancelling or by not asking on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from arcview.analysis.overview import NEVER_RAN
from arcview.analysis.search import Hit, Pattern, Place, search
from arcview.errors import ArcviewError, CancelledError
from arcview.model.patch import FileChange, FilePatch, LineKind, PathClass
from arcview.model.results import GateTest
from arcview.model.run import Stage
from arcview.model.trajectory import Step, ToolCall
from arcview.session.address import Address

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun

KINDS = ("gate", "step", "diff", "spec", "log")
_FOLDED = frozenset({PathClass.VENDORED, PathClass.GENERATED, PathClass.CACHE, PathClass.LOCK})


class RunSearch:
    """One search through one run.

    Args:
        opened: The run. Diffs are searched where the states are built (`store.ready()`).
        pattern: From `analysis.search.compile_pattern`.
        kinds: Where to look; everywhere by default.
        first_stage: The stage to begin with; the others follow in order, round and round.
        cancelled: Asked for every place and every mebibyte of a long one.
    """

    def __init__(
        self,
        opened: OpenRun,
        pattern: Pattern,
        *,
        kinds: tuple[str, ...] = KINDS,
        first_stage: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._opened = opened
        self._pattern = pattern
        self._kinds = kinds
        self._first_stage = first_stage
        self._cancelled = cancelled
        self.hits: Counter[str] = Counter()
        """Matching lines by kind of place, so far."""
        self.searched: Counter[str] = Counter()
        """Places by kind, so far; the steps of a stage are one where their bytes lack a word."""
        self.left_out: list[str] = []
        """What was not searched, and why."""

    def run(self) -> Iterator[Hit]:
        """Yields every matching line.

        Raises:
            CancelledError: `cancelled` said so.
        """
        for hit in search(self._counted(), self._pattern, self._cancelled):
            self.hits[hit.place.kind] += 1
            yield hit

    def _counted(self) -> Iterator[Place]:
        for place in self._places():
            if self._cancelled is not None and self._cancelled():
                raise CancelledError("cancelled")
            self.searched[place.kind] += 1
            yield place

    def _places(self) -> Iterator[Place]:
        for stage in self._stages():
            yield from self._of_stage(stage)
        if self._opened.overview.chain_gate is not None:
            state = self._opened.overview.chain_gate.state
            yield from self._of_gate("chain", state, "chain", "chain gate")

    def _stages(self) -> tuple[Stage, ...]:
        stages = self._opened.run.stages
        start = next((n for n, s in enumerate(stages) if s.index == self._first_stage), 0)
        return (*stages[start:], *stages[:start])

    def _of_stage(self, stage: Stage) -> Iterator[Place]:
        index, name = str(stage.index), f"stage {stage.index}"
        if stage.status not in NEVER_RAN:
            yield from self._of_gate(index, None, index, name)
        yield from self._steps(stage.index, None, index, name)
        yield from self._diffs(stage.base, stage.end, index, name)
        if "spec" in self._kinds:
            for what, path in (
                ("specification", stage.spec_path),
                ("contract", stage.contract_path),
            ):
                if path is not None:
                    title = f"{name} · {what}"
                    yield Place(str(Address("spec", index)), "spec", title, self._text(path))
        before = stage.end
        for one in stage.passes:
            title = f"the pass to {one.state}"
            yield from self._of_gate(index, one.state, one.state, title)
            yield from self._steps(stage.index, one.state, one.state, title)
            yield from self._diffs(before, one.state, one.state, title)
            before = one.state

    # Gates and their logs

    def _of_gate(self, gate: str, state: str | None, where: str, name: str) -> Iterator[Place]:
        if "gate" not in self._kinds and "log" not in self._kinds:
            return
        view = self._opened.gate_view(gate, state)
        if "gate" in self._kinds:
            not_ok = (*(failing.test for failing in view.failing), *view.other_not_ok)
            for test in (*not_ok, *view.passing, *view.extra_ok):
                yield from _test_places(test, where, name)
        if "log" in self._kinds:
            for path in view.logs:
                yield self._log(path, where, f"{name} · {path}")

    def _log(self, path: str, where: str, title: str) -> Place:
        parts = ("log", *path.split("/"))

        def at(line: int) -> str:
            return str(Address("gate", where, parts, line))

        return Place(str(Address("gate", where, parts)), "log", title, self._text(path), at)

    def _text(self, path: str) -> Callable[[], str]:
        def load() -> str:
            try:
                return self._opened.text(path)
            except CancelledError:
                raise
            except ArcviewError as error:
                self.left_out.append(str(error))
                return ""

        return load

    # Steps

    def _steps(self, stage: int, state: str | None, where: str, name: str) -> Iterator[Place]:
        if "step" not in self._kinds or not self._opened.trajectory_refs(stage, state):
            return
        word = self._pattern.word
        if word is not None and self._opened.steps_lack(stage, state, word):
            self.searched["step"] += 1
            return
        try:
            trajectory = self._opened.trajectory(stage, state)
        except CancelledError:
            raise
        except ArcviewError as error:
            self.left_out.append(f"the steps of {name}: {error}")
            return
        for step in trajectory.steps:
            yield from _step_places(step, where, name)

    # Diffs

    def _diffs(self, base: str | None, end: str | None, where: str, name: str) -> Iterator[Place]:
        if "diff" not in self._kinds or base is None or end is None:
            return
        try:
            changes = self._opened.store.changes(base, end)
        except CancelledError:
            raise
        except ArcviewError as error:
            self.left_out.append(f"the diff of {name}: {error}")
            return
        folded = sum(change.path_class in _FOLDED for change in changes)
        if folded:
            self.left_out.append(
                f"the diff of {name}: {folded} vendored, generated, lock and cache files"
            )
        for change in changes:
            if change.path_class not in _FOLDED:
                yield self._diff(base, end, change, where, name)

    def _diff(self, base: str, end: str, change: FileChange, where: str, name: str) -> Place:
        parts = tuple(change.path.split("/"))
        places: list[int | None] = []

        def load() -> str:
            try:
                patch = self._opened.store.patch(base, end, change.path, context=0)
            except CancelledError:
                raise
            except ArcviewError as error:
                self.left_out.append(f"the diff of {change.path} in {name}: {error}")
                return change.path
            if patch.truncated_bytes:
                self.left_out.append(f"the diff of {change.path} in {name}: too large")
            text, numbers = _changed_lines(patch)
            places[:] = numbers
            return text

        def at(line: int) -> str:
            number = places[line - 1] if line <= len(places) else None
            return str(Address("diff", where, parts, number))

        address = str(Address("diff", where, parts))
        return Place(address, "diff", f"{name} · {change.path}", load, at)


def _changed_lines(patch: FilePatch) -> tuple[str, list[int | None]]:
    """The name and the changed lines of a file, and the new line number of each or null."""
    change = patch.change
    name = change.path if change.old_path is None else f"{change.old_path} → {change.path}"
    lines: list[str] = [name]
    numbers: list[int | None] = [None]
    for hunk in patch.hunks:
        for line in hunk.lines:
            if line.kind is not LineKind.CONTEXT:
                lines.append(f"{line.kind.value}{line.text}")
                numbers.append(line.new_number)
    return "\n".join(lines), numbers


def _test_places(test: GateTest, where: str, name: str) -> Iterator[Place]:
    address = str(Address("gate", where, (test.group.value, test.id)))
    for part, text in (
        ("test", test.id),
        ("message", test.message),
        ("traceback", test.traceback),
        ("stdout", test.stdout),
        ("stderr", test.stderr),
    ):
        if text:
            title = f"{name} · {part}" if part == "test" else f"{name} · {test.id} · {part}"
            yield Place(address, "gate", title, partial(str, text))


def _step_places(step: Step, where: str, name: str) -> Iterator[Place]:
    address = str(Address("step", where, (step.key,)))
    number = f"#{step.number}" if step.number is not None else step.kind.value
    for part, text in _step_texts(step):
        if text:
            yield Place(address, "step", f"{name} {number} · {part}", partial(str, text))


def _step_texts(step: Step) -> Iterator[tuple[str, str | None]]:
    yield step.role.value, step.text
    yield "thinking", step.thinking
    for call in step.calls:
        yield call.name, _arguments(call)
        if call.result is not None:
            yield f"result of {call.name}", call.result.text
    yield "record", step.raw


def _arguments(call: ToolCall) -> str:
    if call.raw_arguments is not None:
        return call.raw_arguments
    return "\n".join(
        f"{name}: {_shown(value)}" if len(call.arguments) > 1 else _shown(value)
        for name, value in call.arguments.items()
    )


def _shown(value: object) -> str:
    """A value as the cache writes it, so that a word which its bytes lack is not in it either."""
    is_text = isinstance(value, str)
    return str(value) if is_text else json.dumps(value, ensure_ascii=False, default=dict)
