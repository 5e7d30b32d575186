from __future__ import annotations

from collections.abc import Iterator

import pytest

from arcview.analysis.audit import Check, Finding, Part, Unchecked, find_compactions, find_sessions
from arcview.analysis.audit_feedback import classify, find_feedback, remainder, strongest
from arcview.analysis.audit_leaks import Hidden, find_leaks
from arcview.analysis.audit_lookups import find_lookups
from arcview.analysis.audit_states import find_foreign_reads, find_lost_edits, find_put_back
from arcview.analysis.edits import FileEdit
from arcview.analysis.replay import StepEdit
from arcview.model.patch import ChangeKind, FileChange
from arcview.model.trajectory import (
    LongSteps,
    Role,
    Session,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    ToolResult,
    Trajectory,
)
from arcview.model.trajectory_refs import SessionRole


def step(number: int, *calls: ToolCall, text: str = "", session: str | None = None) -> Step:
    return Step(
        f"s{number}", number, Role.ASSISTANT, StepKind.MESSAGE, text, calls=calls, session=session
    )


def user(text: str, key: str = "u") -> Step:
    return Step(key, None, Role.USER, StepKind.MESSAGE, text)


def shell(command: str, output: str = "") -> ToolCall:
    return ToolCall("c", "bash", ToolKind.SHELL, command=command, result=ToolResult(output))


def read(path: str, output: str) -> ToolCall:
    return ToolCall("c", "Read", ToolKind.READ, path=path, result=ToolResult(output))


def part(*steps: Step, stage: int = 2, sessions: tuple[Session, ...] = ()) -> Part:
    return Part(stage, Trajectory("fake", steps, sessions))


def whats(findings: Iterator[Finding | Unchecked]) -> list[str]:
    return [one.what for one in findings if isinstance(one, Finding)]


# Sessions and compactions


def main_session(name: str) -> Session:
    return Session(name, SessionRole.MAIN, 3)


def test_a_session_that_goes_on_is_nothing_to_report() -> None:
    parts = [part(step(1), stage=k, sessions=(main_session("a"),)) for k in (1, 2)]
    assert list(find_sessions(parts)) == []


def test_another_session_is_reported_at_its_first_message() -> None:
    first = part(step(1, session="a"), stage=1, sessions=(main_session("a"),))
    second = part(user("go"), step(7, session="b"), sessions=(main_session("b"),))
    (found,) = find_sessions([first, second])
    assert isinstance(found, Finding)
    assert (found.stage, found.step_key, found.step, found.quote) == (2, "s7", 7, "b")


def test_two_sessions_within_a_stage_are_reported_and_sub_agents_are_not() -> None:
    sub = Session("x", SessionRole.SUBAGENT, 9)
    retry = Session("b", SessionRole.RETRY, 1)
    both = part(step(1, session="a"), step(2, session="b"),
                sessions=(main_session("a"), sub, retry))  # fmt: skip
    assert whats(find_sessions([both])) == ["another session within the stage"]


def test_without_a_session_id_nothing_is_said() -> None:
    (found,) = find_sessions([part(step(1))])
    assert isinstance(found, Unchecked)


def test_a_compaction_is_one_finding_with_its_summary() -> None:
    boundary = Step("b", None, Role.SYSTEM, StepKind.COMPACTION, "compacted")
    summary = Step("m", None, Role.USER, StepKind.COMPACTION, "so far: …")
    found = list(find_compactions(part(step(1), boundary, summary, step(2))))
    assert [(one.check, one.step_key, one.quote) for one in found] == [
        (Check.COMPACTION, "b", "compacted")
    ]


# Feedback

SPEC = "# Export\n\n`notes export` prints all notes.\nIt must fail on errors."


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (SPEC, "none"),
        (f"{SPEC}\n\n  It must   fail on errors.  \n", "none"),
        (f"{SPEC}\n\nThank you.", "other"),
        (f"{SPEC}\n\nTwo tests of stage 1 failed.", "failure_reported"),
        (f"{SPEC}\n\nThe search is broken: you should split as a shell does.", "fix_explained"),
    ],
)
def test_a_message_is_compared_with_the_specification(message: str, kind: str) -> None:
    assert classify(remainder(message, [SPEC])) == kind


def test_what_the_first_stage_was_told_is_the_template() -> None:
    template = "Fix all errors. Keep working in this folder."
    turn = user(f"{template}\n{SPEC}")
    assert list(find_feedback(part(turn, step(1)), [SPEC], [f"{template}\nother spec"])) == []


def test_feedback_points_to_its_turn_and_says_how_it_was_found() -> None:
    (found,) = find_feedback(part(user(f"{SPEC}\nGate 1 failed.", "u7"), step(1)), [SPEC], [])
    assert (found.step_key, found.basis, found.detail) == ("u7", "candidate", "failure_reported")
    assert found.quote == "Gate 1 failed."
    assert not found.what.startswith("in the middle")
    assert strongest([found]) == "failure_reported"
    assert strongest([]) == "none"


def test_a_turn_in_the_middle_of_a_stage_is_said_to_be_one() -> None:
    (found,) = find_feedback(part(user(SPEC), step(1), user("Continue.", "u2")), [SPEC], [])
    assert found.what.startswith("in the middle of the stage")


def test_turns_of_a_session_too_long_to_be_held_are_found_in_their_place() -> None:
    said = (user(f"{SPEC}\nGate 1 failed."), step(1), user("Continue.", "u2"))
    long = Part(2, Trajectory("fake", LongSteps.joined([said]), ()))
    assert list(find_feedback(long, [SPEC], [])) == list(find_feedback(part(*said), [SPEC], []))


def test_what_a_sub_agent_is_told_is_no_feedback() -> None:
    told = Step("t", None, Role.USER, StepKind.MESSAGE, "It failed.", agent="sub")
    assert list(find_feedback(part(user(SPEC), step(1), told), [SPEC], [])) == []


# Leaks

IDS = ["gate_tests/test_search.py::test_phrase_in_quotes", "checkpoint_1::test_add_column[x-1]"]


def leaks(*steps: Step, known: str = "", files: tuple[str, ...] = ()) -> list[Finding]:
    hidden = Hidden(IDS)
    hidden.forget(known)
    hidden.forget_files(files)
    return list(find_leaks(part(*steps), hidden))


def test_a_hidden_name_in_an_output_is_found_where_it_stands() -> None:
    output = "collected\nFAILED x::test_add_column - no\n"
    (found,) = leaks(step(4, shell("pytest", output)))
    assert (found.step, found.part, found.detail) == (4, ("c", "result"), "seen")
    assert found.quote == "FAILED x::test_add_column - no"
    assert found.span is not None
    assert output[slice(*found.span)] == "test_add_column"


def test_a_hidden_file_in_an_output_or_a_call_is_found() -> None:
    shown = leaks(step(1, shell("ls -R", "/x/gate_tests/test_search.py\n")))
    assert [found.detail for found in shown] == ["seen"]
    named = leaks(step(1, shell("cat gate_tests/test_search.py", "no such file")))
    assert [(found.detail, found.part) for found in named] == [("named", ("c", "call"))]


def test_a_hidden_name_in_what_the_user_says_is_found() -> None:
    (found,) = leaks(user("test_phrase_in_quotes fails"))
    assert found.what == "the agent was told the hidden test_phrase_in_quotes"


def test_each_name_is_found_once() -> None:
    output = shell("pytest", "test_add_column")
    assert len(leaks(step(1, output), step(2, output))) == 1


def test_a_name_that_the_agent_wrote_itself_is_no_leak() -> None:
    write = ToolCall("c", "Write", ToolKind.WRITE, {"content": "def test_add_column(): ..."},
                     path="tests/test_x.py")  # fmt: skip
    assert leaks(step(1, write), step(2, shell("pytest", "FAILED test_add_column"))) == []
    assert leaks(step(1, text="test_add_column"), step(2, shell("x", "test_add_column"))) == []


def test_what_specification_and_workspace_have_is_no_leak() -> None:
    seen = step(1, shell("ls", "gate_tests/test_search.py test_add_column"))
    assert leaks(seen, known="test_add_column", files=("gate_tests/test_search.py",)) == []


def test_short_and_plain_names_are_not_looked_for() -> None:
    assert not Hidden(["a::test_x", "b::testing", "conftest.py::ok"]).is_known


# Look-ups


@pytest.mark.parametrize(
    "command",
    [
        "git log --all --oneline",
        "git fetch origin",
        "cd /tmp && git clone https://example.invalid/x",
        "git show 1a2b3c4d5e",
        "git show origin/main:src/a.py",
        "git reflog",
        "git stash list",
        "git cat-file -p HEAD",
        "pip download notes",
        "pip install notes==2.0",
        "python -m pip install 'Notes[all]>=2'",
        "uv pip install notes",
        "npm view notes versions",
        "go get github.com/x/notes@v2",
        "curl -sL https://raw.githubusercontent.com/x/notes/main/a.py",
        "wget https://gitlab.com/x/notes/-/archive/v2/notes-v2.tar.gz",
        "cat /usr/lib/python3/site-packages/notes/search.py",
        "timeout 5 bash -c 'git log --all'",
    ],
)
def test_looking_elsewhere_is_found(command: str) -> None:
    (found,) = find_lookups(part(step(3, shell(command))), ["notes"])
    assert (found.check, found.step, found.basis) == (Check.LOOKUP, 3, "candidate")
    assert found.quote == command


@pytest.mark.parametrize(
    "command",
    [
        "git log --oneline -5",
        "git show HEAD",
        "git diff",
        "git stash",
        "git commit -m 'git log --all'",
        "echo 'pip download notes'",
        "pip install pytest",
        "pip install -r requirements.txt",
        "npm install",
        "curl http://localhost:8000/health",
        "grep -rn github.com .",
        "go test ./...",
    ],
)
def test_ordinary_work_is_no_look_up(command: str) -> None:
    assert list(find_lookups(part(step(3, shell(command))), ["notes"])) == []


def test_a_tool_that_reaches_the_network_is_found() -> None:
    call = ToolCall("c", "WebFetch", ToolKind.OTHER, {"url": "https://example.invalid"})
    assert len(list(find_lookups(part(step(1, call)), []))) == 1


# States

BASE = "def f():\n    return 1\n"


def reads(*calls: ToolCall) -> list[Finding]:
    steps = [step(number, call) for number, call in enumerate(calls, 1)]
    files = {"/w/a.py": BASE}
    return list(find_foreign_reads(part(*steps), files.get))


@pytest.mark.parametrize("mark", ["     {}→", "{}\t", "{}: "])
def test_a_file_as_recorded_is_nothing_to_report(mark: str) -> None:
    lines = [mark.format(n) + line for n, line in enumerate(BASE.splitlines(), 1)]
    output = "\n".join([*lines, "<system-reminder>not code</system-reminder>"])
    assert reads(read("/w/a.py", output)) == []


def test_a_file_with_a_line_that_the_base_does_not_have_is_found() -> None:
    (found,) = reads(read("/w/a.py", "1\tdef f():\n2\t    return 2\n"))
    assert (found.check, found.step, found.quote) == (Check.STATE, 1, "return 2")


@pytest.mark.parametrize(
    "before",
    [
        shell("python x.py"),
        ToolCall("c", "Write", ToolKind.WRITE, {"file_path": "/w/a.py", "content": "x"}),
    ],
)
def test_after_something_may_have_changed_reads_are_not_compared(before: ToolCall) -> None:
    assert reads(before, read("/w/a.py", "1\treturn 2\n")) == []


def test_looking_around_first_changes_nothing() -> None:
    assert len(reads(shell("ls -la"), read("/w/a.py", "1\treturn 2\n"))) == 1


def test_other_files_and_unnumbered_output_are_not_compared() -> None:
    assert reads(read("/w/b.py", "1\tx\n"), read("/w/a.py", "anything")) == []


def change(
    path: str, kind: ChangeKind = ChangeKind.MODIFIED, old: str = "o", new: str = "n"
) -> FileChange:
    return FileChange(path, kind, old_blob=old, new_blob=new)


def lost(edits: list[StepEdit], *later: Step, changes: tuple[FileChange, ...] = ()) -> list[str]:
    steps = (step(1, shell("true")), *later)
    base = frozenset({"a.py", "b.py"})
    return whats(find_lost_edits(part(*steps), edits, changes, base))


EDIT = StepEdit("s1", FileEdit("a.py", "replace", new="y", old="x"))


def test_an_edit_that_left_no_trace_is_found() -> None:
    assert lost([EDIT]) == ["edits a.py, which ends the stage as it began"]


def test_an_edit_that_shows_or_may_have_been_undone_is_not() -> None:
    assert lost([EDIT], changes=(change("a.py"),)) == []
    assert lost([EDIT], step(2, shell("git checkout -- ."))) == []
    assert lost([EDIT], step(2, shell("mv old/a.py a.py"))) == []
    assert lost([StepEdit("s1", FileEdit("scratch.py", "write", new="y"))]) == []
    gone = StepEdit("s1", FileEdit("a.py", "delete"))
    assert lost([EDIT, gone]) == []


def put_back(between: FileChange, named: frozenset[str] = frozenset()) -> list[str]:
    own = (change("a.py"), change("new.py", ChangeKind.ADDED))
    return whats(find_put_back(part(step(1)), own, (between,), named))


def test_a_file_that_something_put_back_between_stages_is_found() -> None:
    assert put_back(change("a.py", old="n", new="o")) == [
        "after the stage a.py is put back as it was before it"
    ]
    assert len(put_back(change("new.py", ChangeKind.DELETED))) == 1


def test_other_changes_between_stages_are_not() -> None:
    assert put_back(change("a.py", old="n", new="third")) == []
    assert put_back(change("b.py", old="n", new="o")) == []
    assert put_back(change("a.py", old="n", new="o"), frozenset({"a.py"})) == []
