"""The text of an ad-hoc program → whether it checks something, only prints, or edits files.

Pure; a program is parsed at most, never run.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from functools import lru_cache
from typing import Literal

Purpose = Literal["asserts", "prints", "edits", "suite"]
"""`suite`: it starts a test runner itself (`unittest.main()`). `edits`: it only writes files."""

MAX_PARSED = 60_000
"""Characters of a program that are parsed; a longer one is generated data more than a check."""


@lru_cache(maxsize=64)
def purpose_of(program: str, language: str, *, is_test_file: bool = True) -> Purpose:
    """What a program is for. Cached: the same script is run many times in a row.

    Args:
        program: Its text, as the agent wrote it.
        language: `python`, `js`, `shell`, or another name; empty where it is not known.
        is_test_file: An inline program, or a file that is named like a check. Other files may be
            the program under development, which exits with 1 on bad input and asserts what it
            assumes: of them only plain assertions count, and none where it reads its command line.
    """
    if _has(program, _OWN_RUNNER):
        return "suite"
    if not is_test_file:
        if _rewrites(program):
            return "edits"
        return "asserts" if _bare_asserts(program, language) else "prints"
    if language == "python":
        return _python_purpose(program)
    if language == "js":
        return "asserts" if _JS_ASSERTS.search(program) or _verdicts(program) else "prints"
    pattern = _ASSERTS.get(language)
    if pattern is not None and pattern.search(program):
        return "asserts"
    return "asserts" if _verdicts(program) else "prints"


_JS_ASSERTS = re.compile(
    r"\bassert(?:\.\w+)?\s*\(|\bexpect\s*\(|\bthrow\s+(?:new\s+)?\w*Error|process\.exit\(\s*(?:[1-9]|\w+\s*\?)"
    r"|process\.exitCode\s*=\s*[1-9]|console\.assert\("
)
_ASSERTS = {
    "shell": re.compile(
        r"(?:^|[;&|{]|\b(?:then|do|else))\s*(?:exit|return)\s+[1-9]|\bassert\w*\s|\bfail\w*\s+['\"]"
        r"|^[ \t]*(?:diff|cmp)\s",
        re.MULTILINE,
    ),
    "ruby": re.compile(r"\braise\b|\bassert\w*|\bexpect\(|\bexit\s*\(?[1-9]|\babort\b"),
    "php": re.compile(r"\bassert\s*\(|\bthrow\s+new\b|\bexit\s*\(\s*[1-9]"),
    "perl": re.compile(r"\bdie\b|\b(?:ok|is|is_deeply|like)\s*\(|\bexit\s*\(?[1-9]"),
    "lua": re.compile(r"\bassert\s*\(|\berror\s*\("),
    "r": re.compile(r"\bstopifnot\s*\(|\bstop\s*\(|\bexpect_\w+\s*\("),
    "julia": re.compile(r"@assert\b|@test\b|\berror\("),
    "elixir": re.compile(r"\bassert\b|\braise\b"),
}
_BAD_WORD = re.compile(r"(?:^|['\"`\[(: ])(?:FAIL(?:ED|URE)?|MISMATCH|NOT OK)\b|[✗✘❌✖]")
_CONDITION = re.compile(r"\bif\b|\bcase\b|\?|&&|\|\|")
_COMMENTS = re.compile(r"(?:^|\s)(?:#|//).*$", re.MULTILINE)


def _verdicts(program: str) -> bool:
    """Whether it prints verdicts of its own: `FAILED: expected …`, `✗ got …`, on a condition."""
    if _BAD_WORD.search(program) is None:
        return False
    code = _COMMENTS.sub("", program)
    return _BAD_WORD.search(code) is not None and _CONDITION.search(code) is not None


def _python_verdicts(program: str) -> bool:
    """The same for Python, where strings and comments can be told apart."""
    if _BAD_WORD.search(program) is None:
        return False
    tree = _parsed(program)
    if tree is None:
        return _verdicts(program)
    nodes = list(ast.walk(tree))
    return any(isinstance(node, ast.If | ast.IfExp) for node in nodes) and any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _BAD_WORD.search(node.value) is not None
        for node in nodes
    )


_MAY_ASSERT = re.compile(r"\bassert|\braise\b|\bexit\b|SystemExit|unittest|pytest|testmod|doctest")
_OWN_RUNNER = (
    "unittest.main(",
    "pytest.main(",
    "TextTestRunner(",
    "doctest.testmod(",
    "from 'node:test'",
    'from "node:test"',
    "require('node:test')",
    'require("node:test")',
)
_WRITES = re.compile(
    r"\bopen\([^)\n]*['\"][wax]b?\+?['\"]|\.write_(?:text|bytes)\(|\.to_csv\(|\bjson\.dump\("
    r"|\bshutil\.(?:copy|move|rmtree)|\bos\.(?:remove|rename|makedirs|mkdir)\("
)
_EXECUTES = re.compile(
    r"\bsubprocess\b|\bos\.(?:system|popen|exec\w*)\b|\brunpy\b|\bimportlib\b|\bexec\(|\bpexpect\b"
    r"|\burllib\b|\brequests\b|\bhttp\.client\b|\bsocket\b|__import__"
)
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w., ]+))", re.MULTILINE
)
_RAISED = frozenset({"AssertionError", "SystemExit", "Exception", "RuntimeError"})


def _has(program: str, words: tuple[str, ...]) -> bool:
    """Whether one of the words is there; on a whole program far faster than a pattern."""
    return any(word in program for word in words)


def _python_purpose(program: str) -> Purpose:
    if _WRITES.search(program) and not _exercises(program):
        # `assert old in text` before a replacement guards an edit and tests nothing.
        return "edits"
    if _MAY_ASSERT.search(program) and _python_asserts(program):
        return "asserts"
    return "asserts" if _python_verdicts(program) else "prints"


def _rewrites(program: str) -> bool:
    """A script that changes source text: it reads a file, replaces something, writes it back."""
    return (
        _has(program, (".replace(", "re.sub(", "re.subn(", ".readlines()"))
        and "def main" not in program
        and not _has(program, _READS_ARGUMENTS)
        and _WRITES.search(program) is not None
        and not _exercises(program)
    )


def _exercises(program: str) -> bool:
    """Whether it runs anything but the standard library."""
    if _EXECUTES.search(program):
        return True
    for match in _IMPORT.finditer(program):
        for name in (match[1] or match[2]).split(","):
            top = name.strip().split(" ")[0].split(".")[0]
            if top and top not in sys.stdlib_module_names:
                return True
    return False


def _python_asserts(program: str) -> bool:
    tree = _parsed(program)
    if tree is None:
        return _ASSERT_TEXT.search(program) is not None
    return any(_is_check(node) for node in ast.walk(tree))


_ASSERT_TEXT = re.compile(
    r"(?:^|[;:])[ \t]*assert\b|\braise\s+(?:AssertionError|SystemExit)|\bexit\(\s*[1-9]"
    r"|\.assert\w+\(",
    re.MULTILINE,
)


def _parsed(program: str) -> ast.Module | None:
    """The syntax tree; null where it is no Python (the shell has put something into it)."""
    if len(program) > MAX_PARSED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the agent's own text
            return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_check(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if isinstance(node, ast.Raise) and node.exc is not None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return isinstance(raised, ast.Name) and raised.id in _RAISED
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if isinstance(node.func, ast.Name):
        name = node.func.id
    if name in ("exit", "_exit"):
        return bool(node.args) and not (
            isinstance(node.args[0], ast.Constant) and node.args[0].value in (0, None)
        )
    return name.startswith(("assert_", "assert")) or name in ("raises", "approx")


_READS_ARGUMENTS = (
    "argparse",
    "sys.argv",
    "click",
    "typer",
    "optparse",
    "docopt",
    "fire.Fire",
    "process.argv",
    "ARGV",
    "yargs",
    "commander",
)


def _bare_asserts(program: str, language: str) -> bool:
    if not _has(program, ("assert", "expect(")) or _has(program, _READS_ARGUMENTS):
        return False
    if language == "python":
        tree = _parsed(program)
        return tree is not None and any(
            isinstance(node, ast.Assert) and not _is_isinstance(node) for node in ast.walk(tree)
        )
    if language == "js":
        return re.search(r"\bassert(?:\.\w+)?\s*\(|\bexpect\s*\(", program) is not None
    return False


def _is_isinstance(node: ast.Assert) -> bool:
    """`assert isinstance(x, int)` tells a type checker something and tests nothing."""
    test = node.test
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
        return True
    return (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "isinstance"
    )
