"""The simple commands of a command line, and the files that it writes, as plain data.

Imports nothing, so that everybody can name these types without loading a parser.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One simple command with what surrounds it. Wrappers such as `timeout 60` are taken off."""

    argv: tuple[str, ...]
    """The words, unquoted, never empty; expansions stay as they were written (`$HOME/x`)."""
    text: str
    """As written, wrappers included, without a heredoc's body."""
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None
    """Where `cd` has led within this command line; null where it never changed."""
    wrappers: tuple[str, ...] = ()
    """What was taken off, outermost first: `timeout`, `uv run`, `bash -c`."""
    timeout: str | None = None
    """The limit that `timeout` was given, as written."""
    stdin_text: str | None = None
    """The body of a heredoc or here-string that feeds it."""
    piped_from: bool = False
    """Another command's output feeds it."""
    pipe_to: tuple[tuple[str, ...], ...] = ()
    """The commands that its output runs through, in order."""
    output: str | None = None
    """The file that its standard output goes to, appending included."""
    appends: bool = False
    masked: str | None = None
    """Why the exit code of the line is not this command's: `pipe into tail`, `|| true` …"""
    needs: tuple[str, ...] = ()
    """Programs before it that can have kept it from running by `&&`; `if` and `||` stand for a
    condition under which it runs at all."""
    then: tuple[str, ...] = ()
    """Programs after it by `&&`: a non-zero exit code of the line may be theirs."""
    status_line: str | None = None
    """A regular expression for the line that prints its exit code (`echo "exit: $?"`)."""
    repeated: bool = False
    """In a loop or under `xargs`: it may have run any number of times."""
    captured: str | None = None
    """The variable that `$( … )` puts its output into; empty where it has no name."""
    compared: bool = False
    """The line itself checks its output: `[ "$(x)" = 1 ]`, `diff <(x) want`, `| grep -q`."""


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A file that a command line writes with text that stands in it."""

    path: str
    """As written, below the folder that `cd` has led to."""
    text: str
    append: bool
