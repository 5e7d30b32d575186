"""Groups failing tests by what killed them: 66 failures may be three causes.

Pure text over the tests of one gate. A signature is the first fatal line without what differs from
test to test (paths, temporary names, numbers, ids, times).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from arcview.analysis.comparison import Comparison as Comparison
from arcview.analysis.comparison import split_actual_expected as split_actual_expected
from arcview.analysis.failure_text import failing_statement, message_lines, split_error_type
from arcview.analysis.gate_view import SignatureGroup as SignatureGroup
from arcview.model.results import GateTest, Outcome

_LIMIT = 300
"""Longer lines are data, not wording; what follows does not tell causes apart."""


def group(tests: Iterable[GateTest]) -> tuple[SignatureGroup, ...]:
    """Groups tests by signature, the largest group first, ties in the order of the gate."""
    members: dict[str, list[GateTest]] = {}
    for test in tests:
        members.setdefault(signature(test), []).append(test)
    groups = [
        SignatureGroup(key, _title(key, found), tuple(found)) for key, found in members.items()
    ]
    return tuple(sorted(groups, key=lambda found: -len(found.tests)))


def _title(key: str, tests: list[GateTest]) -> str:
    fatal = {_fatal_line(test) for test in tests}
    only = fatal.pop() if len(fatal) == 1 else None
    if only is None or not split_error_type(only)[1]:
        return key
    return only[:_LIMIT]


_NO_MESSAGE = {
    Outcome.MISSING: "expected, but not in the report",
    Outcome.NOT_RUN: "never started",
    Outcome.TIMEOUT: "timed out",
    Outcome.SKIPPED: "skipped",
    Outcome.XPASSED: "passed, though expected to fail",
}


def signature(test: GateTest) -> str:
    """What the test died of, equal for tests that died of the same.

    An error that the author of the test worded is its wording. An assertion that the runner wrote
    out (`assert 3 == 2`) or a bare error type says only values or nothing, so the failing source
    statement stands in where the traceback quotes it.
    """
    fatal = _fatal_line(test)
    if fatal is None:
        return _NO_MESSAGE.get(test.outcome, f"{test.outcome.value}, without a message")
    error, text = split_error_type(fatal)
    if not text or _is_written_out(text):
        statement = failing_statement(test.traceback or "")
        if statement:
            wording = statement.rstrip(" ,(")
            is_assertion = statement.startswith("assert ") or error is None
            return wording[:_LIMIT] if is_assertion else f"{error} at {wording}"[:_LIMIT]
        text = _without_values(text)
    wording = normalise(text)
    return f"{error}: {wording}".rstrip(": ") if error else wording


_WRITTEN_OUT = re.compile(
    r"^assert "
    r"|^(?:['\"\[({]|-?\d|None|True|False|<).* (?:!=|==|(?:not|unexpectedly) found in|"
    r"(?:not )?(?:less|greater) than(?: or equal to)?|is not) .+"
    r"|^.+ is not (?:true|false)$"
)


def _is_written_out(text: str) -> bool:
    """Whether the runner made this line from values (`assert 3 == 2`, `1 != 2`)."""
    return bool(_WRITTEN_OUT.match(text))


_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_BRACKETED = re.compile(r"\[[^\[\]{}()]*\]|\{[^\[\]{}()]*\}|\([^\[\]{}()]*\)")


def _without_values(text: str) -> str:
    """`assert ['a'] == []` → `assert <value> == <value>`: data is no cause."""
    text = _QUOTED.sub("<value>", text[: 20 * _LIMIT])
    while True:
        shorter = _BRACKETED.sub("<value>", text)
        if shorter == text:
            return text
        text = shorter


_FRAME_LINE = re.compile(r'File "[^"]+", line \d+|^at .+:\d+:\d+\)?$|^Traceback \(most recent')
_RUST_PLACE = re.compile(r"^thread '.*' .*panicked at \S+:\d+:\d+:$")


def _fatal_line(test: GateTest) -> str | None:
    """The line that says what went wrong.

    Where the message quotes the traceback of the program under test, it is the error at that
    traceback's end; for a Rust panic the line after its place; else the first line with text.
    """
    filled = [line.strip() for line in message_lines(test) if line.strip()]
    if not filled:
        return None
    if _RUST_PLACE.match(filled[0]) and len(filled) > 1:
        return filled[1]
    frame = next((n for n, line in enumerate(filled) if _FRAME_LINE.search(line)), len(filled))
    for line in filled[frame:]:
        error, text = split_error_type(line)
        if error and text and not _FRAME_LINE.search(line):
            return line
    return filled[0]


_NOT_IN_PATH = r"[^\s'\"`:,;()\[\]{}<>|]"

_VOLATILE = (
    (re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)\]]+"), "<url>"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[\d:.,]*(?:Z|[+-]\d\d:?\d\d)?)?"), "<time>"),
    (re.compile(r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(rf"(?<![\w.])(?:[A-Za-z]:\\|~?/){_NOT_IN_PATH}+(?::\d+)*"), "<path>"),
    (re.compile(r"(?<![\w/])(?:[\w.-]+/)+[\w-]+(?:\.\w+)+(?::\d+)*"), "<path>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.I), "<hex>"),
    (re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b"), "<hex>"),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "<tmp>"),
    (re.compile(r"(?<![\w.])\d+(?:\.\d+)?\s?(?:[nµum]?s|secs?|seconds?|min|minutes?)\b"), "<time>"),
    (re.compile(r"(?<![\w<])[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?!\w)", re.I), "<n>"),
)
"""What differs between tests that died of the same, most specific first."""


def normalise(text: str) -> str:
    """One line without what changes from run to run: ids, paths, addresses, times, numbers."""
    text = text[: 4 * _LIMIT]
    for pattern, mark in _VOLATILE:
        text = pattern.sub(mark, text)
    return " ".join(text.split())[:_LIMIT]
