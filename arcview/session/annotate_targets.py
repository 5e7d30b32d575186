"""What an address points at, as bytes to hash and as text to quote.

Pointers of labels are made and checked here. May read trajectories and states: checking many of
them belongs into a worker.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arcview.errors import ArcviewError, CancelledError, GitError
from arcview.model.annotation import Pointer, PointerState
from arcview.session.address import Address, parse_address

if TYPE_CHECKING:
    from arcview.analysis.gate_view import GateView
    from arcview.model.patch import FilePatch
    from arcview.model.results import GateTest
    from arcview.model.trajectory import Step
    from arcview.session.opened import OpenRun


@dataclass(frozen=True, slots=True)
class Place:
    """The part of a run that the first part of an address names."""

    stage: int
    gate: str
    state: str | None
    """Null for a stage whose end is not recorded."""
    between: str | None
    """The state, where a pass between stages made it."""


@dataclass(frozen=True, slots=True)
class TargetText:
    """What stands at an address."""

    data: bytes
    quote: str
    """As text, hostile and untruncated."""


class Targets:
    """Looks addresses of one open run up."""

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened

    def pointer(self, address: str) -> Pointer:
        """A pointer with the hash of what stands there now; without one where nothing does."""
        found = self.find(address)
        return Pointer(address, None if found is None else sha256_of(found.data))

    def check(self, pointer: Pointer) -> PointerState:
        """Whether what a pointer names is still what it was. It is never moved elsewhere."""
        try:
            found = self._find(parse_address(pointer.address))
        except GitError:
            return PointerState.UNVERIFIED
        except CancelledError:
            raise
        except ArcviewError:
            found = None
        if found is None:
            return PointerState.NOT_FOUND
        if pointer.sha256 is None:
            return PointerState.UNVERIFIED
        is_same = sha256_of(found.data) == pointer.sha256
        return PointerState.OK if is_same else PointerState.STALE

    def find(self, address: str) -> TargetText | None:
        """What stands at an address; null where nothing does, or the address is none."""
        try:
            return self._find(parse_address(address))
        except CancelledError:
            raise
        except ArcviewError:
            return None

    def place(self, where: str) -> Place | None:
        """The stage, gate and state that the first part of an address names, or null."""
        run = self._opened.run
        if where == "chain":
            record = run.chain_gate()
            last = run.stages[-1] if run.stages else None
            if record is None and not run.chain.has_chain_gate:
                return None
            state = record.state if record is not None else None
            return Place(last.index if last else 0, "chain", state, None)
        stage = run.stage(int(where)) if where.isdecimal() else None
        if stage is not None:
            return Place(stage.index, str(stage.index), stage.end, None)
        for found in run.stages:
            if found.end == where:
                return Place(found.index, str(found.index), where, None)
            if any(one.state == where for one in found.passes):
                return Place(found.index, str(found.index), where, where)
        state_ = run.state(where)
        if state_ is None:
            return None
        gate = next((record.gate for record in run.gates if record.state == where), None)
        return Place(state_.stage, gate or str(state_.stage), where, where)

    def _find(self, address: Address) -> TargetText | None:
        if address.pane == "file":
            return self._file(address)
        if address.pane == "cell":
            gate, _, state = address.where.partition("@")
            record = self._opened.run.gate(gate, state)
            return None if record is None else _gate(self._opened.gate_view(gate, state))
        place = self.place(address.where)
        if place is None:
            return None
        match address.pane:
            case "gate":
                return self._gate(place, address)
            case "step" | "self":
                return self._step(place, address)
            case "diff":
                return self._diff(place, address)
        text = self._opened.spec(place.stage)
        return None if text is None else _lines(text.encode("utf-8", "surrogatepass"), address)

    # One kind of address each

    def _file(self, address: Address) -> TargetText | None:
        self._opened.ensure_states()
        data = self._opened.store.file(address.where, address.path)
        return None if data is None else _lines(data, address)

    def _gate(self, place: Place, address: Address) -> TargetText | None:
        if address.parts[:1] == ("log",):
            text = self._opened.text("/".join(address.parts[1:]))
            return _lines(text.encode("utf-8", "surrogatepass"), address)
        view = self._opened.gate_view(place.gate, place.state)
        if not address.parts:
            return _gate(view)
        for test in _tests(view):
            if address.parts in ((test.group.value, test.id), (test.group.value,)):
                if len(address.parts) == 1:
                    return _gate(view, test.group.value)
                return _test(test)
        return None

    def _step(self, place: Place, address: Address) -> TargetText | None:
        trajectory = self._opened.trajectory(place.stage, place.between)
        key = address.parts[0] if address.parts else None
        step = next((step for step in trajectory.steps if step.key == key), None)
        if step is None:
            return None
        parts = _parts_of(step)
        if len(address.parts) == 1:
            whole = json.dumps([[*name, text] for name, text in parts.items()])
            return TargetText(whole.encode("ascii"), "\n".join(parts.values()))
        text = parts.get(address.parts[1:])
        if text is None:
            return None
        if address.span is not None:
            start, end = address.span
            if not start < end <= len(text):
                return None
            text = text[start:end]
        return TargetText(text.encode("utf-8", "surrogatepass"), text)

    def _diff(self, place: Place, address: Address) -> TargetText | None:
        base, end = self._sides(place)
        if base is None or end is None:
            return None
        self._opened.ensure_states()
        if address.line is not None:
            data = self._opened.store.file(end, address.path)
            return None if data is None else _lines(data, address)
        return _patch(self._opened.store.patch(base, end, address.path), address.hunk)

    def _sides(self, place: Place) -> tuple[str | None, str | None]:
        """The states before and after what an address of a diff names."""
        if place.between is None and place.gate != "chain":
            stage = self._opened.run.stage(place.stage)
            return (stage.base, stage.end) if stage is not None else (None, None)
        ids = [state.id for state in self._opened.run.agent_states()]
        if place.state not in ids:
            return None, None
        at = ids.index(place.state)
        before = ids[0] if place.gate == "chain" and place.between is None else ids[max(at - 1, 0)]
        return before, place.state


def sha256_of(data: bytes) -> str:
    """The hash that pointers carry, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _parts_of(step: Step) -> dict[tuple[str, ...], str]:
    """Name of each part of a step → its text, in the order of the step."""
    found: dict[tuple[str, ...], str] = {}
    for name, text in (("text", step.text), ("thinking", step.thinking), ("record", step.raw)):
        if text:
            found[(name,)] = text
    for call in step.calls:
        found[call.key, "call"] = call.command or call.raw_arguments or _arguments(call.arguments)
        if call.result is not None:
            found[call.key, "result"] = call.result.text
    return found


def _arguments(arguments: object) -> str:
    return json.dumps(arguments, default=dict)


def _tests(view: GateView) -> Iterable[GateTest]:
    failing = (failing.test for failing in view.failing)
    return (*failing, *view.passing, *view.other_not_ok, *view.extra_ok)


def _test(test: GateTest) -> TargetText:
    said = [test.message, test.traceback, test.stdout, test.stderr]
    data = json.dumps([test.group.value, test.id, test.outcome.value, *said])
    head = f"{test.id}: {test.outcome.value}"
    quote = "\n".join((head, *(text for text in (test.traceback or test.message,) if text)))
    return TargetText(data.encode("ascii"), quote)


def _gate(view: GateView, group: str | None = None) -> TargetText:
    """A gate run, or one group of it, by the outcomes of its tests."""
    rows = sorted(
        (test.group.value, test.id, test.outcome.value)
        for test in _tests(view)
        if group in (None, test.group.value)
    )
    verdict = view.cell.judgement.verdict.value
    if not rows:
        quote = f"gate {view.cell.gate}: {verdict}: {view.cell.judgement.reason or ''}"
        return TargetText(json.dumps([verdict, view.cell.judgement.reason]).encode(), quote)
    not_ok = [failing.test for failing in view.failing]
    lines = [f"gate {view.cell.gate}: {verdict}", *(f"{t.id}: {t.outcome.value}" for t in not_ok)]
    return TargetText(json.dumps(rows).encode("ascii"), "\n".join(lines))


def _patch(patch: FilePatch, hunk: int | None) -> TargetText | None:
    if hunk is not None and not 0 < hunk <= len(patch.hunks):
        return None
    chosen = patch.hunks if hunk is None else patch.hunks[hunk - 1 : hunk]
    lines = [f"{line.kind.value}{line.text}" for one in chosen for line in one.lines]
    text = "\n".join(lines) if lines else patch.raw or ""
    return TargetText(text.encode("utf-8", "surrogateescape"), text)


def _lines(data: bytes, address: Address) -> TargetText | None:
    """The lines that an address names; all of them where it names none."""
    if address.line is not None:
        lines = data.split(b"\n")
        last = address.last_line or address.line
        # What follows the last line end is a line only where there is something.
        count = len(lines) - (lines[-1] == b"")
        if not address.line <= last <= count:
            return None
        data = b"\n".join(lines[address.line - 1 : last])
    return TargetText(data, data.decode("utf-8", "replace"))
