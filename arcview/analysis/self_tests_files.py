"""Names of scripts that check something, and the text of those that an agent has written.

Pure: follows the visible edits of a trajectory, reads no workspace.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from arcview.analysis.edits import FileEdit
from arcview.analysis.shell import FileWrite

_CODE = r"(?:pyi?|[cm]?[jt]sx?|rb|go|rs|java|kt|scala|cs|php|pl|lua|sh|bats|swift|exs?|jl|[rR])"
_STRICT_NAME = re.compile(
    rf"(?:.*/)?(?:tests?|test_[^/]*|[^/]*_tests?|[^/]*\.(?:test|spec))\.{_CODE}|(?:.*/)?tests?/[^/]+\.{_CODE}"
)
_CHECK_NAME = re.compile(
    r"(?:.*/)?[^/]*(?:test|spec|repro|verify|check|debug|try|demo|validate|probe|smoke|sanity|bug|issue)"
    r"[^/]*",
    re.IGNORECASE,
)
_LANGUAGES = {
    ".py": "python",
    ".js": "js",
    ".mjs": "js",
    ".cjs": "js",
    ".ts": "js",
    ".tsx": "js",
    ".sh": "shell",
    ".bash": "shell",
    ".rb": "ruby",
    ".php": "php",
    ".pl": "perl",
    ".lua": "lua",
    ".r": "r",
    ".jl": "julia",
    ".exs": "elixir",
}


def is_strict_test_name(path: str) -> bool:
    """Whether a script is called what only tests are called (`test_x.py`, `x.test.ts`)."""
    return _STRICT_NAME.fullmatch(path) is not None


def is_check_name(path: str) -> bool:
    """Whether a script is called like something that checks or tries (`repro.py`, `/tmp/x.py`)."""
    return path.startswith("/tmp/") or _CHECK_NAME.fullmatch(path) is not None


def language_of(path: str) -> str:
    """The language that a file name stands for; empty where it says none."""
    return _LANGUAGES.get(PurePosixPath(path).suffix.lower(), "")


@dataclass(slots=True)
class _Script:
    text: str
    whole: bool
    """False where only pieces of the file were seen."""


class Scripts:
    """The text of files as far as the visible edits of a trajectory tell."""

    def __init__(self) -> None:
        self._files: dict[str, _Script] = {}
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)

    def apply(self, edits: Iterable[FileEdit]) -> None:
        """Follows edits of files, in order."""
        for edit in edits:
            path = _normal(edit.path)
            known = self._files.get(path)
            if edit.kind == "write":
                self._set(path, edit.new, whole=True)
            elif edit.kind == "delete":
                self._files.pop(path, None)
            elif edit.kind == "replace" and known and known.whole and edit.old in known.text:
                known.text = known.text.replace(edit.old, edit.new, -1 if edit.replace_all else 1)
            else:
                self._set(path, f"{known.text if known else ''}\n{edit.new}", whole=False)

    def write(self, writes: Iterable[FileWrite]) -> None:
        """Follows what command lines write into files."""
        for one in writes:
            path = _normal(one.path)
            known = self._files.get(path)
            if one.append:
                whole = known is not None and known.whole
                self._set(path, f"{known.text if known else ''}{one.text}", whole=whole)
            else:
                self._set(path, one.text, whole=True)

    def find(self, path: str, cwd: str | None) -> tuple[str | None, bool]:
        """The text of a script that a command names, and whether it is the whole file.

        A relative path is looked up by its longest suffix, since the working folder of a call is
        mostly not recorded. Null where the agent has not visibly written it.
        """
        wanted = _normal(path)
        if cwd and not wanted.startswith("/"):
            joined = self._files.get(_normal(f"{cwd}/{wanted}"))
            if joined is not None:
                return joined.text, joined.whole
        for known in reversed(self._by_name.get(PurePosixPath(wanted).name, [])):
            same = known == wanted or known.endswith(f"/{wanted}") or wanted.endswith(f"/{known}")
            if same and known in self._files:
                return self._files[known].text, self._files[known].whole
        return None, False

    def _set(self, path: str, text: str, *, whole: bool) -> None:
        if path not in self._files:
            self._by_name[PurePosixPath(path).name].append(path)
        self._files[path] = _Script(text, whole)


def _normal(path: str) -> str:
    """Without `./` and empty parts; `..` stays, since a folder may be a link."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)
