from __future__ import annotations

import pytest

from arcview.analysis.candidates import find_candidates
from arcview.analysis.clues import Clue, ClueKind, clues_of
from arcview.analysis.code_index import MAX_HITS, CodeIndex
from arcview.model.results import GateTest, Group, Outcome

BLACK_BOX = GateTest(
    "t::check",
    Group.P2P,
    Outcome.FAILED,
    message=(
        "assert 3 == 2\n +  where 3 = CompletedProcess(args=['uv', 'run', 'main.py', 'check', "
        '\'/tmp/x/a.circ\', \'--json\'], returncode=3, stdout=\'{"ok":false,"error":{"type":'
        '"UndefinedNameError","message":"Undefined signal: X"}}\\n\', '
        "stderr='').returncode"
    ),
    traceback=(
        "    def test_check():\n>       assert result.exit_code == 2\nE       assert 3 == 2\n"
        "\ntests/test_a.py:9: AssertionError"
    ),
)
CODE = """\
class UndefinedNameError(Exception):
    pass

def resolve(name):
    raise UndefinedNameError(f"Undefined signal: {name}")

def other():
    print("nothing to see")
"""


def texts(kind: ClueKind) -> set[str]:
    return {clue.text for clue in clues_of(BLACK_BOX) if clue.kind is kind}


def test_the_program_s_own_words_are_the_clues() -> None:
    assert "Undefined signal: X" in texts(ClueKind.MESSAGE)
    assert texts(ClueKind.ERROR_TYPE) == {"UndefinedNameError"}
    assert texts(ClueKind.COMMAND) == {"check", "--json"}


def test_the_test_s_own_source_gives_no_clue() -> None:
    assert not any("test_check" in clue.text for clue in clues_of(BLACK_BOX))


def test_a_bare_assertion_has_no_clue() -> None:
    bare = GateTest("t", Group.F2P, Outcome.FAILED, message="AssertionError")

    assert clues_of(bare) == ()


def test_a_message_is_found_through_the_skeleton_of_an_f_string() -> None:
    found = find_candidates(
        clues_of(BLACK_BOX), CodeIndex({"main.py": CODE}), {}, prefer_change=False
    )

    assert (found[0].path, found[0].line) == ("main.py", 5)
    assert found[0].speaks
    assert "prints the message" in found[0].reason


def test_for_a_new_failure_the_stage_s_own_lines_rank_first() -> None:
    clues = (Clue(ClueKind.ERROR_TYPE, "UndefinedNameError"),)

    found = find_candidates(
        clues, CodeIndex({"main.py": CODE}), {"main.py": frozenset({5})}, prefer_change=True
    )

    assert [(c.line, c.in_change) for c in found] == [(5, True), (1, False)]


def test_a_clue_that_hits_everywhere_is_dropped() -> None:
    common = "\n".join("raise ValueErrorX" for _ in range(30))

    assert (
        find_candidates(
            (Clue(ClueKind.NAME, "ValueErrorX"),),
            CodeIndex({"a.py": common}),
            {},
            prefer_change=False,
        )
        == ()
    )


def test_a_short_or_empty_literal_matches_no_message() -> None:
    code = 'print("{}: {}")\nprint("a b")\n'

    assert (
        find_candidates(
            (Clue(ClueKind.MESSAGE, "Undefined signal: X"),),
            CodeIndex({"a.py": code}),
            {},
            prefer_change=False,
        )
        == ()
    )


def test_what_the_failing_statement_calls_leads_to_its_definition() -> None:
    test = GateTest(
        "t::a",
        Group.F2P,
        Outcome.FAILED,
        message="assert [] == ['x']",
        traceback=(
            "    def test_a():\n>       assert other(len([])) == ['x']\n"
            "E       assert [] == ['x']\n\ntests/test_a.py:9: AssertionError"
        ),
    )

    (found,) = find_candidates(
        clues_of(test), CodeIndex({"main.py": CODE}), {}, prefer_change=False
    )

    assert (found.line, found.clue) == (7, Clue(ClueKind.SYMBOL, "other"))


def test_a_command_is_found_in_strings_and_not_in_comments() -> None:
    code = '# check the input\nif command == "check":\n'

    found = find_candidates(
        (Clue(ClueKind.COMMAND, "check"),), CodeIndex({"a.py": code}), {}, prefer_change=False
    )

    assert [candidate.line for candidate in found] == [2]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ('fail("Undefined signal: %s" % name)', "Undefined signal: X"),
        ("throw new Error(`unknown rule ${id} in ${file}`)", "unknown rule 7 in a.json"),
        ('x = "İ"; print("Undefined Signal")', "Undefined signal"),
        ('print(f"{count} notes imported")', "3 notes imported"),
    ],
)
def test_literals_are_found_by_the_words_they_share_with_a_message(code: str, message: str) -> None:
    index = CodeIndex({"a": f"first line\n{code}\nlast line"})
    (line,) = index.lines(Clue(ClueKind.MESSAGE, message))
    assert line == ("a", 2, code)


def test_a_line_that_has_the_words_and_cannot_print_the_message_is_no_hit() -> None:
    index = CodeIndex({"a": "# Undefined signal: X\nx = 'Undefined symbol: X'"})
    assert index.lines(Clue(ClueKind.MESSAGE, "Undefined signal: X")) == ()


def test_looking_for_what_stands_everywhere_ends() -> None:
    index = CodeIndex({str(n): "x = some_name\n" * 60 for n in range(10)})
    clue = Clue(ClueKind.NAME, "some_name")

    assert len(index.lines(clue)) == MAX_HITS
    assert len(index.lines_in(clue, ["3", "gone"])) == 60
