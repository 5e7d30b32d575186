"""What surrounds a command while `shell_walk` goes down the syntax tree, and small tests of words.

Private to `shell`. Named tuples and no dataclasses, here and in its neighbours: a line makes
hundreds of changed copies, `_replace` costs a fifth of `dataclasses.replace`, and to define a named
tuple costs half.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from arcview.analysis.shell_command import ShellCommand
from arcview.analysis.shell_wrappers import program_name

if TYPE_CHECKING:
    from tree_sitter import Node

COMPARING = frozenset({"diff", "cmp", "test", "[", "[["})
"""Programs that judge what they are given."""


class Context(NamedTuple):
    """What holds for the node that is being visited; the fields are those of `ShellCommand`."""

    masked: str | None = None
    needs: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    pipe_to: tuple[tuple[str, ...], ...] = ()
    piped_from: bool = False
    stdin_text: str | None = None
    output: str | None = None
    appends: bool = False
    status_line: str | None = None
    pipe_status_line: str | None = None
    """The same for the first command of a pipe (`${PIPESTATUS[0]}`)."""
    repeated: bool = False
    captured: str | None = None
    compared: bool = False
    wrappers: tuple[str, ...] = ()
    timeout: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    outer: Context | None = None
    """What holds for all but the last command of a list: the grammar hangs the pipe and the
    redirects of `a && b 2>&1 | tail` on the whole list, the shell on `b` alone."""

    def mask(self, why: str) -> Context:
        """The exit code is not the command's own from here on."""
        return self._replace(masked=why, status_line=None, pipe_status_line=None)

    def inside(self) -> Context:
        """Within a group, where the pipe and the redirects outside hold for all."""
        return self if self.outer is None else self._replace(outer=None)

    def feeds_shell(self, argv: Sequence[str]) -> bool:
        """`bash <<E` and `bash -s <<E` run what they are fed."""
        return (
            self.stdin_text is not None
            and len(argv) > 0
            and program_name(argv[0]) in ("bash", "sh", "zsh", "dash")
            and all(word.startswith("-") for word in argv[1:])
        )

    def command(self, argv: tuple[str, ...], text: str, cwd: str | None) -> ShellCommand:
        """The command with these words, in this context."""
        return ShellCommand(
            argv=argv,
            text=text,
            env=self.env,
            cwd=cwd,
            wrappers=self.wrappers,
            timeout=self.timeout,
            stdin_text=self.stdin_text,
            piped_from=self.piped_from,
            pipe_to=self.pipe_to,
            output=self.output,
            appends=self.appends,
            masked=self.masked,
            needs=self.needs,
            then=self.then,
            status_line=self.status_line,
            repeated=self.repeated,
            captured=self.captured,
            compared=self.compared,
        )


class Heredoc(NamedTuple):
    """A command that waits for the rest of its heredoc's first line to be read."""

    body: Node
    source: bytes
    text: str
    output: str | None
    appends: bool


def variables(text: str) -> list[str]:
    """The names that `$x` and `${x}` stand for."""
    return re.findall(r"\$\{?(\w+)", text)


def judges(argv: Sequence[str]) -> bool:
    """Whether a command at the end of a pipe judges what comes through it."""
    name = program_name(argv[0])
    if name in ("grep", "egrep", "fgrep", "rg"):
        return any(re.fullmatch(r"-[a-zA-Z]*q[a-zA-Z]*|--quiet", word) for word in argv[1:])
    return name in ("diff", "cmp")
