"""Failure text → stack frames, and container paths → workspace paths.

Understands what pytest (long, short, line, native), unittest, faulthandler, node, vitest, jest,
mocha, Rust and Go print when code fails, and where compilers say that it does not build. Pure
text: knows no files but the list of names it is handed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from arcview.analysis.failure_text import plain_lines


class FrameKind(StrEnum):
    """Whose code a frame is in. Only `PROJECT` frames can lead to a stage and a step."""

    PROJECT = "project"
    TEST = "test"
    VENDORED = "vendored"
    STDLIB = "stdlib"
    UNKNOWN = "unknown"
    """Not in the workspace, and not recognised as a library either."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One place that a failure names."""

    path: str
    """As printed; a path of the container, not of this machine."""
    line: int
    """1-based."""
    function: str | None = None
    kind: FrameKind = FrameKind.UNKNOWN
    workspace_path: str | None = None
    """The file of the workspace it maps to, where that is certain."""
    overlay_path: str | None = None
    """The file that the gate laid over the workspace, as it is called there."""


_PY_NATIVE = re.compile(
    r'^(?:INTERNALERROR>)?\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<fn>.+))?$'
)
_PY_PYTEST = re.compile(
    r"^(?!(?:SKIPPED|FAILED|ERROR|XFAIL|XPASS)\b)(?P<path>[^\s:][^:\n]*\.py):(?P<line>\d+): "
    r"(?:in (?P<fn>\S+)|\S.*)?$"
)
_PY_FAULT = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<fn>.+)$')
_JS_CALL = re.compile(
    r"^\s*at (?:(?:async )?(?P<fn>.+?) \()?(?:file://)?(?P<path>[^()\s]+?):(?P<line>\d+):\d+\)?"
)
_VITEST = re.compile(r"^\s*❯ (?:(?P<fn>\S+) )?(?P<path>\S+?\.\w+):(?P<line>\d+):\d+")
_RUST_PANIC = re.compile(r"panicked at (?:'.*', )?(?P<path>[^\s:']+\.rs):(?P<line>\d+)")
_RUST_AT = re.compile(r"^\s+at (?P<path>\S+\.rs):(?P<line>\d+)")
_GO_TRACE = re.compile(r"^\t(?P<path>\S+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$")
_GO_TEST = re.compile(r"^\s{4,}(?P<path>[\w./-]+\.go):(?P<line>\d+): ")
_RUST_NOTE = re.compile(r"(?:^\s*--> |as expected at )(?P<path>[^\s:]+\.rs):(?P<line>\d+):\d+$")
_TAP = re.compile(r"""^\s*(?:at|location): ["'](?P<path>[^"']+?):(?P<line>\d+):\d+["']$""")
_COMPILER = re.compile(
    r"^(?P<path>[^\s:()]+\.\w{1,5})(?::(?P<line>\d+):\d+|\((?P<tsline>\d+),\d+\)): \S"
)
"""`a.go:3:28: undefined`, `a.ts:3:0: ERROR: …`, `a.ts(3,5): error TS2304: …`, `a.c:4:2: …`"""
_OUTERMOST_FIRST = (_PY_NATIVE, _PY_PYTEST)
_DEEPEST_FIRST = (
    _PY_FAULT, _VITEST, _RUST_AT, _JS_CALL, _RUST_PANIC, _RUST_NOTE, _GO_TRACE, _GO_TEST, _TAP,
    _COMPILER,
)  # fmt: skip

# One look at each line decides whether the patterns are tried at all: most lines of a traceback
# are source text, and eight searches on each of them would be most of the cost.
_LOOKS_LIKE_A_PLACE = re.compile(r"\.\w{1,5}(?:[:\"(],? ?(?:line )?\d)")


def parse_frames(text: str) -> tuple[Frame, ...]:
    """Reads the frames that a failure text names, outermost first, without classifying them.

    Args:
        text: A message, traceback or captured output; may hold several tracebacks.

    Returns:
        Each place once (the last mention counts), the deepest call last in every stack.
    """
    stacks: list[tuple[bool, list[Frame]]] = []
    previous = ""
    for line in plain_lines(text):
        if _LOOKS_LIKE_A_PLACE.search(line):
            for deepest_first, patterns in ((False, _OUTERMOST_FIRST), (True, _DEEPEST_FIRST)):
                frame = _frame(line, previous, patterns)
                if frame is None:
                    continue
                if not stacks or stacks[-1][0] is not deepest_first:
                    stacks.append((deepest_first, []))
                stacks[-1][1].append(frame)
                break
        previous = line
    found: dict[tuple[str, int], Frame] = {}
    for deepest_first, frames in stacks:
        for frame in reversed(frames) if deepest_first else frames:
            found.pop((frame.path, frame.line), None)
            found[(frame.path, frame.line)] = frame
    return tuple(found.values())


def _frame(line: str, previous: str, patterns: tuple[re.Pattern[str], ...]) -> Frame | None:
    for pattern in patterns:
        match = pattern.search(line)
        if match is None:
            continue
        groups = match.groupdict()
        function = groups.get("fn")
        if pattern is _GO_TRACE:
            function = previous.strip().rpartition("(")[0] or None
        elif pattern is _RUST_AT:
            function = previous.strip().partition(": ")[2] or None
        return Frame(groups["path"], int(groups["line"] or groups["tsline"]), function)
    return None


class PathMapper:
    """Maps paths as a container printed them to files of one workspace state.

    Args:
        files: Every file of the state, relative, with forward slashes.
        workdir: Where the workspace lay in the container, where that is recorded.
        overlay: The files that the gate laid over the state: they were run, not the agent's.
    """

    def __init__(
        self, files: Iterable[str], workdir: str | None = None, overlay: Iterable[str] = ()
    ) -> None:
        self._overlay = frozenset(overlay)
        self._files = frozenset(files) | self._overlay
        self._workdir = workdir.rstrip("/") + "/" if workdir else None
        self._by_name: dict[str, list[str]] = {}
        for path in self._files:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def resolve(self, path: str) -> str | None:
        """The workspace file that is meant, or null when that is not certain.

        The recorded working directory decides. Without it, the whole path of one file must be in
        what was printed, or what was printed must be the end of one file's path: a name alone that
        two folders share would lead from a hidden test to another one of the agent's.
        """
        path = path.removeprefix("./")
        known = self.stated(path)
        if known is not None or (self._workdir and path.startswith(self._workdir)):
            return known
        is_absolute = path.startswith("/")
        while path.startswith("../"):
            path = path.removeprefix("../")
        candidates = self._by_name.get(path.rpartition("/")[2], [])
        if is_absolute:
            return max((c for c in candidates if path.endswith(f"/{c}")), key=len, default=None)
        hits = [c for c in candidates if f"/{c}".endswith(f"/{path}")]
        return hits[0] if len(hits) == 1 else None

    def is_laid_over(self, path: str | None) -> bool:
        """Whether a file of the workspace is the gate's own."""
        return path in self._overlay

    def stated(self, path: str) -> str | None:
        """The workspace file whose path from the workspace's top is printed in full, or null."""
        path = path.removeprefix("./")
        inside = path.removeprefix(self._workdir) if self._workdir else path
        return inside if inside in self._files else None


_STDLIB = re.compile(
    r"^(?:node:|internal/|<frozen |/rustc/)|/usr/local/go/src/"
    r"|/lib/python\d[\d.]*/(?!site-packages)"
)
_VENDORED = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules|vendor|third_party|\.cargo|\.venv|venv)/"
)
_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|spec|testdata|\.evaluation_tests)/"
    r"|(?:^|/)(?:test_[^/]*|conftest)\.py$|_test\.(?:py|go|rs)$|\.(?:test|spec)\.[cm]?[jt]sx?$"
)


def classify_frames(frames: Iterable[Frame], mapper: PathMapper) -> tuple[Frame, ...]:
    """Says of each frame whose code it is and which workspace file it maps to."""
    return tuple(_classified(frames, mapper))


def _classified(frames: Iterable[Frame], mapper: PathMapper) -> Iterator[Frame]:
    for frame in frames:
        found: str | None = None
        if _VENDORED.search(frame.path):
            kind = FrameKind.VENDORED
        elif _STDLIB.search(frame.path):
            kind = FrameKind.STDLIB
        elif _TEST.search(frame.path):
            # The gate's own tests lie outside the workspace, often under names that it has, too.
            kind, found = FrameKind.TEST, mapper.resolve(frame.path)
            if not mapper.is_laid_over(found):
                found = mapper.stated(frame.path)
        else:
            found = mapper.resolve(frame.path)
            kind = FrameKind.PROJECT if found else FrameKind.UNKNOWN
        if mapper.is_laid_over(found):
            yield replace(frame, kind=FrameKind.TEST, workspace_path=None, overlay_path=found)
        else:
            yield replace(frame, kind=kind, workspace_path=found)


def leading_frame(frames: Iterable[Frame]) -> Frame | None:
    """The deepest frame in the agent's own code, or null when the failure names none."""
    return next((f for f in reversed(tuple(frames)) if f.kind is FrameKind.PROJECT), None)


_PY_SCOPE = re.compile(r"^(?P<indent>\s*)(?:async\s+)?(?:def|class)\s+(?P<name>\w+)")


def enclosing_function(path: str, text: str, line: int) -> str | None:
    """The Python function or class that a line (1-based) stands in, by indentation; else null.

    Some traceback styles name the file and the line only.
    """
    lines = text.split("\n")
    if not path.endswith(".py") or not 0 < line <= len(lines):
        return None
    limit = len(lines[line - 1]) - len(lines[line - 1].lstrip())
    for candidate in reversed(lines[:line]):
        match = _PY_SCOPE.match(candidate)
        if match is not None and (len(match["indent"]) < limit or candidate is lines[line - 1]):
            return match["name"]
        if candidate.strip():
            limit = min(limit, len(candidate) - len(candidate.lstrip()))
    return None
