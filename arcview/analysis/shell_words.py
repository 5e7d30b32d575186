"""Words of a shell as they are written → as the program gets them.

Pure text rules; expansions (`$HOME`, `$(…)`, globs) are left as they stand.
"""

from __future__ import annotations

import re

_ESCAPED_WORD = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_STRING = re.compile(r'\\([$`"\\\n])')
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}
_PIECE = re.compile(
    r"""\$'(?P<ansi>(?:\\.|[^'\\])*)'|'(?P<raw>[^']*)'|\$?"(?P<string>(?:\\.|[^"\\])*)\"""",
    re.DOTALL,
)


def unquote(kind: str, text: str) -> str:
    """Takes the quotes off a word.

    Args:
        kind: The grammar's name of the node; anything that it does not know is read as a
            concatenation of quoted and plain pieces.
        text: The word as written.
    """
    if kind == "number" or (kind == "word" and "\\" not in text):
        return text
    if kind == "raw_string":
        return text[1:-1]
    if kind == "word":
        return _plain(text)
    if kind == "string":
        return _string(text[1:-1])
    if kind in ("simple_expansion", "expansion", "command_substitution", "process_substitution"):
        return text
    return _pieces(text)


def _plain(text: str) -> str:
    return _ESCAPED_WORD.sub(lambda match: match[1].replace("\n", ""), text)


def _string(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPED_STRING.sub(lambda match: match[1].replace("\n", ""), text)


def _pieces(text: str) -> str:
    out, end = [], 0
    for match in _PIECE.finditer(text):
        out.append(_plain(text[end : match.start()]))
        if match["ansi"] is not None:
            out.append(re.sub(r"\\(.)", lambda m: _ANSI.get(m[1], m[1]), match["ansi"]))
        elif match["raw"] is not None:
            out.append(match["raw"])
        else:
            out.append(_string(match["string"]))
        end = match.end()
    out.append(_plain(text[end:]))
    return "".join(out)


def dedented(text: str) -> str:
    """The body of a `<<-` heredoc: leading tabs go, those before the end marker too."""
    return re.sub(r"^\t+", "", text, flags=re.MULTILINE)


def status_pattern(command: str, names: tuple[str, ...]) -> str | None:
    """A pattern for the line that `echo "exit: $?"` prints; its group 1 is the exit code.

    Args:
        command: The echo or printf command as written.
        names: How the exit code may be written: `$?`, `${PIPESTATUS[0]}`, `$code`, `${code}`.

    Returns:
        Null where the command does not print the code, or prints other expansions before it.
    """
    found = re.match(r"(?:echo|printf)\s+(?:-[neE]+\s+)*(.*)\Z", command, re.DOTALL)
    if found is None:
        return None
    text = _pieces(found[1].strip())
    name = next((name for name in names if name in text), None)
    if name is None:
        return None
    before, after = text.split(name, 1)
    before = re.split(r"\n|\\n", before)[-1]
    after = re.split(r"\n|\\n", after)[0]
    if "$" in before or "`" in before:
        return None
    known = re.split(r"[$`]", after)[0]
    end = r"[ \t]*$" if known == after else ""
    return rf"^{re.escape(before)}(\d{{1,3}}){re.escape(known)}{end}"
