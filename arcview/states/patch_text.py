"""Reads any unified diff text: what git, diff, difflib or a model wrote, damaged or not.

Nothing raises: what cannot be understood is kept as text or as a warning of the file it is in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from arcview.model.patch import ChangeKind, FileChange, FilePatch, Hunk, LineKind
from arcview.states.patch_hunks import HUNK, CutHunk, cut_hunk, damage, number_hunks
from arcview.states.patch_names import (
    NOTHING,
    Name,
    decode,
    header_name,
    prefix_length,
    split_header,
    unquote,
)

_COMBINED = (b"diff --cc ", b"diff --combined ")
_BINARY = re.compile(rb"Binary files (.+) and (.+) differ")
_BINARY_DATA = re.compile(rb"(literal|delta) \d+|[A-Za-z][!-~]+|")
_INDEX = re.compile(rb"index [0-9a-f]+\.\.[0-9a-f]+(?: (\d{6}))?")
_PERCENT = re.compile(rb"similarity index (\d{1,3})%")


@dataclass(frozen=True, slots=True)
class PatchFile:
    """A whole patch text."""

    files: tuple[FilePatch, ...]
    preamble: str = ""
    """All text outside of file changes, in order: a commit message, a mail, a signature."""
    warnings: tuple[str, ...] = ()
    """What is wrong with the text as a whole."""


@dataclass(slots=True)
class _Section:
    """What the lines of one file say."""

    old: Name | None = None
    new: Name | None = None
    prefix: int = 0
    kind: ChangeKind | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    similarity: int | None = None
    binary: bool = False
    cuts: list[CutHunk] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def parse_patch(data: bytes) -> PatchFile:
    """Reads a unified diff.

    Args:
        data: The text as bytes. Lines end at line feeds only.
    """
    return _Reader(data).read()


def strip_level(data: bytes) -> int:
    """The `-p` that `git apply` needs for a patch: 0 where its names have no prefix, else 1."""
    lines = data.split(b"\n")
    for at, line in enumerate(lines):
        pair = None
        if line.startswith(b"diff --git "):
            pair = split_header(line.rstrip(b"\r"))
        elif _is_plain_header(lines, at):
            pair = header_name(line), header_name(lines[at + 1])
        if pair is not None:
            old, new = pair
            return 0 if old.path == new.path else 1
    return 1


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        self._is_torn = bool(self._lines[-1])
        if not self._is_torn:
            self._lines.pop()
        self._at = 0

    def read(self) -> PatchFile:
        files: list[FilePatch] = []
        prose: list[bytes] = []
        carriage_returns = False
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(_COMBINED):
                files.append(self._combined())
                continue
            section = self._section(line)
            if section is None:
                prose.append(line)
                self._at += 1
                continue
            carriage_returns |= any(cut.carriage_returns for cut in section.cuts)
            files.append(_file_patch(section))
        warning = "the patch was given CRLF line ends; they are left out"
        return PatchFile(
            tuple(_pair_type_changes(files)),
            decode(b"\n".join(prose)),
            (warning,) if carriage_returns else (),
        )

    def _section(self, line: bytes) -> _Section | None:
        """Reads the file that begins at the current line, if one does."""
        section = _Section()
        if line.startswith(b"diff --git "):
            self._read_git_headers(section)
        elif _is_plain_header(self._lines, self._at):
            self._read_names(section)
            section.prefix = prefix_length(section.old, section.new)
        elif (binary := _BINARY.fullmatch(line.rstrip(b"\r"))) is not None:
            section.old, section.new = unquote(binary[1]), unquote(binary[2])
            section.prefix = prefix_length(section.old, section.new)
            section.binary = True
            self._at += 1
        elif HUNK.fullmatch(line) is not None:
            section.warnings.append("no file name")
        else:
            return None
        self._read_hunks(section)
        return section

    def _read_git_headers(self, section: _Section) -> None:
        line = self._lines[self._at].rstrip(b"\r")
        header = split_header(line)
        self._at += 1
        while self._at < len(self._lines) and self._read_git_header(section):
            self._at += 1
        if self._at < len(self._lines) and self._lines[self._at].startswith(b"--- "):
            named = _Section()
            self._read_names(named)
            section.prefix = prefix_length(named.old, named.new)
            if header is not None and _is_one_sided(named):
                section.prefix = prefix_length(*header)
            if _is_unnamed(section):
                section.old, section.new = named.old, named.new
            else:
                section.prefix = 0
        elif _is_unnamed(section) and header is not None:
            section.old, section.new = header
            section.prefix = prefix_length(*header)
        elif _is_unnamed(section):
            section.warnings.append("its header line does not tell the two names apart")
            written = line.removeprefix(b"diff --git ")
            section.old = section.new = Name(written, written)

    def _read_git_header(self, section: _Section) -> bool:
        """Reads one extended header line; false where it is none."""
        line = self._lines[self._at].rstrip(b"\r")
        if line.startswith((b"rename from ", b"copy from ")):
            section.old = unquote(line.partition(b" from ")[2])
        elif line.startswith((b"rename to ", b"copy to ")):
            section.new = unquote(line.partition(b" to ")[2])
            section.kind = ChangeKind.COPIED if line[:1] == b"c" else ChangeKind.RENAMED
        elif line.startswith((b"new file mode ", b"new mode ")):
            section.new_mode = decode(line.rpartition(b" ")[2])
            if line.startswith(b"new file"):
                section.kind = ChangeKind.ADDED
        elif line.startswith((b"deleted file mode ", b"old mode ")):
            section.old_mode = decode(line.rpartition(b" ")[2])
            if line.startswith(b"deleted"):
                section.kind = ChangeKind.DELETED
        elif (index := _INDEX.fullmatch(line)) is not None:
            if index[1]:
                section.old_mode = section.new_mode = decode(index[1])
        elif (percent := _PERCENT.fullmatch(line)) is not None:
            section.similarity = int(percent[1])
        elif _BINARY.fullmatch(line) is not None:
            section.binary = True
        elif line == b"GIT binary patch":
            section.binary = True
            while self._peek(1) is not None and _BINARY_DATA.fullmatch(self._peek(1) or b""):
                self._at += 1
        else:
            return line.startswith(b"dissimilarity index ")
        return True

    def _read_names(self, section: _Section) -> None:
        section.old = header_name(self._lines[self._at].rstrip(b"\r"))
        self._at += 1
        following = self._peek(0)
        if following is not None and following[:3] == b"+++":
            section.new = header_name(following)
            self._at += 1
        else:
            section.new = section.old
            section.warnings.append("cut short: after the first name")

    def _read_hunks(self, section: _Section) -> None:
        while self._at < len(self._lines):
            found = cut_hunk(self._lines, self._at)
            if found is None:
                break
            cut, self._at = found
            section.cuts.append(cut)
            is_torn = self._is_torn and self._at == len(self._lines)
            if (what := damage(cut, is_torn)) is not None:
                section.warnings.append(what)

    def _combined(self) -> FilePatch:
        start = self._at
        self._at += 1
        # Each content line of a combined diff begins with a blank or a sign.
        while self._at < len(self._lines) and not self._lines[self._at].startswith(b"diff --"):
            self._at += 1
        lines = self._lines[start : self._at]
        name = unquote(lines[0].rstrip(b"\r").split(b" ", 2)[2])
        change = FileChange(decode(name.path), ChangeKind.UNMERGED, raw_path=_raw(name))
        raw = decode(b"\n".join(lines)) + ("\n" if self._at < len(self._lines) else "")
        return FilePatch(change, warnings=("combined diff, shown raw",), raw=raw)

    def _peek(self, ahead: int) -> bytes | None:
        at = self._at + ahead
        return self._lines[at].rstrip(b"\r") if at < len(self._lines) else None


def _is_plain_header(lines: Sequence[bytes], at: int) -> bool:
    """Tells whether `---` and `+++` lines with a hunk after them begin here; prose may hold two."""
    if not (lines[at].startswith(b"--- ") or lines[at].rstrip(b"\r") == b"---"):
        return False
    following = lines[at + 1 : at + 3]
    if len(following) < 2 or following[0][:4].rstrip() != b"+++":
        return False
    return HUNK.fullmatch(following[1]) is not None


def _is_unnamed(section: _Section) -> bool:
    return section.old is None or section.new is None


def _is_one_sided(section: _Section) -> bool:
    return any(name is not None and name.is_nothing for name in (section.old, section.new))


def _file_patch(section: _Section) -> FilePatch:
    old = None if section.old is None else section.old.path[_strip(section.old, section.prefix) :]
    new = None if section.new is None else section.new.path[_strip(section.new, section.prefix) :]
    hunks = number_hunks(section.cuts)
    kind = section.kind or _kind(section, old, new)
    if kind is ChangeKind.DELETED or new == NOTHING:
        path, name, other = old, section.old, None
    else:
        path, name, other = new, section.new, old if old not in (new, NOTHING) else None
    added, removed = _count(hunks, LineKind.ADDED), _count(hunks, LineKind.REMOVED)
    change = FileChange(
        path=decode(path or b""),
        kind=kind,
        old_path=None if other is None or kind is ChangeKind.ADDED else decode(other),
        added=None if section.binary else added,
        removed=None if section.binary else removed,
        old_mode=None if kind is ChangeKind.ADDED else section.old_mode,
        new_mode=None if kind is ChangeKind.DELETED else section.new_mode,
        similarity=section.similarity,
        binary=section.binary,
        raw_path=None if name is None else _raw(name),
    )
    return FilePatch(change, hunks, tuple(section.warnings))


def _kind(section: _Section, old: bytes | None, new: bytes | None) -> ChangeKind:
    if old == NOTHING:
        return ChangeKind.ADDED
    if new == NOTHING:
        return ChangeKind.DELETED
    if section.old_mode != section.new_mode:
        if _file_type(section.old_mode) != _file_type(section.new_mode):
            return ChangeKind.TYPE_CHANGED
        if not section.cuts and not section.binary:
            return ChangeKind.MODE_CHANGED
    return ChangeKind.MODIFIED


def _pair_type_changes(files: Sequence[FilePatch]) -> list[FilePatch]:
    """Joins what git writes as a deletion and an addition of one path: a file became a symlink."""
    paired: list[FilePatch] = []
    for patch in files:
        last = paired[-1] if paired else None
        if last is not None and _is_type_change(last.change, patch.change):
            change = replace(
                patch.change,
                kind=ChangeKind.TYPE_CHANGED,
                old_mode=last.change.old_mode,
                removed=last.change.removed,
                binary=last.change.binary or patch.change.binary,
            )
            warnings = last.warnings + patch.warnings
            paired[-1] = FilePatch(change, last.hunks + patch.hunks, warnings)
        else:
            paired.append(patch)
    return paired


def _is_type_change(old: FileChange, new: FileChange) -> bool:
    return (
        old.path == new.path
        and (old.kind, new.kind) == (ChangeKind.DELETED, ChangeKind.ADDED)
        and _file_type(old.old_mode) != _file_type(new.new_mode)
    )


def _file_type(mode: str | None) -> str | None:
    """The part of a git mode that tells a file from a symlink or a submodule."""
    return None if mode is None else mode[:3]


def _strip(name: Name, prefix: int) -> int:
    return 0 if name.is_nothing else prefix


def _count(hunks: Sequence[Hunk], kind: LineKind) -> int:
    return sum(line.kind is kind for hunk in hunks for line in hunk.lines)


def _raw(name: Name) -> str | None:
    return decode(name.written) if name.written.startswith(b'"') else None
