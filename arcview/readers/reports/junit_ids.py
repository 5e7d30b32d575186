"""Ids of JUnit test cases: each writer makes its own use of `classname`, `name` and nested suites.

The ids are those that the same runner prints elsewhere, as far as the file tells.
"""

from __future__ import annotations

import html
import re
from enum import Enum, auto

from arcview.readers.reports.junit_xml import Case, Document

_SCRIPT = re.compile(r"\.(?:[cm]?[jt]sx?|bats|feature|rb|sh)$")
_DOTTED = re.compile(r"^[\w$]+(?:\.[\w$]+)*$")


class Flavour(Enum):
    """Who wrote the file, where that matters."""

    PYTEST = auto()
    VITEST = auto()
    JEST = auto()
    """jest-junit."""
    MOCHA = auto()
    """The `xunit` reporter of mocha."""
    MOCHA_JUNIT = auto()
    """mocha-junit-reporter, which Cypress uses, too."""
    NODE = auto()
    NEXTEST = auto()
    GO = auto()
    """gotestsum and go-junit-report."""
    LIBTEST = auto()
    """Rust's `--format junit`."""
    OTHER = auto()


def flavour_of(document: Document) -> Flavour:
    """Tells the writer from the names of the root and of the suites."""
    root = document.root_attributes.get("name", "")
    is_pytest = root == "pytest tests" or any(s.get("name") == "pytest" for s in document.suites)
    if is_pytest or any(_is_pytest(case) for case in document.cases):
        return Flavour.PYTEST
    if "go.version" in document.properties:
        return Flavour.GO
    named = {"vitest tests": Flavour.VITEST, "jest tests": Flavour.JEST}
    if root in named:
        return named[root]
    if root == "Mocha Tests":
        return Flavour.MOCHA if document.root == "testsuite" else Flavour.MOCHA_JUNIT
    if root == "nextest-run" or "uuid" in document.root_attributes:
        return Flavour.NEXTEST
    names = {(suite.get("name"), suite.get("package")) for suite in document.suites}
    if names == {("test", "test")}:
        return Flavour.LIBTEST
    is_node = not root and all(case.get("classname") == "test" for case in document.cases)
    return Flavour.NODE if is_node and document.cases else Flavour.OTHER


def _is_pytest(case: Case) -> bool:
    """Whether a case holds a word of pytest's, whose suite may have any name."""
    return any((result.type or "").startswith("pytest.") for result in case.results)


def id_of(case: Case, flavour: Flavour) -> str:
    """The id of one case."""
    classname, name = case.get("classname"), case.get("name")
    if flavour is Flavour.PYTEST:
        return _pytest_id(case)
    if flavour is Flavour.NEXTEST:
        return f"{classname} {name}"
    if flavour is Flavour.LIBTEST:
        return _libtest_id(classname, name)
    if flavour is Flavour.NODE:
        # node escapes the names of suites twice.
        return " > ".join([*map(html.unescape, case.suites), name])
    if flavour is Flavour.JEST:
        # Both hold the whole title, which begins with a blank outside of `describe`, or, where the
        # templates are set, the suites or the file, and the title.
        is_whole = not classname or name.startswith(classname)
        return name.removeprefix(" ") if is_whole else f"{classname} > {name}"
    if flavour is Flavour.GO:
        return f"{classname} {name}" if classname else case.suites[-1] if case.suites else name
    if not classname or name == classname:
        return name
    if flavour in (Flavour.MOCHA, Flavour.VITEST):
        return f"{classname} > {name}"
    if flavour is Flavour.MOCHA_JUNIT:
        # One of the two is the title, the other holds the suites before it.
        whole, title = (name, classname) if name.endswith(f" {classname}") else (classname, name)
        suites = whole.removesuffix(title).rstrip()
        return f"{suites} > {title}" if suites else title
    if case.get("status") and "/" in classname:  # GoogleTest with parameters
        return f"{classname}.{name}"
    return _other_id(classname, name)


def _pytest_id(case: Case) -> str:
    """The node id. Only xunit1 names the file; else classes are what begins with a capital."""
    classname, name = case.get("classname"), case.get("name")
    if not classname:  # a module that could not be collected
        return case.get("file") or f"{name.replace('.', '/')}.py"
    if classname == "pytest" and name == "internal":
        return "pytest internal"
    file = case.get("file").replace("\\", "/")
    module = file.removesuffix(".py").replace("/", ".")
    if file and (classname == module or classname.startswith(f"{module}.")):
        classes = classname[len(module) :].split(".")
        return "::".join([file, *filter(None, classes), name])
    parts = classname.split(".")
    end = len(parts)
    while end > 0 and parts[end - 1][:1].isupper():
        end -= 1
    end = end or len(parts)
    return "::".join(["/".join(parts[:end]) + ".py", *parts[end:], name])


def _libtest_id(classname: str, name: str) -> str:
    """The path of a test; a doctest has its file, one outside of modules `integration`."""
    if classname in ("integration", "unknown"):
        return name
    return f"{classname} - {name}" if classname.endswith(".rs") else f"{classname}::{name}"


def _other_id(classname: str, name: str) -> str:
    if name.startswith(classname) and not name[len(classname)].isalnum():
        return name  # the whole title stands in both
    if "/" in classname and not _SCRIPT.search(classname):
        return f"{classname} {name}"  # a Go package
    is_dotted = _DOTTED.match(classname) and not _SCRIPT.search(classname)
    return f"{classname}.{name}" if is_dotted else f"{classname} > {name}"
