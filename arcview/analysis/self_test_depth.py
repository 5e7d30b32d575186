"""What the agent's own tests covered: edits after the last green run, earlier stages, hidden tests.

Pure: steps, self-tests and file names are handed in. Whether a hidden failure was exercised is a
guess from names, said to be one, with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from arcview.analysis.clues import ClueKind, clues_of
from arcview.analysis.self_tests import (
    SelfTest,
    SelfTestKind,
    is_test_path,
    runs_file,
    touches_earlier,
)
from arcview.analysis.step_edits import Resolve, edits_of_call
from arcview.model.results import GateTest
from arcview.model.trajectory import Role, Step, StepKind, Trajectory


@dataclass(frozen=True, slots=True)
class LateEdit:
    """A file that was changed after the last green run of tests."""

    step_key: str
    step: int | None
    path: str


@dataclass(frozen=True, slots=True)
class Exercise:
    """Whether a self-test exercised what a failing gate test checks: a guess from names."""

    answer: Literal["likely", "unlikely", "unknown"]
    reason: str
    step_key: str | None = None
    """The self-test that the reason speaks of."""
    step: int | None = None


def last_green(self_tests: Sequence[SelfTest]) -> SelfTest | None:
    """The last suite or assertion that passed; null where none did."""
    green = (test for test in reversed(self_tests) if test.is_test and test.outcome == "passed")
    return next(green, None)


def edits_after(
    trajectory: Trajectory, call_key: str, resolve: Resolve, matters: Callable[[str], bool]
) -> tuple[LateEdit, ...]:
    """The visible edits after a call, in order; each file once per step.

    Args:
        trajectory: The steps of the stage.
        call_key: Key of the call that the green run was part of.
        resolve: Maps paths of calls to workspace paths.
        matters: Says of a workspace path whether a change of it can turn a test.
    """
    found: dict[LateEdit, None] = {}
    is_after = False
    for step in trajectory.steps:
        for call in step.calls:
            if is_after:
                for edit in edits_of_call(call, resolve):
                    if matters(edit.path):
                        found[LateEdit(step.key, step.number, edit.path)] = None
            is_after = is_after or call.key == call_key
    return tuple(found)


_PLACEHOLDERS = frozenset({"", "(no content)"})


def closing_message(trajectory: Trajectory) -> Step | None:
    """The agent's last message, if the agent ended with one: no call in it, and none after it."""
    for step in reversed(trajectory.steps):
        if step.role is Role.ASSISTANT and step.kind is StepKind.MESSAGE and step.agent is None:
            if step.calls or step.is_error:
                return None
            if step.text.strip() not in _PLACEHOLDERS:
                return step
    return None


def introduced_in(paths_by_stage: Sequence[tuple[int, Collection[str]]]) -> dict[str, int]:
    """Test file → the first stage whose states have it; 0 for those of the start state.

    Args:
        paths_by_stage: (Stage, paths) of each state, in order.
    """
    found: dict[str, int] = {}
    for stage, paths in paths_by_stage:
        for path in paths:
            if path not in found and is_test_path(path):
                found[path] = stage
    return found


def earlier_stages(
    self_test: SelfTest,
    base_files: Collection[str],
    introduced: Mapping[str, int],
    changed: Collection[str],
) -> tuple[int, ...] | None:
    """The earlier stages whose test files an execution ran.

    Args:
        self_test: The execution.
        base_files: Every file of the stage's base state.
        introduced: Its test files, with the stage that introduced them.
        changed: Files that the stage created or changed.

    Returns:
        Empty where it ran none of an earlier stage (tests of the start state belong to no stage);
        null where what it ran names no test file, so that it cannot be known.
    """
    if touches_earlier(self_test, base_files, changed) is None:
        return None
    touched = {
        stage
        for path, stage in introduced.items()
        if stage and touches_earlier(self_test, (path,), changed)
    }
    return tuple(sorted(touched))


def revisits_earlier(
    self_tests: Sequence[SelfTest], stages: Sequence[tuple[int, ...] | None]
) -> bool | None:
    """Whether a stage ran a test of an earlier stage: null where only unnamed suites did run.

    Args:
        self_tests: The executions of the stage; probes are no tests and do not count.
        stages: `earlier_stages` of each.
    """
    of_tests = [found for test, found in zip(self_tests, stages, strict=True) if test.is_test]
    if any(of_tests):
        return True
    return None if None in of_tests else False


@dataclass(frozen=True, slots=True)
class EarlierFiles:
    """Test files of earlier stages that were there when a stage began."""

    files: int
    run: int
    """Those that the stage ran again."""
    unknown: int
    """Those of which it is not known: some suite did not say what it ran."""


def earlier_files(
    self_tests: Iterable[SelfTest], introduced: Mapping[str, int], changed: Collection[str]
) -> EarlierFiles:
    """How many test files of earlier stages a stage ran again.

    Args:
        self_tests: The executions of the stage; an ad-hoc program runs no test file but itself.
        introduced: The test files of its base state, with the stage that introduced them; those
            of the start state are nobody's.
        changed: Files that the stage created or changed.
    """
    suites = [test for test in self_tests if test.is_test]
    answers = [
        [_ran(test, path, changed) for test in suites]
        for path, stage in introduced.items()
        if stage
    ]
    run = sum(True in found for found in answers)
    unknown = sum(None in found and True not in found for found in answers)
    return EarlierFiles(len(answers), run, unknown)


def _ran(test: SelfTest, path: str, changed: Collection[str]) -> bool | None:
    found = runs_file(test, path, changed)
    return bool(found) if test.kind is SelfTestKind.ASSERTION else found


class Exercises:
    """Guesses which failing gate tests the self-tests of a stage exercised.

    Args:
        self_tests: The executions of the stage.
        code_of: The text of the test files that an execution ran, as far as it is known.
        project: Texts of the agent's source files: only what they define or quote can be
            exercised; the names of a hidden test's own helpers say nothing.
    """

    def __init__(
        self,
        self_tests: Sequence[SelfTest],
        code_of: Callable[[SelfTest], str | None],
        project: Iterable[str],
    ) -> None:
        self._tests = self_tests
        self._words: list[frozenset[str]] = []
        self._named: dict[str, SelfTest] = {}
        self._is_complete = True
        self._project = frozenset(
            match[1] or match[2] for text in project for match in _DEFINED_OR_QUOTED.finditer(text)
        )
        for test in self_tests:
            code = code_of(test)
            # A suite of which nothing is known may have run anything.
            self._is_complete &= code is not None or bool(test.program) or not test.is_test
            text = "\n".join(filter(None, (test.command, test.program, code)))
            self._words.append(frozenset(_WORD.findall(text)))
            for reported in test.tests:
                self._named.setdefault(_name(reported.id), test)

    def of(self, failing: GateTest) -> Exercise:
        """The guess for one failing test."""
        if not self._tests:
            return Exercise("unlikely", "the agent ran nothing of its own")
        name = _name(failing.id)
        if name in self._named:
            return _because("likely", f"ran a test that is called {name} too", self._named[name])
        case = _case(failing.id)
        found = self._with([case] if case is not None else [])
        if found is not None:
            return _because("likely", f"names the case {case}", found)
        clues = [clue for clue in clues_of(failing) if clue.text in self._project]
        symbols = [clue.text for clue in clues if clue.kind is ClueKind.SYMBOL]
        found = self._with(symbols)
        if found is not None:
            return _because("likely", f"names {', '.join(symbols)}", found)
        command = [clue.text for clue in clues if clue.kind is ClueKind.COMMAND]
        return self._by_command(command, symbols)

    def _by_command(self, command: list[str], symbols: list[str]) -> Exercise:
        found = self._with(command)
        if found is not None:
            words = " ".join(command)
            return _because("unknown", f"ran `{words}` too, with which input is not known", found)
        wanted = symbols or command
        if not wanted:
            return Exercise("unknown", "the failure names nothing to look for")
        if not self._is_complete:
            return Exercise("unknown", "what the agent's suites ran is not known")
        return Exercise("unlikely", f"no self-test names {' and '.join(wanted[:4])}")

    def _with(self, wanted: Sequence[str]) -> SelfTest | None:
        """The last execution whose text has all the words."""
        if not wanted:
            return None
        for test, words in zip(reversed(self._tests), reversed(self._words), strict=True):
            if words.issuperset(wanted):
                return test
        return None


_MAX_SYMBOLS = 20
_DEFINED = re.compile(
    r"^[ \t]*(?:export +)?(?:default +)?(?:pub(?:\([^)]*\))? +)?(?:async +)?"
    r"(?:def|class|function|fn|func(?: +\([^)]*\))?|struct|enum|trait|interface|type) +(\w{3,})",
    re.MULTILINE,
)


def defined_names(texts: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Functions, classes and types of the code → where each is defined first (path, line).

    Args:
        texts: Path → text of the source files.
    """
    found: dict[str, tuple[str, int]] = {}
    for path, text in texts.items():
        for match in _DEFINED.finditer(text):
            if match[1] not in found:
                line = text.count("\n", 0, match.start(1)) + 1
                found[match[1]] = (path, line)
    return found


def named_symbols(
    self_test: SelfTest, code: str | None, defined: Collection[str]
) -> tuple[str, ...]:
    """The names of the project's own code that an execution names, in their order; twenty at most.

    Args:
        self_test: The execution; its command and program are read.
        code: The text of the test files that it ran, as far as it is known.
        defined: From `defined_names`.
    """
    text = "\n".join(filter(None, (self_test.program or self_test.command, code)))
    words = dict.fromkeys(word for word in _WORD.findall(text) if word in defined)
    return tuple(words)[:_MAX_SYMBOLS]


_DEFINED_OR_QUOTED = re.compile(
    r"\b(?:def|class|function|fn|func(?: \([^)]*\))?|const|let|var)\s+(\w+)"
    r"|[\"'`](-{0,2}[A-Za-z_][\w-]*)[\"'`]"
)
_WORD = re.compile(r"-{0,2}[A-Za-z_][\w-]*|\d+")


def _because(
    answer: Literal["likely", "unlikely", "unknown"], what: str, test: SelfTest
) -> Exercise:
    number = f"step {test.step_number}" if test.step_number is not None else "a note"
    return Exercise(answer, f"{number} {what}", test.step_key, test.step_number)


def _name(test_id: str) -> str:
    """The bare name of a test: no file, class or parameters."""
    return test_id.rpartition("::")[2].partition("[")[0].rpartition(" > ")[2].strip()


def _case(test_id: str) -> str | None:
    """The word that names the case of a parametrised test: `literal_x` of `test_it[literal_x-…]`.

    Short words and plain values say too little.
    """
    parameters = test_id.partition("[")[2]
    word = re.match(r"[A-Za-z]+(?:_[A-Za-z0-9]+)+", parameters)
    return word[0] if word else None
