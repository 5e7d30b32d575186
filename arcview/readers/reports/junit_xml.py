"""Turns the bytes of a JUnit XML file into plain test cases, whatever its writer got wrong.

Characters that XML forbids are replaced, a file that is cut short keeps what came before, entity
declarations are refused. Must not import pydantic, nor an XML library besides expat.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from arcview.errors import BadInputError
from arcview.model.problem import Problem

RESULTS = (
    "failure",
    "error",
    "skipped",
    "flakyFailure",
    "flakyError",
    "rerunFailure",
    "rerunError",
)
"""Elements that say what became of a case."""
_PRINTED = ("system-out", "system-err")
_TEXTS = (*RESULTS, *_PRINTED)
_SUITES = ("testsuite", "testsuites")

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NEXT = re.compile(r"^\s*(?:<\?xml\b[^>]*\?>\s*)?<testsuites?\b", re.MULTILINE)
"""Where another document begins behind the first one, and maybe behind other output."""
_REFERENCE = re.compile(r"&#(?:x([0-9A-Fa-f]{1,8})|([0-9]{1,10}));")
_BARE_AMPERSAND = re.compile(r"&(?!(?:#x?[0-9A-Fa-f]+|\w+);)")
_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding=["']([A-Za-z0-9._-]{1,40})["']""")


@dataclass(frozen=True, slots=True)
class Result:
    """One element that says what became of a case, or what it printed."""

    kind: str
    message: str | None
    type: str | None
    text: str


@dataclass(slots=True)
class Case:
    """One `<testcase>`."""

    suites: tuple[str, ...]
    """Names of the suites around it, the outermost first; the root's own name left out."""
    attributes: Mapping[str, str]
    results: list[Result] = field(default_factory=list)
    printed: dict[str, str] = field(default_factory=dict)
    """`system-out`, `system-err`."""

    def get(self, name: str) -> str:
        """An attribute; empty where it is missing."""
        return self.attributes.get(name, "")


@dataclass(slots=True)
class Document:
    """What a file holds."""

    root: str = ""
    """`testsuites` or `testsuite`."""
    root_attributes: Mapping[str, str] = field(default_factory=dict)
    suites: list[Mapping[str, str]] = field(default_factory=list)
    """Attributes of the suites that stand directly below the root (or are it)."""
    cases: list[Case] = field(default_factory=list)
    properties: set[str] = field(default_factory=set)
    """Names of the properties of all suites, which tell who wrote the file."""
    is_damaged: bool = False
    problems: list[Problem] = field(default_factory=list)


def parse(data: bytes, shown: str) -> Document:
    """Parses a file.

    Args:
        data: Its bytes.
        shown: The file, as the user would name it.

    Raises:
        BadInputError: it is not JUnit XML, or declares entities.
    """
    document = Document()
    rest: str | None = _decoded(data, shown, document.problems)
    while rest is not None:
        rest = _parse_one(rest, document, shown)
    return document


def _parse_one(text: str, document: Document, shown: str) -> str | None:
    """Parses one XML document; returns what follows it, as where each program wrote its own."""
    parser = expat.ParserCreate()
    handler = _Handler(document, shown)
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.characters
    parser.EntityDeclHandler = handler.entity
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        if not document.root:
            what = expat.ErrorString(error.code)
            raise BadInputError(shown, f"expected XML: {what}", f"line {error.lineno}") from error
        if not handler.is_complete:
            handler.cut(error)
            return None
        following = text.encode()[parser.ErrorByteIndex :].decode()
        if match := _NEXT.search(following):
            return following[match.start() :].lstrip()
    return None


def _decoded(data: bytes, shown: str, problems: list[Problem]) -> str:
    declared = _ENCODING.match(data[:300])
    encoding = declared[1].decode("ascii") if declared else "utf-8"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif data.startswith(b"\xef\xbb\xbf") or encoding.lower().startswith(("utf-16", "utf-8")):
        encoding = "utf-8-sig"
    try:
        text = data.decode(encoding, "replace")
    except LookupError:
        text = data.decode("utf-8-sig", "replace")
        problems.append(Problem(shown, f"unknown encoding {encoding}; read as UTF-8"))
    # Whoever forges a declaration inside the text cannot make expat decode it again.
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text, count=1)
    return _repaired(text, shown, problems)


def _repaired(text: str, shown: str, problems: list[Problem]) -> str:
    """Replaces what XML forbids and writers let through: control characters, lone ampersands."""
    text, characters = _FORBIDDEN.subn(lambda match: _picture(ord(match[0])), text)
    references = 0
    if "&" in text:

        def settle(match: re.Match[str]) -> str:
            nonlocal references
            code = int(match[1], 16) if match[1] else int(match[2])
            if not _is_forbidden(code):
                return match[0]
            references += 1
            return _picture(code)

        text = _REFERENCE.sub(settle, text)
        text, bare = _BARE_AMPERSAND.subn("&amp;", text)
        references += bare
    if characters + references:
        what = f"{characters + references} characters that XML forbids are replaced"
        problems.append(Problem(shown, what))
    return text


def _is_forbidden(code: int) -> bool:
    return code > 0x10FFFF or bool(_FORBIDDEN.match(chr(code)))


def _picture(code: int) -> str:
    """The symbol of a control character, as screens show it."""
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"


class _Handler:
    """Collects cases from the events of the parser."""

    def __init__(self, document: Document, shown: str) -> None:
        self._document = document
        self._shown = shown
        self._suites: list[str] = []
        self._case: Case | None = None
        self._result: tuple[str, Mapping[str, str]] | None = None
        self._texts: list[str] = []
        self._depth = 0
        self._inside = 0
        self.is_complete = False
        """The root element has its end."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition(":")[2]
        self._depth += 1
        if not self._document.root:
            if name not in _SUITES:
                raise BadInputError(self._shown, f"expected testsuites or testsuite, found {name}")
            self._document.root = name
            self._document.root_attributes = attributes
        if name == "testsuite":
            if self._depth == 1 or (self._depth == 2 and self._document.root == "testsuites"):
                self._document.suites.append(attributes)
            self._suites.append("" if self._depth == 1 else attributes.get("name", ""))
        elif name == "testcase":
            suites = tuple(filter(None, self._suites))
            self._case = Case(suites, attributes)
        elif self._result is not None:
            # Surefire keeps what an attempt printed inside of that attempt.
            self._inside += name in _PRINTED
        elif name in _TEXTS and self._case is not None:
            self._result = (name, attributes)
            self._texts = []
        elif name == "property":
            self._document.properties.add(attributes.get("name", ""))

    def characters(self, text: str) -> None:
        if self._result is not None and not self._inside:
            self._texts.append(text)

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        self._depth -= 1
        self.is_complete = self._depth == 0
        if name == "testsuite":
            self._suites.pop()
        elif name == "testcase" and self._case is not None:
            self._document.cases.append(self._case)
            self._case = None
        elif self._inside and name in _PRINTED:
            self._inside -= 1
        elif self._result is not None and name == self._result[0]:
            self._close(*self._result)

    def _close(self, name: str, attributes: Mapping[str, str]) -> None:
        text = "".join(self._texts)
        self._result = None
        if self._case is None:
            return
        if name in RESULTS:
            message = attributes.get("message")
            self._case.results.append(Result(name, message, attributes.get("type"), text))
        elif text.strip():
            printed = self._case.printed
            printed[name] = printed[name] + "\n" + text if name in printed else text

    def entity(self, *declaration: object) -> None:
        raise BadInputError(self._shown, "declares XML entities, which a test report never needs")

    def cut(self, error: expat.ExpatError) -> None:
        """Notes where the file stops being XML; what came before is kept."""
        self._document.is_damaged = True
        what = f"{expat.ErrorString(error.code)}; the {len(self._document.cases)} tests before it"
        inside = f" (inside the test {self._case.get('name')})" if self._case is not None else ""
        place = f"{self._shown}: line {error.lineno}"
        self._document.problems.append(Problem(place, f"{what} are kept{inside}"))
