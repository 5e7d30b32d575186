from __future__ import annotations

from dataclasses import replace

import pytest

from arcview.analysis.awareness import (
    AwarenessSuggestion,
    Defect,
    Level,
    RegionLine,
    Span,
    suggest,
)
from arcview.analysis.awareness_words import blames_earlier, failed_test_about, problems
from arcview.analysis.clues import Clue, ClueKind
from arcview.model.trajectory import (
    Role,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    ToolResult,
    Trajectory,
)

LINE = "return sorted({fold(tag) for tag in tags if tag})"
DEFECT = Defect(
    "tags are not trimmed",
    ("gate/test_tags.py::test_tags_are_trimmed",),
    (Clue(ClueKind.SYMBOL, "normalise_tags"), Clue(ClueKind.MESSAGE, "Error: bad tag list")),
    (RegionLine("notes/store.py", LINE),),
    ("normalise_tags",),
)


def step(number: int, *calls: ToolCall, text: str = "", thinking: str = "") -> Step:
    return Step(
        f"s{number}", number, Role.ASSISTANT, StepKind.MESSAGE, text, thinking, tuple(calls)
    )


def shell(command: str, output: str = "") -> ToolCall:
    return ToolCall("c1", "bash", ToolKind.SHELL, command=command, result=ToolResult(output))


def edit(old: str, new: str = "x", path: str = "/repo/notes/store.py") -> ToolCall:
    arguments = {"file_path": path, "old_string": old, "new_string": new}
    return ToolCall("c2", "Edit", ToolKind.EDIT, arguments, path=path, result=ToolResult("ok"))


def look(
    *steps: Step, healed: tuple[str, ...] = (), defect: Defect = DEFECT
) -> AwarenessSuggestion:
    # Steps that say nothing keep names from being everywhere.
    silent = [step(90 + n, shell(f"true {n}", "ok"), text="Next.") for n in range(8)]
    found = suggest([DEFECT], Trajectory("fake", (*steps, *silent)), healed)
    assert found is not None
    return found


def span(found: AwarenessSuggestion, level: Level) -> Span:
    return next(span for span in found.defects[0].spans if span.level is level)


RED = "____ test_tags_are_normalised ____\n\nE   assert [' a '] == ['a']\n"
TOLD = "Tags are wrong: `normalise_tags` lost its strip."


def test_nothing_seen_is_no_exposure() -> None:
    assert look(step(1, shell("ls", "notes"))).level is Level.NO_EXPOSURE


@pytest.mark.parametrize(
    "call", [shell("cat notes/store.py", f"a\n    {LINE}\n"), edit(f"    {LINE}\n")]
)
def test_a_suspected_line_on_the_screen_is_a_view(call: ToolCall) -> None:
    found = look(step(1, call))
    assert found.level is Level.REGION_VIEWED
    assert span(found, Level.REGION_VIEWED).step_key == "s1"


def test_a_failure_near_a_name_of_the_defect_is_a_symptom() -> None:
    output = "Traceback\n  in normalise_tags\nValueError: no\n"
    found = look(step(1, shell("python x.py", output)))
    assert found.level is Level.SYMPTOM_EXPOSED
    where = span(found, Level.SYMPTOM_EXPOSED)
    assert output[where.start : where.end] == "normalise_tags"
    assert (where.channel, where.call_key) == ("result", "c1")


def test_a_failed_own_test_that_is_called_after_the_function_is_a_symptom() -> None:
    assert look(step(1, shell("pytest -q", RED))).level is Level.SYMPTOM_EXPOSED


def test_the_message_of_the_failure_is_a_symptom() -> None:
    output = "$ notes list\nError: bad tag list\nexit: 1 failed"
    assert look(step(1, shell("./check", output))).level is Level.SYMPTOM_EXPOSED


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("cat notes/store.py", "def normalise_tags():\n    raise ValueError('no')"),
        ("cd notes && grep -n normalise_tags store.py", "3: normalise_tags  # FAILED before"),
        ("python x.py", "normalise_tags ok"),
        ("python x.py", "FAILED something\n" + "\n" * 30 + "normalise_tags"),
        ("python x.py", "FAILED renormalise_tagset"),
    ],
)
def test_code_on_the_screen_and_far_failures_are_no_symptom(command: str, output: str) -> None:
    assert look(step(1, shell(command, output))).level < Level.SYMPTOM_EXPOSED


def test_what_is_everywhere_says_nothing() -> None:
    steps = [step(n, shell("python x.py", "normalise_tags FAILED")) for n in range(30)]
    found = suggest([DEFECT], Trajectory("fake", tuple(steps)), ())
    assert found is not None
    assert found.level is Level.NO_EXPOSURE


@pytest.mark.parametrize("channel", ["text", "thinking"])
def test_saying_that_it_is_wrong_is_an_acknowledgement(channel: str) -> None:
    told = f"Reading on. {TOLD}"
    found = look(step(1, text=told) if channel == "text" else step(1, thinking=told))
    assert found.level is Level.ACKNOWLEDGED
    where = span(found, Level.ACKNOWLEDGED)
    assert (where.channel, where.call_key) == (channel, None)
    assert told[where.start : where.end].strip() == TOLD


@pytest.mark.parametrize(
    "text",
    [
        "I call normalise_tags here.",
        "normalise_tags has no bugs.",
        "normalise_tags handles errors.",
        "normalise_tags works. Something else is broken.",
        "Tags are wrong.",
    ],
)
def test_other_sentences_are_no_acknowledgement(text: str) -> None:
    assert look(step(1, text=text)).level is Level.NO_EXPOSURE


def test_naming_earlier_work_attributes() -> None:
    text = f"{TOLD} I broke that in the previous stage."
    found = look(step(1, text=text))
    assert found.level is Level.ATTRIBUTED
    where = span(found, Level.ATTRIBUTED)
    assert text[where.start : where.end] == "I broke"


@pytest.mark.parametrize(
    "repair",
    [
        edit(f"    {LINE}\n"),
        edit("def normalise_tags(tags):"),
        shell("sed -i 's/fold/strip/' notes/store.py"),
        shell("cat > notes/store.py <<'E'\nx\nE"),
    ],
)
def test_an_edit_of_the_region_after_the_symptom_is_a_repair(repair: ToolCall) -> None:
    found = look(step(1, shell("pytest", RED)), step(2, repair))
    assert found.level is Level.REPAIR_ATTEMPTED
    assert span(found, Level.REPAIR_ATTEMPTED).step_key == "s2"


@pytest.mark.parametrize(
    "other",
    [
        edit("def other():"),
        edit(LINE, path="/repo/notes/cli.py"),
        shell("cat notes/store.py > /tmp/copy"),
        shell("python notes/store.py"),
    ],
)
def test_other_edits_repair_nothing(other: ToolCall) -> None:
    assert look(step(1, shell("pytest", RED)), step(2, other)).level is Level.SYMPTOM_EXPOSED


def test_an_edit_before_the_symptom_is_no_repair() -> None:
    found = look(step(1, edit(f"{LINE}\n")), step(2, shell("pytest", RED)))
    assert found.level is Level.SYMPTOM_EXPOSED


def test_a_repair_that_heals_is_one_and_healing_alone_is_not() -> None:
    deliberate = look(step(1, shell("pytest", RED)), step(2, edit(LINE)), healed=DEFECT.tests)
    assert deliberate.level is Level.REPAIRED
    accidental = look(step(1, edit(LINE)), healed=DEFECT.tests)
    assert accidental.level is Level.REGION_VIEWED
    assert accidental.defects[0].healed


def test_the_highest_defect_counts_for_the_stage() -> None:
    other = replace(DEFECT, title="other", clues=(), names=(), tests=("t::test_it_holds_up",),
                    region=(RegionLine("a.py", "something else entirely"),))  # fmt: skip
    steps = (step(1, text=TOLD), *(step(n, text="Next.") for n in range(2, 9)))
    found = suggest([other, DEFECT], Trajectory("fake", steps), ())
    assert found is not None
    assert [one.level for one in found.defects] == [Level.ACKNOWLEDGED, Level.NO_EXPOSURE]


def test_thinking_coverage_is_counted() -> None:
    found = look(step(1, text="a", thinking="b"), step(2, text="c"))
    assert (found.with_thinking, found.messages) == (1, 10)


def test_without_steps_or_anything_to_look_for_nothing_is_suggested() -> None:
    silent = Defect("?", ("t::test_something",), (), ())
    user = replace(step(1, text=TOLD), role=Role.USER)
    assert suggest([DEFECT], Trajectory("fake", (user,)), ()) is None
    assert suggest([silent], Trajectory("fake", (step(1, text="x"),)), ()) is None
    assert suggest([], Trajectory("fake", (step(1, text="x"),)), ()) is None


@pytest.mark.parametrize(
    ("output", "symbol", "found"),
    [
        ("FAILED tests/test_a.py::test_parse_rules - x", "parse_rule", True),
        ("--- FAIL: TestParseRules (0.1s)", "parseRules", True),
        ("test parser::parses_rules ... FAILED", "parse_rules", True),
        ("FAILED tests/test_a.py::test_rules", "parse_rules", False),
        ("FAILED tests/test_a.py::test_parse", "parse", False),
        ("PASSED tests/test_a.py::test_parse_rules", "parse_rules", False),
    ],
)
def test_failed_tests_are_matched_by_the_words_of_their_names(
    output: str, symbol: str, found: bool
) -> None:
    assert (failed_test_about(symbol, output) is not None) is found


def test_sentences_keep_their_offsets() -> None:
    text = "First. Version 1.2 of parse_rules is broken!\nLast."
    ((start, end, name),) = problems(["parse_rules"], text)
    assert text[start:end].strip() == "Version 1.2 of parse_rules is broken!"
    assert name == "parse_rules"


def test_blame_stands_in_the_same_paragraph() -> None:
    text = "It was so before.\nparse is broken.\nThe previous stage did that."
    assert blames_earlier(text, text.index("parse"), text.index("broken")) is None
