"""Actual beside expected: what a failure message, or the failing frame, says about both sides.

Pure text over one test. Sides are never swapped by guess: where only the position tells them
apart, the result says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from arcview.analysis.failure_text import (
    failing_statement,
    frame_arguments,
    message_lines,
    split_error_type,
)
from arcview.model.results import GateTest


class Sides(StrEnum):
    """How it is known which side is which."""

    LABELLED = "labelled"
    """The message names them: `Expected: … Received: …`."""
    POSITION = "position"
    """Left and right of the assertion, actual first as is the custom."""
    NAMES = "names"
    """The assertion's own words tell: a constant on one side, or a name such as `expected`."""
    ARGUMENTS = "arguments"
    """Arguments of the failing frame with telling names; the report may have shortened them."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The two sides of a failed assertion, as text of the run."""

    actual: str
    expected: str
    operator: str
    """What the actual side should have been to the expected one: `==`, `!=`, `in`, `is`, `<`,
    `contains`, `matches` … and their opposites."""
    sides: Sides
    where: tuple[str, ...] = ()
    """What the runner adds on where a value comes from (`3 = run(…).returncode`)."""
    shortened: bool = False
    """The report cut a side (`...` in the middle)."""

    @property
    def demand(self) -> str:
        """What was demanded of the actual side: `3`, `!= 3`, `not in [3]`."""
        return self.expected if self.operator == "==" else f"{self.operator} {self.expected}"


def split_actual_expected(test: GateTest) -> Comparison | None:
    """What was observed and what was demanded, where the message or the traceback has both.

    Knows the assertion rewriting of pytest, unittest, `Expected: / Received:` of jest and vitest,
    chai's `expected … to equal …`, the diffs of node's assert and jest, `left: / right:` of Rust,
    testify, and `got …, want …`. Where the message is a bare error type, arguments of the failing
    frame that are called `actual…` and `expected…` stand in.
    """
    lines = message_lines(test)
    where = tuple(_where(lines))
    for find in (_chai, _labelled_lines, _labelled_inline):
        found = find(lines)
        if found is not None:
            return Comparison(*found, Sides.LABELLED, where)
    return (
        _assertion(lines, test.traceback or "", where)
        or _sign_diff(lines)
        or _from_arguments(test.traceback or "")
    )


_WHERE = re.compile(r"^\s*\+\s+(?:where|and)\s+(.*\S)")


def _where(lines: tuple[str, ...]) -> Iterator[str]:
    for line in lines:
        match = _WHERE.match(line)
        if match:
            yield match[1]


_CHAI = re.compile(
    r"^(?:\w*Error: )?expected (?P<actual>.+?) (?P<relation>(?:to|not to|to not) (?:be|equal|"
    r"deeply equal|strictly equal|deep equal|match|include|contain|have \w+|be \w+ than)) "
    r"(?P<expected>.+?)(?: // .*)?$"
)


def _chai(lines: tuple[str, ...]) -> tuple[str, str, str] | None:
    match = _CHAI.match(lines[0]) if lines else None
    if match is None:
        return None
    words = match["relation"].split()
    operator = _RELATIONS.get(words[-1], "==")
    if "not" in words:
        operator = _OPPOSITES[operator]
    return match["actual"], match["expected"], operator


_RELATIONS = {"include": "contains", "contain": "contains", "match": "matches"}
_OPPOSITES = {"==": "!=", "contains": "does not contain", "matches": "does not match"}


_EXPECTED_LABEL = re.compile(
    r"^\s*(?:expected|want(?:ed)?|wanted)(?: \w+)?\s*: ?(?P<value>.*)$", re.I
)
_ACTUAL_LABEL = re.compile(
    r"^\s*(?:actual|received|got|observed|found)(?: \w+)?\s*: ?(?P<value>.*)$", re.I
)
_LEFT_LABEL = re.compile(r"^\s*left: (?P<value>.*)$")
_RIGHT_LABEL = re.compile(r"^\s*right: (?P<value>.*)$")


_RUST_UNEQUAL = re.compile(r"\bassertion .*\bleft != right\b")
_JEST_RELATION = re.compile(r"^\s*Expected (?P<word>substring|value|pattern): (?P<not>not )?")
_JEST_MEMBER = re.compile(r"^\s*Received (?:string|array|message|set|iterator)\s*:")
_JEST_RELATIONS = {"substring": "contains", "value": "contains", "pattern": "matches"}


def _labelled_lines(lines: tuple[str, ...]) -> tuple[str, str, str] | None:
    for expected_label, actual_label in (
        (_EXPECTED_LABEL, _ACTUAL_LABEL),
        (_RIGHT_LABEL, _LEFT_LABEL),
    ):
        expected = _first_value(lines, expected_label)
        actual = _first_value(lines, actual_label)
        if expected is not None and actual is not None:
            operator = _labelled_relation(lines)
            if operator in _OPPOSITES.values():
                expected = expected.removeprefix("not ")
            return actual, expected, operator
    return None


def _labelled_relation(lines: tuple[str, ...]) -> str:
    """What a runner says beside the labels; jest names memberships in the labels themselves."""
    if any(_RUST_UNEQUAL.search(line) for line in lines):
        return "!="
    named = next((match for line in lines if (match := _JEST_RELATION.match(line))), None)
    if named is None or not any(_JEST_MEMBER.match(line) for line in lines):
        return "=="
    operator = _JEST_RELATIONS[named["word"]]
    return _OPPOSITES[operator] if named["not"] else operator


def _first_value(lines: tuple[str, ...], label: re.Pattern[str]) -> str | None:
    for line in lines:
        match = label.match(line)
        if match:
            return match["value"].strip()
    return None


_EXPECTED_GOT = re.compile(
    r"\bexpected (?P<expected>.+?),? (?:but )?(?:got|received|was|found|saw) (?P<actual>.+?)\.?$",
    re.I,
)
_GOT_WANT = re.compile(
    r"\bgot (?P<actual>.+?)[,;]? (?:but )?(?:want|wanted|expected) (?P<expected>.+?)\.?$", re.I
)


def _labelled_inline(lines: tuple[str, ...]) -> tuple[str, str, str] | None:
    if not lines:
        return None
    _, text = split_error_type(lines[0])
    match = _EXPECTED_GOT.search(text) or _GOT_WANT.search(text)
    return (match["actual"], match["expected"], "==") if match else None


# Longest first: ` is not ` must not be found as ` is `.
_OPERATORS = (" not in ", " is not ", " == ", " != ", " <= ", " >= ", " in ", " is ", " < ", " > ")
_NOT_FOUND = re.compile(r"^(?P<expected>.+) not found in (?P<actual>.+)$")
_TURNED = {
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
    "in": "contains",
    "not in": "does not contain",
}
"""The same relation with its sides in the other order; those that are missing stay as they are."""
_UNEXPECTEDLY_FOUND = re.compile(r"^(?P<expected>.+) unexpectedly found in (?P<actual>.+)$")


def _assertion(lines: tuple[str, ...], traceback: str, where: tuple[str, ...]) -> Comparison | None:
    """The assertion that the runner wrote out with its values."""
    for line in lines:
        error, text = split_error_type(line)
        if text.startswith("assert "):
            split = split_operator(text.removeprefix("assert "))
            if split is not None:
                return _oriented(*split, traceback, where)
        elif error is not None:
            found = _unittest(text, where)
            if found is not None:
                return found
    return None


def _unittest(text: str, where: tuple[str, ...]) -> Comparison | None:
    text = split_top_level(text, " : ")[0]
    for pattern, operator in (
        (_NOT_FOUND, "contains"),
        (_UNEXPECTEDLY_FOUND, "does not contain"),
    ):
        match = pattern.match(text)
        if match:
            return Comparison(match["actual"], match["expected"], operator, Sides.NAMES, where)
    sides = split_top_level(text, " != ")
    if len(sides) != 2:
        return None
    return Comparison(sides[0], sides[1], "==", Sides.POSITION, where, _is_shortened(*sides))


def _oriented(
    left: str, operator: str, right: str, traceback: str, where: tuple[str, ...]
) -> Comparison:
    """Finds out which side was demanded: by the words of the source, else by custom."""
    shortened = _is_shortened(left, right)
    split = split_operator(_without_message(failing_statement(traceback) or ""))
    names_tell = False
    # By custom the observed value stands left; of a membership it is the container, right.
    swap = operator in ("in", "not in")
    if split is not None and split[1] == operator:
        left_demanded, right_demanded = _is_demand(split[0]), _is_demand(split[2])
        names_tell = left_demanded != right_demanded
        swap = left_demanded if names_tell else swap
    if swap:
        left, operator, right = right, _TURNED.get(operator, operator), left
    sides = Sides.NAMES if names_tell else Sides.POSITION
    return Comparison(left, right, operator, sides, where, shortened)


def _without_message(statement: str) -> str:
    """`assert a == b, "text"` → `a == b`."""
    expression = statement.removeprefix("assert ")
    for position in _top_level_positions(expression):
        if expression[position - 1] == ",":
            return expression[: position - 1]
    return expression.rstrip(" ,(")


_DEMANDED = re.compile(r"(?:^|[_\W])(?:expected|want|wanted|golden|reference)(?:$|[_\W\d])", re.I)
_CONSTANT = re.compile(r"""^(?:[-+]?[\d.]+|None|True|False|[rbfu]?(?:"[^"]*"|'[^']*')|[\[{(].*)$""")


def _is_demand(expression: str) -> bool:
    """Whether this side of an assertion's source is what was demanded."""
    return bool(_DEMANDED.search(expression) or _CONSTANT.match(expression))


def _is_shortened(*sides: str) -> bool:
    return any("..." in side for side in sides)


def split_operator(expression: str) -> tuple[str, str, str] | None:
    """Left side, operator and right side at the outermost level of a Python comparison."""
    best: tuple[int, str] | None = None
    for position in _top_level_positions(expression):
        for operator in _OPERATORS:
            if expression.startswith(operator, position):
                best = position, operator
                break
        if best is not None:
            break
    if best is None:
        return None
    position, operator = best
    left, right = expression[:position].strip(), expression[position + len(operator) :].strip()
    return (left, operator.strip(), right) if left and right else None


def split_top_level(text: str, separator: str) -> tuple[str, ...]:
    """The text before and after the first separator outside quotes and brackets, or all of it."""
    for position in _top_level_positions(text):
        if text.startswith(separator, position):
            return text[:position], text[position + len(separator) :]
    return (text,)


def _top_level_positions(text: str) -> Iterator[int]:
    """Positions of blanks outside quotes and brackets."""
    depth, quote, skip = 0, "", False
    for position, char in enumerate(text):
        if skip:
            skip = False
        elif quote:
            if char == "\\":
                skip = True
            elif char == quote:
                quote = ""
        elif char in "'\"":
            # An apostrophe inside a word opens nothing.
            if char == '"' or position == 0 or not text[position - 1].isalnum():
                quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == " " and depth <= 0:
            yield position


_NODE_HEADER = re.compile(r"^\+ actual\s+- expected")
_JEST_HEADER = re.compile(r"^- Expected\b.*")


def _sign_diff(lines: tuple[str, ...]) -> Comparison | None:
    """A diff with a legend: node's `+ actual - expected`, jest's `- Expected` / `+ Received`."""
    for number, line in enumerate(lines):
        body = lines[number + 1 :]
        is_jest = bool(_JEST_HEADER.match(line)) and any(
            following.startswith("+ Received") for following in body[:1]
        )
        if not is_jest and not _NODE_HEADER.match(line):
            continue
        body = body[1:] if is_jest else body
        actual = [text[1:].strip() for text in body if text.startswith("+")]
        expected = [text[1:].strip() for text in body if text.startswith("-")]
        if actual or expected:
            sides = "\n".join(actual), "\n".join(expected)
            return Comparison(*sides, "==", Sides.LABELLED, (), _is_shortened(*sides))
    return None


_ACTUAL_NAME = re.compile(r"^(?:actual|got|received|observed|result|output|stdout)(?:$|_)")
_EXPECTED_NAME = re.compile(r"^(?:expected|want|wanted|golden|reference)(?:$|_)")


def _from_arguments(traceback: str) -> Comparison | None:
    """Arguments of the deepest frame that has one of each kind."""
    for arguments in frame_arguments(traceback):
        actual = next((v for name, v in arguments if _ACTUAL_NAME.match(name)), None)
        expected = next((v for name, v in arguments if _EXPECTED_NAME.match(name)), None)
        if actual is not None and expected is not None:
            shortened = _is_shortened(actual, expected)
            return Comparison(actual, expected, "==", Sides.ARGUMENTS, (), shortened)
    return None
