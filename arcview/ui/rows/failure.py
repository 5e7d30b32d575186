"""All that is recorded of one test of a gate: message, traceback and output, untruncated. Pure."""

from __future__ import annotations

from arcview.analysis.comparison import Comparison, Sides, split_actual_expected
from arcview.analysis.frames import Frame, parse_frames
from arcview.analysis.history import History
from arcview.model.results import GateTest
from arcview.ui import theme
from arcview.ui.rows.figures import duration, plural
from arcview.ui.rows.gate import GROUP_NAME, HISTORY_WORD
from arcview.ui.rows.sections import Section


def failure_sections(test: GateTest, history: History | None) -> tuple[Section, ...]:
    """The sections of the screen that a test opens to; frames of the traceback are links."""
    sections = [Section("", f"{_facts(test, history)}\n", style=theme.MUTED)]
    comparison = split_actual_expected(test)
    if comparison is not None:
        sections.append(Section("Actual and expected", _both_sides(comparison)))
    for title, text in (
        ("Message", test.message),
        ("Traceback", test.traceback),
        ("Captured stdout", test.stdout),
        ("Captured stderr", test.stderr),
    ):
        if text:
            sections.append(Section(f"{title}  {_lines(text)}", text, _links(text)))
    if len(sections) == 1:
        sections.append(Section("", "Neither message nor output is recorded of this test."))
    return tuple(sections)


def frame_in(text: str, line: int) -> Frame | None:
    """The frame that a 1-based line of a text names."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return None
    return next(iter(parse_frames(lines[line - 1])), None)


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
    return "\n".join(facts)


_HOW_SIDES_ARE_KNOWN = {
    Sides.LABELLED: "",
    Sides.POSITION: "which side is which: by their position, actual first as is the custom",
    Sides.NAMES: "which side is which: by the words of the assertion",
    Sides.ARGUMENTS: "from arguments of the failing frame; the report may have shortened them",
}


def _both_sides(comparison: Comparison) -> str:
    lines = [f"expected  {comparison.expected}", f"actual    {comparison.actual}"]
    if comparison.operator != "==":
        lines.append(f"demanded  actual {comparison.operator} expected")
    lines += [f"where     {where}" for where in comparison.where]
    if _HOW_SIDES_ARE_KNOWN[comparison.sides]:
        lines.append(f"({_HOW_SIDES_ARE_KNOWN[comparison.sides]})")
    if comparison.shortened:
        lines.append("(the report cut a side short)")
    return "\n".join(lines) + "\n"


def _links(text: str) -> frozenset[int]:
    lines = enumerate(text.split("\n"), 1)
    return frozenset(number for number, line in lines if parse_frames(line))


def _lines(text: str) -> str:
    return plural(text.rstrip("\n").count("\n") + 1, "line")
