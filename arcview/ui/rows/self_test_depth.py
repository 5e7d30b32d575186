"""What the agent's own tests were worth, as rows below them: claims, late edits, hidden failures.

Pure. Imported only once that is known, well after the first frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from arcview.model.results import GateTest
from arcview.session.self_test_depth import SelfTestDepth
from arcview.ui import theme
from arcview.ui.rows.self_tests import SelfTestRow, SelfTestRowKind
from arcview.ui.safe import one_line

_ANSWER_STYLE = {"likely": theme.MUTED, "unlikely": theme.WARN, "unknown": theme.UNMEASURED}
_ORDER = ("unlikely", "unknown", "likely")


def depth_rows(
    depth: SelfTestDepth, failing: Sequence[GateTest], *, has_tests: bool
) -> Iterator[SelfTestRow]:
    """The rows, most telling first.

    Args:
        depth: What is known.
        failing: The gate's failing tests, in the order of `depth.exercised`.
        has_tests: Whether the agent ran a test at all.
    """
    yield from _claim(depth)
    yield from _late_edits(depth)
    if depth.revisits_earlier is not None and has_tests:
        said = "touch" if depth.revisits_earlier else "do not touch"
        style = theme.MUTED if depth.revisits_earlier else theme.WARN
        yield _fact(f"Its tests {said} what an earlier stage made.", style, "earlier")
    yield from _exercised(depth, failing)


def earlier_note(stages: tuple[int, ...] | None) -> str:
    """`runs tests of stage 1`; empty where it ran none of an earlier stage, or that is unknown."""
    if not stages:
        return ""
    named = ", ".join(str(stage) if stage else "the start" for stage in stages)
    return f"also runs tests of stage {named}" if 0 not in stages else f"also runs tests of {named}"


def _fact(text: str, style: str, key: str, step: str | None = None) -> SelfTestRow:
    return SelfTestRow(SelfTestRowKind.FACT, text, style, key, step=step)


def _numbered(step: int | None) -> str:
    return f"#{step}" if step is not None else "a step"


def _claim(depth: SelfTestDepth) -> Iterator[SelfTestRow]:
    if depth.claim is None:
        return
    at, said = _numbered(depth.claim_step), f"“{one_line(depth.claim.text.strip())}”"
    if depth.claim_gap:
        text, style = f"Claim gap {at}, gate failed: {said}", theme.FAIL
    elif depth.claim_gap is None:
        text, style = f"Claimed {at}, gate not measured: {said}", theme.MUTED
    else:
        text, style = f"Claimed {at}: {said}", theme.MUTED
    yield _fact(text, style, "claim", depth.claim_key)


def _late_edits(depth: SelfTestDepth) -> Iterator[SelfTestRow]:
    late = depth.edits_after_green
    if late is None:
        return
    green = _numbered(depth.last_green_step)
    basis = "" if depth.edits_basis == "recorded" else ", as far as edit calls show"
    if not late:
        text = f"Nothing was changed after the last green run {green}{basis}."
        yield _fact(text, theme.MUTED, "late-none", depth.last_green_key)
        return
    title = f"Changed after the last green run {green}{basis}  {len(late)}"
    yield SelfTestRow(SelfTestRowKind.SECTION, title, theme.WARN, "late")
    for number, edit in enumerate(late):
        path = one_line(edit.path)
        yield SelfTestRow(
            SelfTestRowKind.NOTE,
            f"  {_numbered(edit.step):<6}{path}",
            "",
            f"late-{number}",
            step=edit.step_key,
            section="late",
            path=path,
        )


def _exercised(depth: SelfTestDepth, failing: Sequence[GateTest]) -> Iterator[SelfTestRow]:
    if not depth.exercised or len(depth.exercised) != len(failing):
        return
    counts: Counter[str] = Counter(found.answer for found in depth.exercised)
    said = ", ".join(f"{counts[answer]} {answer}" for answer in _ORDER if counts[answer])
    title = f"Gate failures self-tested?  {said}"
    yield SelfTestRow(SelfTestRowKind.SECTION, title, theme.HEADING, "exercised")
    pairs = sorted(
        zip(failing, depth.exercised, strict=True), key=lambda pair: _ORDER.index(pair[1].answer)
    )
    for test, found in pairs:
        key = f"exercised {test.group} {test.id}"
        yield SelfTestRow(
            SelfTestRowKind.EXERCISED,
            found.answer,
            _ANSWER_STYLE[found.answer],
            key,
            gate_test=test,
            section="exercised",
        )
        reason = f"           {one_line(found.reason)}"
        yield SelfTestRow(
            SelfTestRowKind.NOTE,
            reason,
            theme.MUTED,
            f"{key} why",
            step=found.step_key,
            section="exercised",
        )
