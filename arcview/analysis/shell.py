"""A command line → the simple commands that it runs, parsed with tree-sitter-bash.

Pure; a line is never executed. Importing it loads no parser: `tree_sitter` comes with the first
line that is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from arcview.analysis.shell_command import FileWrite, ShellCommand
from arcview.analysis.shell_walk import Walker

__all__ = ["FileWrite", "ShellCommand", "parse_shell", "runs_nothing", "written_files"]


def parse_shell(line: str, *, cwd: str | None = None) -> tuple[ShellCommand, ...]:
    """The simple commands of a command line, in the order in which they are written.

    Bodies of functions are read where the function is called. Text that does not parse is read as
    far as it goes; heredoc bodies and quoted strings are never taken for commands, except those
    that a shell is given to run (`bash -c '…'`).

    Args:
        line: The command line, any number of lines long.
        cwd: The folder in which it starts, where that is known.
    """
    walker = Walker(cwd)
    walker.walk(line)
    return tuple(walker.commands)


def written_files(commands: Iterable[ShellCommand]) -> tuple[FileWrite, ...]:
    """Files whose content stands in the line: `cat > f <<E`, `tee f <<E`, `echo … > f`."""
    writes = []
    for command in commands:
        text, paths = _written(command)
        if text is not None:
            writes += [
                FileWrite(_below(command.cwd, path), text, command.appends) for path in paths
            ]
    return tuple(writes)


def _written(command: ShellCommand) -> tuple[str | None, tuple[str, ...]]:
    name, *words = command.argv
    target = command.output if command.output != "/dev/null" else None
    to_file = (target,) if target is not None else ()
    if name == "cat" and all(word == "-" for word in words):
        return command.stdin_text, to_file
    if name == "tee":
        return command.stdin_text, tuple(word for word in words if not word.startswith("-"))
    if name in ("echo", "printf") and to_file:
        text = " ".join(word for word in words if word not in ("-e", "-n", "-ne", "-en", "--"))
        return text.replace("\\n", "\n") + "\n", to_file
    return None, ()


def _below(cwd: str | None, path: str) -> str:
    return path if cwd is None or path.startswith(("/", "~", "$")) else f"{cwd.rstrip('/')}/{path}"


_PLAIN = re.compile(
    r"\s*(?:ls|cat|grep|rg|head|tail|sed|git|pwd|mkdir|rmdir|rm|cp|mv|which|wc|tree|chmod|touch|pip3?"
    r"|apt|apt-get|apk|brew|echo|sort|uniq|file|stat|du|df|ps|kill|pkill|sleep|type|find|diff|tar"
    r"|unzip|id|whoami|uname|date|printenv|xxd|od|nl|less|ln|basename|dirname)\b"
)
_OPERATORS = re.compile(r"[\n;&|<>`(){}$]|-exec|-ok\b|\bbisect\b|--ext-diff|-x\b")


def runs_nothing(line: str) -> bool:
    """Whether a line is one plain command that neither runs a program nor writes a file.

    Half of all lines are `ls`, `cat`, `grep` and `git`: telling so costs no parse. A wrong "no"
    only costs time.
    """
    return _PLAIN.match(line) is not None and _OPERATORS.search(line) is None
