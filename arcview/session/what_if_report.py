"""What-if answers as plain text. Pure; what comes from a run passes `arcview.text.clean`."""

from __future__ import annotations

from collections.abc import Iterator

from arcview.analysis.what_if import Transplant, WhatIfLabel
from arcview.model.results import Verdict
from arcview.session.plain_text_parts import Glyphs, clipped, one_line
from arcview.session.what_if_answer import ArmResult, WhatIf

_MOST_NAMED = 10
_MOST_DOUBTS = 3

MEANINGS = {
    WhatIfLabel.BASE: "inherited, from the state that the stage began with",
    WhatIfLabel.CHANGE: "local, the stage's own",
    WhatIfLabel.INTERACTION: "the stage's change and its base together, neither alone",
    WhatIfLabel.BOTH: "the base and the stage's change, each by itself",
    WhatIfLabel.UNDETERMINED: "cannot be told",
}


def what_if_lines(answer: WhatIf, glyphs: Glyphs) -> Iterator[str]:
    """The answer, the two experiments it rests on, and how their trees were made."""
    yield f"gate {answer.gate}: {answer.label.value} ({MEANINGS[answer.label]})"
    yield f"  {clipped(one_line(answer.reason), glyphs)}"
    base, end = answer.base or "?", answer.end or "?"
    change, reference = f"{base}..{end}", f"{answer.reference_base}..{answer.reference}"
    yield from _arm(f"recorded  {end}", answer.recorded, None, glyphs)
    yield from _arm(
        f"X  {answer.reference_base} with the change {change}", answer.x, answer.x_made, glyphs
    )
    yield from _arm(f"Y  {base} with the change {reference}", answer.y, answer.y_made, glyphs)
    if answer.control is not None:
        yield f"  control: {clipped(one_line(answer.control), glyphs)}"
    if answer.label is not WhatIfLabel.UNDETERMINED:
        yield f"  evidence: {evidence_words(answer)}"
    tests = list(answer.tests.items())
    for test, label in tests[:_MOST_NAMED]:
        yield f"  {label.value:<12} {clipped(one_line(test), glyphs)}"
    if len(tests) > _MOST_NAMED:
        yield f"  {glyphs.more} and {len(tests) - _MOST_NAMED} more"


def evidence_words(answer: WhatIf) -> str:
    """How much the answer is worth as evidence."""
    if answer.graded_on_host:
        return "run without containers: not counted anywhere"
    if answer.is_steady:
        return f"grade A: executed, and the same in {answer.times} of {answer.times} runs each"
    return "executed once; run it more often (--times 3) to see that it is steady"


def _arm(
    title: str, arm: ArmResult | None, made: Transplant | None, glyphs: Glyphs
) -> Iterator[str]:
    if arm is None:
        result = "not run"
    elif arm.verdict is None:
        passed = sum(verdict is Verdict.PASSED for verdict in arm.verdicts)
        result = f"passed {passed} of {len(arm.verdicts)}"
    else:
        failing = arm.failing[0] if arm.failing else ()
        count = f", {len(failing)} failing" if failing else ""
        result = f"{glyphs.verdict(arm.verdict)} {arm.verdict.value}{count}"
    yield f"  {one_line(title)}: {result}"
    if made is None:
        return
    if made.mode == "blocks":
        files = _names(made.conflicts, glyphs) or "what it needs besides"
        yield f"       merged by blocks: {files}"
    if made.copied:
        yield f"       copied along: {_names(made.copied, glyphs)}"
    yield from _doubts("lacks", made.doubts, glyphs)
    yield from _doubts("lacks, should it not build", made.build_doubts, glyphs)


def _doubts(title: str, doubts: tuple[str, ...], glyphs: Glyphs) -> Iterator[str]:
    for doubt in doubts[:_MOST_DOUBTS]:
        yield f"       {title}: {clipped(one_line(doubt), glyphs)}"
    if len(doubts) > _MOST_DOUBTS:
        yield f"       {glyphs.more} and {len(doubts) - _MOST_DOUBTS} more"


def _names(names: tuple[str, ...], glyphs: Glyphs) -> str:
    return clipped(one_line(", ".join(names)), glyphs)
