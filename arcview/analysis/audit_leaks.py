"""Ids and paths of hidden tests in what the agent saw. Pure.

A name that the agent, its workspace or the specification had before is no leak.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from arcview.analysis.audit import Check, Finding, Part
from arcview.model.trajectory import Role, Step, StepKind, ToolCall

_NAME = re.compile(r"\w{9,}")
_PATH = re.compile(r"[\w.@-]+(?:/[\w.@-]+)+|[\w@-]+\.[A-Za-z]{1,4}\b")
_MIN_NAME = 12
_SHOWN = 3
"""Names of one step that are spelled out."""


class Hidden:
    """What only the gates know, less whatever has come up by itself.

    Args:
        test_ids: The ids of the gates' tests. Names that are short or of one word are left out:
            they come up by chance.
    """

    def __init__(self, test_ids: Iterable[str]) -> None:
        self._names: set[str] = set()
        self._paths: dict[str, set[str]] = {}
        """File name → the paths that end in it."""
        for test_id in test_ids:
            path, _, name = test_id.partition("[")[0].rpartition("::")
            words = re.findall(r"\w+", name)
            if words and len(words[-1]) >= _MIN_NAME and "_" in words[-1]:
                self._names.add(words[-1])
            file = path.partition("::")[0]
            if "/" in file and "." in file.rpartition("/")[2]:
                self._paths.setdefault(file.rpartition("/")[2], set()).add(file)

        self.is_known = bool(self._names or self._paths)
        """There was something to look for."""

    def forget(self, text: str) -> None:
        """Takes out what a text holds that the agent wrote or may know."""
        self._names.difference_update(_NAME.findall(text))
        self.forget_files(self.paths_in(text))

    def forget_files(self, files: Iterable[str]) -> None:
        """Takes out files, such as those that the agent's own workspace has."""
        for file in files:
            self._paths.get(file.rpartition("/")[2], set()).discard(file)

    def seen_in(self, text: str) -> list[str]:
        """The names and paths that a text gives away, in order, each once."""
        found = {
            match[0]: match.start() for match in _NAME.finditer(text) if match[0] in self._names
        }
        for path in self.paths_in(text):
            found[path] = text.find(path)
        return sorted(found, key=lambda name: found[name])

    def paths_in(self, text: str) -> set[str]:
        """The hidden files that a text names, alone or below another folder."""
        if not self._paths:
            return set()
        named = (match[0].removeprefix("./") for match in _PATH.finditer(text))
        return {
            path
            for one in named
            for path in self._paths.get(one.rpartition("/")[2], ())
            if one == path or one.endswith(f"/{path}")
        }


def find_leaks(part: Part, hidden: Hidden) -> Iterator[Finding]:
    """Steps of a stage in which hidden names came up that the agent had not written itself.

    Args:
        part: The stage.
        hidden: What is hidden; what comes up is taken out of it, so that it is found once.
    """
    for step in part.trajectory.steps:
        if step.kind is not StepKind.MESSAGE:
            continue
        if step.role is Role.USER:
            yield from _found(part, step, hidden, step.text, ("text",))
            continue
        for text in (step.thinking, step.text):
            hidden.forget(text)
        for call in step.calls:
            yield from _named(part, step, hidden, call)
            if call.result is not None:
                yield from _found(part, step, hidden, call.result.text, (call.key, "result"))


def _named(part: Part, step: Step, hidden: Hidden, call: ToolCall) -> Iterator[Finding]:
    """A call that names a hidden file; names of tests in it are the agent's own."""
    texts = [call.command or "", *(str(value) for value in call.arguments.values())]
    text = "\n".join(texts)
    paths = sorted(hidden.paths_in(text))
    if paths:
        what = f"a call names the hidden {_listed(paths)}"
        found = part.finding(Check.LEAK, step, what, call.command or call.path, "candidate")
        yield replace(found, part=(call.key, "call"), detail="named")
    hidden.forget(text)


def _found(
    part: Part, step: Step, hidden: Hidden, text: str, where: tuple[str, ...]
) -> Iterator[Finding]:
    seen = hidden.seen_in(text)
    if not seen:
        return
    how = "the agent was told" if where == ("text",) else "an output shows"
    what = f"{how} the hidden {_listed(seen)}"
    start = text.index(seen[0])
    found = part.finding(Check.LEAK, step, what, _line_at(start, text), "candidate")
    yield replace(found, part=where, span=(start, start + len(seen[0])), detail="seen")
    hidden.forget(text)


def _listed(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _line_at(start: int, text: str) -> str:
    end = text.find("\n", start)
    return text[text.rfind("\n", 0, start) + 1 : end if end >= 0 else len(text)]
