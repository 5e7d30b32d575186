"""All that is recorded of one test of a gate: message, traceback and output, untruncated. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from arcview.analysis.comparison import Comparison, Sides, split_actual_expected
from arcview.analysis.frames import Frame, parse_frames
from arcview.analysis.history import History
from arcview.model.results import GateTest
from arcview.ui import theme
from arcview.ui.rows.figures import duration, plural
from arcview.ui.rows.gate import GROUP_NAME, HISTORY_WORD
from arcview.ui.rows.sections import Section

_SHORT_MESSAGE_LINES = 12


def failure_sections(
    test: GateTest, history: History | None, trail: Sequence[Section] = ()
) -> tuple[Section, ...]:
    """The sections of the screen that a test opens to.

    Args:
        test: The test.
        history: What earlier gates say of it; null where it is ok.
        trail: Sections that say where the failure comes from; they stand before the texts.
    """
    sections = [Section("", f"{_facts(test, history)}\n", style=theme.MUTED)]
    comparison = split_actual_expected(test)
    if comparison is not None:
        sections.append(Section("Actual and expected", _both_sides(comparison)))
    named = (
        ("Message", test.message),
        ("Traceback", test.traceback),
        ("Captured stdout", test.stdout),
        ("Captured stderr", test.stderr),
    )
    texts = [
        Section(f"{title}  {_lines(text)}", text, _links(text)) for title, text in named if text
    ]
    if not texts:
        texts = [Section("", "Neither message nor output is recorded of this test.")]
    # What the evaluator says comes first, as long as it leaves room for what leads on.
    first = 1 if texts[0].text.count("\n") < _SHORT_MESSAGE_LINES else 0
    return (*sections, *texts[:first], *trail, *texts[first:])


def _facts(test: GateTest, history: History | None) -> str:
    facts = [test.id, f"{GROUP_NAME[test.group]} · {test.outcome.value}"]
    if history is not None:
        facts[1] += f" · {HISTORY_WORD[history]}"
    if test.reported:
        facts[1] += f" · reported as {test.reported}"
    if test.copies > 1:
        facts[1] += f" · named {test.copies} times in the report; the worst counts"
    if test.duration_s is not None:
        facts[1] += f" · {duration(test.duration_s)}"
    if test.conflict:
        facts.append(f"in doubt: {test.conflict}")
    if test.evidence:
        facts.append(f"read from the log: {test.evidence}")
    return "\n".join(facts)


_HOW_SIDES_ARE_KNOWN = {
    Sides.LABELLED: "",
    Sides.POSITION: "which side is which: by their position, actual first as is the custom",
    Sides.NAMES: "which side is which: by the words of the assertion",
    Sides.ARGUMENTS: "from arguments of the failing frame; the report may have shortened them",
}


def _both_sides(comparison: Comparison) -> str:
    lines = [f"expected  {comparison.demand}", f"actual    {comparison.actual}"]
    lines += [f"where     {where}" for where in comparison.where]
    if _HOW_SIDES_ARE_KNOWN[comparison.sides]:
        lines.append(f"({_HOW_SIDES_ARE_KNOWN[comparison.sides]})")
    if comparison.shortened:
        lines.append("(the report cut a side short)")
    return "\n".join(lines) + "\n"


def _links(text: str) -> dict[int, Frame]:
    """The frames that lines of a text name."""
    found = ((number, parse_frames(line)) for number, line in enumerate(text.split("\n"), 1))
    return {number: frames[0] for number, frames in found if frames}


def _lines(text: str) -> str:
    return plural(text.rstrip("\n").count("\n") + 1, "line")
