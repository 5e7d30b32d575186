"""What is said of a rerun as a whole: what would run, and each result beside the recorded one.

Pure; the rows of single tests are in `rows.rerun`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from arcview.gates.definition import GateDefinition
from arcview.gates.results import Comparison, RerunResult
from arcview.model.results import GroupCounts, Verdict
from arcview.session.rerun_view import RerunView, short_digest
from arcview.session.reruns_model import LeftBehind, RerunPlan
from arcview.ui import theme
from arcview.ui.rows.figures import VERDICT_GLYPH, VERDICT_STYLE, duration, fraction, plural
from arcview.ui.safe import one_line


class Said(NamedTuple):
    """One line: a label, and what is said; `right` is the rerun's side of a comparison."""

    label: str
    text: str
    style: str = ""
    right: str | None = None
    right_style: str = ""


REPRODUCED = "= reproduces the recorded verdict"
SAME_VERDICT = "≈ the recorded verdict, but not test for test"
NOT_REPRODUCED = "≠ does not reproduce the recorded verdict"
NOT_RECORDED = "not recorded"


def headline(result: RerunResult, comparison: Comparison | None) -> tuple[str, str]:
    """The one line that says what a rerun means beside the record."""
    if not result.is_measured:
        return f"? not measured: {one_line(result.reason or 'nobody knows why')}", theme.UNMEASURED
    if comparison is None or comparison.recorded_verdict is None:
        return "no result of this gate on this state is recorded", theme.MUTED
    if comparison.reproduces is None:
        return "the recorded result is unmeasured: nothing to reproduce", theme.UNMEASURED
    if comparison.reproduces:
        return REPRODUCED, theme.PASS
    return (
        (SAME_VERDICT, theme.WARN) if comparison.has_same_verdict else (NOT_REPRODUCED, theme.FAIL)
    )


def verdict_words(verdict: Verdict) -> str:
    """`✗ failed`, `? unmeasured`."""
    return f"{VERDICT_GLYPH[verdict]} {verdict.value}"


def side_by_side(view: RerunView, result: RerunResult) -> Iterator[Said]:
    """The recorded result and a rerun, fact by fact."""
    cell = view.recorded
    was = cell.judgement.verdict if cell is not None else None
    yield Said(
        "verdict",
        verdict_words(was) if was is not None else NOT_RECORDED,
        VERDICT_STYLE[was] if was is not None else theme.MUTED,
        verdict_words(result.verdict),
        VERDICT_STYLE[result.verdict],
    )
    reasons = (cell.judgement.reason if cell is not None else None, result.reason)
    if any(reasons):
        yield Said("reason", *_or_dash(reasons[0]), *_or_dash(reasons[1]))
    groups: tuple[tuple[str, GroupCounts | None, GroupCounts | None], ...] = (
        ("F2P", cell.f2p if cell else None, result.f2p),
        ("P2P", cell.p2p if cell else None, result.p2p),
        ("tests", cell.other if cell else None, result.other),
    )
    for name, old, new in groups:
        if old is not None or new is not None:
            now = None if result.is_silent else fraction(new)
            yield Said(name, *_or_dash(fraction(old)), *_or_dash(now))
    yield Said(
        "exit code", *_or_dash(_codes(view.recorded_codes)), *_or_dash(_codes(result.exit_codes))
    )
    took = duration(result.duration_s) + f"  +{duration(result.overhead_s)} around it"
    yield Said("took", *_or_dash(duration(cell.duration_s if cell else None)), took, "")
    engine = f"{result.engine.name} {result.engine.version}".strip()
    if result.graded_on_host:
        engine = "this machine: not in statistics"
    yield Said("with", *_or_dash(None), *_or_dash(engine))
    if not result.graded_on_host:
        image = f"{result.image_ref or ''} {short_digest(result.image_digest)}".strip()
        named = recorded_image(view.plan.definition) if view.plan is not None else None
        yield Said("image", *_or_dash(named), *_or_dash(image))


def recorded_image(definition: GateDefinition) -> str | None:
    """The image that the run names; null where it names none."""
    digest = short_digest(definition.image_digest) if definition.image_digest else ""
    return f"{definition.image_ref or ''} {digest}".strip() or None


def _codes(codes: tuple[int | None, ...]) -> str:
    return " ".join("none" if code is None else str(code) for code in codes)


def _or_dash(text: str | None) -> tuple[str, str]:
    return (one_line(text), "") if text else ("–", theme.MUTED)


def left_behind(found: LeftBehind) -> str | None:
    """`removed 2 containers that a killed arcview left behind`; null where there was nothing."""
    thing = ("working copy", "working copies") if found.on_host else ("container", None)
    said = [
        plural(count, *words)
        for count, words in (
            (found.containers, thing),
            (found.attempts, ("unfinished attempt", None)),
        )
        if count
    ]
    return f"removed {' and '.join(said)} that a killed arcview left behind" if said else None


# What would run


def plan_facts(plan: RerunPlan) -> Iterator[Said]:
    """What a rerun would do, in the order in which one wants to know it."""
    definition = plan.definition
    yield Said("image", _image(plan), "")
    for number, line in enumerate(plan.command.split("\n")):
        yield Said("" if number else "command", line, "bold")
    where = f"{definition.workdir}, as {definition.user or 'the user of the image'}"
    if _is_on_host(plan):
        where = "a temporary copy on this machine, as you"
    hidden = plural(len(definition.overlay), "hidden test file")
    yield Said("in", f"{where}, {plan.target.label} with {hidden} over it")
    yield from _limits(plan)
    recorded = duration(plan.recorded_duration_s)
    yield Said("recorded", f"took {recorded}" if recorded else "no duration is recorded")
    if plan.engine is not None:
        engine = plan.engine
        yield Said("engine", f"{engine.name} {engine.version} at {engine.endpoint}")
        for note in engine.notes:
            yield Said("", note, theme.MUTED)


def _is_on_host(plan: RerunPlan) -> bool:
    return plan.engine is not None and plan.engine.kind == "host"


def _image(plan: RerunPlan) -> str:
    recorded = recorded_image(plan.definition) or "none is recorded"
    if _is_on_host(plan):
        return f"none is used; recorded: {recorded}"
    if plan.image is not None:
        notes = "".join(f"; {note}" for note in plan.image.notes)
        return f"{plan.image.ref}  {short_digest(plan.image.digest)}{notes}"
    return recorded if plan.unavailable is not None else f"{recorded}, fetched first"


def _limits(plan: RerunPlan) -> Iterator[Said]:
    limits = plan.definition.limits
    if _is_on_host(plan):
        yield Said("limits", f"{duration(plan.definition.timeout_s)} time; no other", theme.WARN)
        return
    asked = (
        f"{limits.cpus:g} cpus",
        f"{limits.memory_mb:,} MB of memory",
        f"{limits.pids:,} processes",
        f"{duration(plan.definition.timeout_s)} time",
        f"{limits.output_bytes >> 20:,} MB of output",
    )
    yield Said("limits", f"no network, {', '.join(asked)}")
    ignored = plan.engine.limits_ignored if plan.engine is not None else ()
    if ignored:
        yield Said("", f"▲ this engine does not enforce: {', '.join(ignored)}", theme.WARN)
