"""What a command executes, as a value, and how a test run's words become its targets.

Pure; private to the `self_tests` modules.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arcview.analysis.self_tests_tables import (
    BY_SUBCOMMAND,
    HELP,
    LISTS_ONLY,
    RUNNERS,
    VALUED,
    is_test_target,
)


class Execution(NamedTuple):
    """What a command executes, as far as its words tell."""

    runner: str
    """The test runner, or `inline`, `script`, `module`, `program`, `http`."""
    suite: bool = False
    """A test runner is started."""
    script: str | None = None
    """The file that is run."""
    program: str | None = None
    """The text of an inline program."""
    language: str = ""
    targets: tuple[str, ...] = ()
    """Files, test ids and patterns that the command line names."""
    needs_summary: bool = False
    """Counts as a test run only if the output holds a test runner's closing line."""


def suite(runner: str, words: Iterable[str], *, needs_summary: bool = False) -> Execution:
    """A test run; its targets are the words that are neither options nor their values."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") or (word.startswith("+") and len(word) > 1):
            skip = word in VALUED
        else:
            kept.append(word)
    return Execution(runner, suite=True, targets=tuple(kept), needs_summary=needs_summary)


def by_subcommand(program: str, words: list[str]) -> Execution | None:
    """`deno test a.ts`, `dotnet test`: a test run where the subcommand is one that tests."""
    plain = [word for word in words if not word.startswith("-")]
    if (HELP | LISTS_ONLY) & set(words):
        return None
    for sub, runner in BY_SUBCOMMAND[program].items():
        parts = sub.split()
        if plain[: len(parts)] == parts:
            return suite(runner, words[words.index(plain[len(parts) - 1]) + 1 :])
    return None


def package_script(program: str, words: list[str]) -> Execution | None:
    """What `npm run X`, `yarn X` and the like run, by the name of the script alone."""
    if words[:1] in (["run"], ["run-script"]):
        words = words[1:]
    elif program == "npm" and words[:1] != ["test"]:
        return None
    if not words:
        return None
    if words[0] in RUNNERS:  # `yarn jest`
        return suite(RUNNERS[words[0]][0], words[1:])
    if words[0] in BY_SUBCOMMAND:
        return by_subcommand(words[0], words[1:])
    if not is_test_target(words[0]) or words[0] == "ci":
        return None
    # `check` is a type check or a linter as often as a test run.
    return suite(program, words[1:], needs_summary=words[0] == "check")


def named_files(words: Iterable[str]) -> tuple[str, ...]:
    """The words that look like files."""
    return tuple(
        word for word in words if not word.startswith("-") and ("/" in word or "." in word)
    )
