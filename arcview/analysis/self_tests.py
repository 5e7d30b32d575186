"""Trajectory → every time the agent ran tests or tried its own work, and what it saw.

Pure: reads tool calls and their results, runs nothing. The command line is parsed, never searched
for words: `git commit -m 'pytest'` is no test run. Importing it loads neither parser nor patterns:
a screen that shows cached self-tests needs the types alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from arcview.analysis.test_output_model import ReportedTest, RunOutcome

if TYPE_CHECKING:
    from arcview.model.trajectory import Trajectory


class SelfTestKind(StrEnum):
    """What kind of check an execution is. Only the first two count as tests."""

    SUITE = "suite"
    """A test runner: pytest, `npm test`, `cargo test`, `make check` …"""
    ASSERTION = "assertion"
    """An ad-hoc program that asserts: inline, a script, or a comparison by the shell itself."""
    PROBE = "probe"
    """An ad-hoc program that only prints, or the program under development tried by hand."""


@dataclass(frozen=True, slots=True)
class SelfTest:
    """One execution. Text is as it came from the run: hostile, untruncated."""

    step_number: int | None
    step_key: str
    call_key: str
    ordinal: int
    """0-based among the executions of the same call."""
    command: str
    """The simple command as written, without pipes, redirects and heredoc bodies."""
    runner: str
    """The test runner, or `inline`, `script`, `module`, `program`, `http`."""
    kind: SelfTestKind
    outcome: RunOutcome
    """For a probe `failed` means that it crashed, and `none` that it has no verdict."""
    passed: int | None = None
    failed: int | None = None
    """Failures and errors together."""
    skipped: int | None = None
    exit_code: int | None = None
    """Its own; null when masked or not recorded."""
    masked: str | None = None
    """Why the exit code of the call is not this execution's."""
    evidence: str = ""
    """The line, or the fact, that decided the outcome."""
    targets: tuple[str, ...] = ()
    """Files, test ids and patterns on the command line, and the script that ran."""
    tests: tuple[ReportedTest, ...] = ()
    """The single tests that the output names; often only the failing ones."""
    cwd: str | None = None
    """Where `cd` had led within the command line."""
    program: str | None = None
    """The text of an inline program."""
    timeout: str | None = None
    """The limit that `timeout` was given, as written."""
    repeated: bool = False
    """In a loop: one entry stands for any number of runs."""
    agent: str | None = None
    """The sub-agent that ran it; null for the main agent."""
    at: str | None = None
    """ISO 8601, when the step began, as recorded."""

    @property
    def is_test(self) -> bool:
        """Whether it counts as a test: probes do not."""
        return self.kind is not SelfTestKind.PROBE


def find_self_tests(trajectory: Trajectory) -> tuple[SelfTest, ...]:
    """Every execution of tests, checks and of the program under development, in order.

    Sub-agents' calls count too. One call can hold several executions. What neither tests nor runs
    the work (`pip install pytest`, `pytest --collect-only`, `cargo build`, linters) is left out.
    """
    # The finder, its tables and the parser cost about 40 ms to import.
    from arcview.analysis.self_tests_find import find

    return find(trajectory)


def is_test_path(path: str) -> bool:
    """Whether a path is that of a test file by the default path rules."""
    # Its patterns cost 4 ms; whoever shows a diff has them loaded.
    from arcview.model.patch import PathClass
    from arcview.states.path_class import classify

    return classify(path) is PathClass.TEST


def touches_earlier(
    self_test: SelfTest, base_files: Collection[str], changed_files: Collection[str]
) -> bool | None:
    """Whether an execution runs tests of an earlier stage.

    True when the output or the command line names a test file that was there when the stage began
    (for a single test of a file that this stage changed it cannot be told). False when nothing was
    there, or when all that ran is named and new. Null for everything else: a whole suite that names
    no test or its failing tests alone, and probes and inline programs, which run whatever the
    program does.

    Args:
        self_test: The execution.
        base_files: Paths in the stage's base state, relative to the workspace.
        changed_files: Paths that the stage created or changed, relative to the workspace.
    """
    if not base_files:
        return False
    earlier = [path for path in base_files if is_test_path(path)]
    if self_test.kind is SelfTestKind.PROBE or (not earlier and not self_test.targets):
        return None
    names = [*(test.id for test in self_test.tests), *self_test.targets]
    answers = [_is_earlier(name, earlier, changed_files) for name in names]
    if True in answers:
        return True
    if not names_all_that_ran(self_test) or None in answers:
        return None
    return False


def names_all_that_ran(self_test: SelfTest) -> bool:
    """Whether the command line names files, or the output every test: most name failing ones."""
    if self_test.targets:
        return all(is_test_path(target.partition("::")[0]) for target in self_test.targets)
    counts = (self_test.passed, self_test.failed, self_test.skipped)
    ran = sum(count for count in counts if count is not None)
    return 0 < ran <= len(self_test.tests)


def runs_file(self_test: SelfTest, path: str, changed_files: Collection[str]) -> bool | None:
    """Whether an execution runs a test file of an earlier stage; null where that is not known.

    Args:
        self_test: The execution.
        path: The file, relative to the workspace.
        changed_files: Paths that the stage created or changed: of such a file the command must
            not name a single test, which may be new.
    """
    names = [*(test.id for test in self_test.tests), *self_test.targets]
    if any(_is_earlier(name, (path,), changed_files) for name in names):
        return True
    named = any(_same_file(path, _file_of(name)) for name in names)
    return False if not named and names_all_that_ran(self_test) else None


def _is_earlier(name: str, earlier: Sequence[str], changed: Collection[str]) -> bool | None:
    file, single = _file_of(name), "::" in name or " > " in name
    matching = [path for path in earlier if _same_file(path, file)]
    if not matching:
        new = any(_same_file(path, file) for path in changed)
        return False if new and is_test_path(file) else None
    if single and all(path in changed for path in matching):
        return None
    return True


def _file_of(name: str) -> str:
    return name.partition("::")[0].partition(" > ")[0]


def _same_file(path: str, named: str) -> bool:
    """Whether a path of the workspace is the file or the folder that a command names."""
    named = named.removeprefix("./").rstrip("/")
    return bool(named) and (
        path == named
        or path.endswith(f"/{named}")
        or named.endswith(f"/{path}")
        or path.startswith(f"{named}/")
    )
