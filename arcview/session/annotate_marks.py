"""What `a` on a place of a run adds to a case: a test an effect, a line or step an origin.

Pure but for looking the place up: returns the paths and values to save.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from arcview.analysis.verdicts import judge
from arcview.annotations.cases import evidence_values
from arcview.model.annotation import Effect, Evidence, Origin, Reading
from arcview.model.results import Verdict
from arcview.session.address import Address, parse_address
from arcview.session.annotate_targets import Place, Targets

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun

_ONE_LINE = 200


class Role(StrEnum):
    """What a marked place is to a case."""

    EFFECT = "effect"
    ORIGIN = "origin"
    ORIGIN_END = "end of the origin"
    """The last of the steps that made the defect."""
    AWARENESS = "awareness"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a case that labels go to."""

    kind: str
    """`origins`, `effects` or `awareness`."""
    id: str
    """Of the origin or effect; the stage, for awareness."""


@dataclass(slots=True)
class Mark:
    """What a marked place adds."""

    values: dict[str, object] = field(default_factory=dict)
    part: Part | None = None
    """What it went to; null for evidence of the case as a whole."""
    said: str = ""
    """One line for people."""


def new_id() -> str:
    """An id of a part of a case, unlike that of any other."""
    return uuid.uuid4().hex[:8]


def default_role(address: Address, reading: Reading | None) -> Role:
    """What a place most likely is: a test an effect; code and steps the origin, once."""
    origin = reading.origins[0] if reading is not None and reading.origins else None
    match address.pane:
        case "gate" | "cell":
            return Role.EVIDENCE if address.parts[:1] == ("log",) else Role.EFFECT
        case "file" | "diff":
            return Role.ORIGIN if origin is None or origin.path is None else Role.EVIDENCE
        case "step":
            return Role.ORIGIN if origin is None or origin.step is None else Role.EVIDENCE
        case "self" | "spec":
            return Role.EVIDENCE


class Marker:
    """Turns places of one open run into what they add to a case."""

    def __init__(self, opened: OpenRun, targets: Targets) -> None:
        self._opened = opened
        self._targets = targets

    def mark(
        self, text: str, reading: Reading | None, role: Role | None = None, part: Part | None = None
    ) -> Mark:
        """What marking a place adds.

        Args:
            text: Its address.
            reading: The case as it stands for this person; null for a new one.
            role: What the place is to the case; see `default_role`.
            part: The origin or effect in hand, which evidence goes to.

        Raises:
            BadInputError: it is no address.
        """
        address = parse_address(text)
        role = role or default_role(address, reading)
        place = self._targets.place(address.where.rpartition("@")[2] or address.where)
        mark = Mark(part=part)
        match role:
            case Role.EFFECT:
                self._effect(mark, address, place, reading)
            case Role.ORIGIN:
                self._origin(mark, address, place, reading, part)
            case Role.ORIGIN_END:
                self._origin_end(mark, address, place, reading, part)
            case Role.AWARENESS if place is not None:
                self._awareness(mark, address, place)
            case _:
                mark.said = "noted as evidence"
        self._evidence(mark, text, address, reading)
        return mark

    def failing_gate(self, text: str) -> str | None:
        """The address of the failing gate that a place belongs to: its own, or the next one.

        Null where no gate from there on failed.
        """
        address = parse_address(text)
        run = self._opened.run
        place = self._targets.place(address.where.rpartition("@")[2] or address.where)
        if place is None:
            return None
        own = run.gate(place.gate, place.state)
        if judge(own, self._opened.policy).verdict is Verdict.FAILED:
            return str(Address("gate", place.between or place.gate))
        for row in self._opened.overview.stages:
            if row.index >= place.stage and row.judgement.verdict is Verdict.FAILED:
                return str(Address("gate", str(row.index)))
        chain = self._opened.overview.chain_gate
        failed = chain is not None and chain.judgement.verdict is Verdict.FAILED
        return str(Address("gate", "chain")) if failed else None

    # One role each

    def _effect(
        self, mark: Mark, address: Address, place: Place | None, reading: Reading | None
    ) -> None:
        gate = address.where.partition("@")[0] if address.pane == "cell" else address.where
        known = next((e for e in reading.effects if e.gate == gate), None) if reading else None
        effect = known or Effect(new_id())
        where = f"effects/{effect.id}"
        mark.part = Part("effects", effect.id)
        mark.said = f"an effect on gate {gate}"
        if known is None:
            mark.values[f"{where}/gate"] = gate
            mark.values |= self._verdicts(where, place)
        if len(address.parts) == 2:
            group, test = address.parts
            mark.values[f"{where}/tests"] = [*dict.fromkeys((*effect.tests, test))]
            same = known is None or effect.group == group
            mark.values[f"{where}/group"] = group if same else None

    def _verdicts(self, where: str, place: Place | None) -> dict[str, object]:
        if place is None:
            return {}
        rows = self._opened.overview.stages
        before = next((row for row in rows if row.index == place.stage - 1), None)
        record = self._opened.run.gate(place.gate, place.state)
        return {
            f"{where}/stage": place.stage,
            f"{where}/verdict_before": before.judgement.verdict.value if before else None,
            f"{where}/verdict_after": judge(record, self._opened.policy).verdict.value,
        }

    def _origin(
        self,
        mark: Mark,
        address: Address,
        place: Place | None,
        reading: Reading | None,
        part: Part | None,
    ) -> None:
        origin = _origin_in_hand(reading, part)
        where = f"origins/{origin.id}"
        mark.part = Part("origins", origin.id)
        mark.said = "the origin"
        if address.pane in ("file", "diff"):
            mark.values[f"{where}/path"] = address.path
            # A line of a state may be older than the state: its stage is not known from here.
            state = address.where if address.pane == "file" else place.state if place else None
            mark.values[f"{where}/state"] = state
            if address.line is not None:
                last = address.last_line or address.line
                mark.values[f"{where}/lines"] = [address.line, last]
            if address.pane == "diff" and place is not None:
                mark.values[f"{where}/stage"] = place.stage
        elif address.pane in ("step", "self") and place is not None and address.parts:
            mark.values[f"{where}/stage"] = place.stage
            mark.values[f"{where}/step"] = address.parts[0]
            mark.values[f"{where}/step_number"] = self._number(place, address.parts[0])
        elif address.pane == "spec":
            found = self._targets.find(str(address))
            mark.values[f"{where}/contract_item"] = _one_line(found.quote) if found else None

    def _origin_end(
        self,
        mark: Mark,
        address: Address,
        place: Place | None,
        reading: Reading | None,
        part: Part | None,
    ) -> None:
        origin = _origin_in_hand(reading, part)
        mark.part = Part("origins", origin.id)
        mark.said = "the last step of the origin"
        if address.parts:
            where = f"origins/{origin.id}"
            mark.values[f"{where}/last_step"] = address.parts[0]
            # A number counts within one stage.
            same = place is not None and place.stage == origin.stage
            number = self._number(place, address.parts[0]) if place is not None and same else None
            mark.values[f"{where}/last_step_number"] = number

    def _awareness(self, mark: Mark, address: Address, place: Place) -> None:
        mark.part = Part("awareness", str(place.stage))
        mark.said = f"the awareness in stage {place.stage}"
        if address.parts:
            mark.values[f"awareness/{place.stage}/step"] = address.parts[0]

    def _evidence(self, mark: Mark, text: str, address: Address, reading: Reading | None) -> None:
        supports = mark.part.id if mark.part is not None else None
        for known in reading.evidence if reading is not None else ():
            if (known.pointer.address, known.supports) == (str(address), supports):
                return
        pointer = self._targets.pointer(str(address))
        mark.values |= evidence_values(Evidence(new_id(), pointer, "", supports))

    def _number(self, place: Place, key: str) -> int | None:
        steps = self._opened.trajectory(place.stage, place.between).steps
        return next((step.number for step in steps if step.key == key), None)


def _origin_in_hand(reading: Reading | None, part: Part | None) -> Origin:
    """The origin that labels go to: the one in hand, else the first, else a new one."""
    if reading is not None and reading.origins:
        wanted = part.id if part is not None and part.kind == "origins" else None
        return reading.origin(wanted) or reading.origins[0]
    return Origin(part.id if part is not None and part.kind == "origins" else new_id())


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_ONE_LINE]
