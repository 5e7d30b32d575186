"""What a failing test leads to, and what self-tests were worth, as plain text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from arcview.session.evidence import Evidence, Place, Seen
from arcview.session.plain_text_parts import Glyphs, clipped, one_line, ranges
from arcview.session.self_test_depth import SelfTestDepth
from arcview.session.stage_trace import StageTrace

_PLACES = 3
_STEPS = 8


def evidence_lines(evidence: Evidence, glyphs: Glyphs) -> Iterator[str]:
    """The lines below a failing test: where it leads, when it began, who had seen it."""
    for place in evidence.places[:_PLACES]:
        yield f"        -> {_place(place, glyphs)}"
    more = len(evidence.places) - _PLACES
    if more > 0:
        yield f"           {glyphs.more} {more} more; --json has them"
    if evidence.suspect_change:
        files = ", ".join(one_line(path) for path in evidence.suspect_change[:_PLACES])
        began = f" with {one_line(evidence.began)}" if evidence.began else ""
        steps = ", ".join(
            f"{_step(share.step)} wrote {share.lines} lines"
            for share in evidence.suspect_steps[:_PLACES]
        )
        yield f"        began{began}: {files}" + (f" ({steps})" if steps else "")
    if evidence.symptoms:
        steps = "; ".join(_seen_in(evidence.symptoms[:_STEPS]))
        first = clipped(one_line(evidence.symptoms[0].text), glyphs, 100)
        yield f"        the agent had it on its screen: {steps}: {first}"
    if evidence.nothing is not None:
        yield f"        {one_line(evidence.nothing)}"


def _place(place: Place, glyphs: Glyphs) -> str:
    where = f"{one_line(place.path)}:{place.line}"
    if place.function:
        where += f" in {one_line(place.function)}"
    source = ""
    if place.stage == 0:
        source = f" {glyphs.dot} stood there at the start"
    elif place.stage is not None:
        is_pass = place.state is not None and "." in place.state
        writer = f"the pass to {one_line(place.state or '')}" if is_pass else f"stage {place.stage}"
        step = f" {_step(place.step)}" if place.step is not None else ""
        certainty = f" ({place.certainty})" if place.basis == "traceback" else ""
        source = f" {glyphs.dot} written by {writer}{step}{certainty}"
    reason = f" {glyphs.dot} candidate: {one_line(place.reason)}" if place.reason else ""
    return f"{where}{source}{reason}"


def _seen_in(symptoms: Sequence[Seen]) -> Iterator[str]:
    """`stage 3 #47, #48`, `the pass to S2.refactor #7`."""
    for (stage, state), seen in groupby(symptoms, lambda each: (each.stage, each.state)):
        who = f"stage {stage}" if state is None else f"the pass to {one_line(state)}"
        yield f"{who} {', '.join(_step(each.step) for each in seen)}"


def _step(number: int | None) -> str:
    return f"#{number}" if number is not None else "a step without a number"


def depth_lines(depth: SelfTestDepth, glyphs: Glyphs) -> Iterator[str]:
    """The lines below the self-tests of a stage."""
    if depth.last_green_key is not None:
        yield f"  last green run: {_step(depth.last_green_step)}{_late(depth)}"
    if depth.earlier_stages and depth.revisits_earlier is not None:
        stages = sorted({stage for found in depth.earlier_stages for stage in found or ()})
        ran = ranges([*map(str, stages)], glyphs) or "none"
        yield f"  earlier stages whose tests were run again: {ran}"
    if depth.claim is not None:
        gate = "while the gate failed" if depth.claim_gap else "and the gate passed"
        if depth.claim_gap is None:
            gate = "and the gate is unmeasured"
        text = clipped(one_line(depth.claim.text), glyphs)
        yield f'  closing claim {_step(depth.claim_step)}: "{text}" {gate}'
    unlikely = sum(exercise.answer == "unlikely" for exercise in depth.exercised)
    if unlikely:
        failing = f"{unlikely} of {len(depth.exercised)} failing gate tests"
        yield f"  {failing}: hardly exercised by a self-test (a guess from names)"


def trace_lines(trace: StageTrace | None) -> Iterator[str]:
    """How much of a stage's change is traced to its steps."""
    if trace is None or not trace.lines:
        return
    share = f"{trace.exact} of {trace.lines} changed lines of code are traced to their step"
    if trace.recorded:
        yield f"  {share} (the run recorded each step)"
        return
    likely = f", {trace.candidate} more are likely" if trace.candidate else ""
    files = f"{trace.equal} of {trace.files} files"
    yield f"  {share}{likely}; the replayed edits give {files} as they are"


def _late(depth: SelfTestDepth) -> str:
    late = depth.edits_after_green
    if late is None:
        return ""
    seen = "" if depth.edits_basis == "recorded" else "visibly "
    if not late:
        return f"; no code was {seen}changed after it"
    edits = ", ".join(f"{one_line(edit.path)} ({_step(edit.step)})" for edit in late[:_STEPS])
    more = f" and {len(late) - _STEPS} more" if len(late) > _STEPS else ""
    return f"; {seen}changed after it: {edits}{more}"
