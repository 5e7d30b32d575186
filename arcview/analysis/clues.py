"""What a failure itself says that code may say too: messages, error types, names, commands.

Black-box gates run the program and look at its output, so no traceback enters the agent's code;
then these clues are looked up there. Pure text.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from arcview.analysis.failure_text import failing_statement
from arcview.model.results import GateTest


class ClueKind(StrEnum):
    """What a clue is, the most telling kind first."""

    MESSAGE = "message"
    """A sentence that the program printed or the assertion quotes."""
    ERROR_TYPE = "error type"
    SYMBOL = "called name"
    """What the failing statement of the test calls."""
    NAME = "name"
    """An identifier, a key or an option."""
    COMMAND = "command"
    """A sub-command or option the test ran the program with."""


@dataclass(frozen=True, slots=True)
class Clue:
    """One piece of text that the failure holds."""

    kind: ClueKind
    text: str


_MAX_TEXT = 60_000
"""Characters read of a failure: the telling part is in the message and at the ends."""

_ERROR_TYPE = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning|Failure|Fault)\b")
_QUOTED = re.compile(r"""(['"])((?:\\.|(?!\1)[^\\\n]){3,300})\1""")
_ARGS = re.compile(r"\bargs=\[(?P<args>[^\]]*)\]")
_OUTPUT = re.compile(r"\b(?:stdout|stderr)=(['\"])(?P<text>(?:\\.|(?!\1)[^\\])*)\1")
_OUTPUT_LINE = re.compile(
    r"^\s*(?:E\s+)?(?:Error|error|fatal|panic|[A-Z]\w*(?:Error|Exception)): .+"
)
_FIXTURE_OR_PLACE = re.compile(r"\w+ +=|\S+:\d+:|[_ ]+$")
"""Lines of a pytest traceback that name the test's own values and places."""
_NAME = re.compile(
    r"\b_?[a-z]+(?:_[a-z0-9]+)+\b|\b_[a-z]{3,}\b|--[a-z][\w-]+|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b"
)

_HARNESS_TYPES = frozenset({"AssertionError", "AssertionFailure", "Failure", "Error"})
"""Types that say only that something failed."""
_HARNESS_NAMES = frozenset(
    {"stdout", "stderr", "exit_code", "returncode", "actual_returncode", "tmp_path", "built_in"}
)
_LAUNCHERS = frozenset({"uv", "run", "python", "python3", "node", "cargo", "go", "npx", "sh", "-m"})


def clues_of(test: GateTest) -> tuple[Clue, ...]:
    """The clues of one failure, in the order of their kinds, each once.

    Source text of the test that a traceback prints is left out: it says what the test does, not
    what the program did.
    """
    evidence = "\n".join(_evidence(test))
    found = dict.fromkeys(
        [
            *(Clue(ClueKind.MESSAGE, text) for text in _messages(evidence)),
            *(Clue(ClueKind.ERROR_TYPE, text) for text in _error_types(evidence)),
            *(Clue(ClueKind.SYMBOL, text) for text in _symbols(test)),
            *(Clue(ClueKind.NAME, text) for text in _names(evidence)),
            *(Clue(ClueKind.COMMAND, text) for text in _commands(evidence)),
        ]
    )
    return tuple(found)


def _evidence(test: GateTest) -> Iterator[str]:
    """The parts of a failure that the program or the assertion spoke, not the test's source."""
    yield (test.message or "")[:_MAX_TEXT]
    for line in (test.traceback or "")[-_MAX_TEXT:].split("\n"):
        if line.startswith("E "):
            yield line.removeprefix("E").lstrip()
        elif not line.startswith((" ", ">", "\t")) and not _FIXTURE_OR_PLACE.match(line):
            yield line
    yield (test.stdout or "")[-_MAX_TEXT:]
    yield (test.stderr or "")[-_MAX_TEXT:]


def _messages(evidence: str) -> Iterator[str]:
    outputs = [_unescaped(match["text"]) for match in _OUTPUT.finditer(evidence)]
    for text in outputs:
        yield from (
            part
            for part in (_unescaped(m[2]) for m in _QUOTED.finditer(text))
            if " " in part.strip()
        )
        yield from (
            line.strip()
            for line in text.split("\n")
            if _is_sentence(line) and not line.startswith("{")
        )
    for line in evidence.split("\n"):
        if _OUTPUT_LINE.match(line):
            yield line.partition(": ")[2].strip()
    outside = _OUTPUT.sub(" ", evidence)
    for match in _QUOTED.finditer(outside):
        if _is_sentence(match[2]):
            yield _unescaped(match[2]).strip()


def _is_sentence(text: str) -> bool:
    stripped = text.strip()
    return 8 <= len(stripped) <= 300 and " " in stripped and not stripped.startswith(("<", "/"))


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\'", "'").replace('\\"', '"')


def _error_types(evidence: str) -> Iterator[str]:
    for match in _ERROR_TYPE.finditer(evidence):
        if match[0] not in _HARNESS_TYPES:
            yield match[0]


_CALLED = re.compile(r"\b([A-Za-z_]\w{2,})\(")
_BUILT_IN = frozenset(dir(builtins)) | {
    "assertEqual",
    "assertTrue",
    "assertFalse",
    "expect",
    "raises",
}


def _symbols(test: GateTest) -> Iterator[str]:
    for match in _CALLED.finditer(failing_statement(test.traceback or "") or ""):
        if match[1] not in _BUILT_IN and not match[1].startswith("assert"):
            yield match[1]


def _names(evidence: str) -> Iterator[str]:
    for match in _NAME.finditer(evidence):
        if match[0] not in _HARNESS_NAMES and not match[0].startswith("test_"):
            yield match[0]


def _commands(evidence: str) -> Iterator[str]:
    for match in _ARGS.finditer(evidence):
        for quoted in _QUOTED.finditer(match["args"]):
            word = quoted[2]
            if word not in _LAUNCHERS and "/" not in word and not word.endswith(".py"):
                yield word
