"""Finds the tests that a gate expects among those that a report names, across ways to spell an id.

An exact match always wins; another spelling counts only where it leads to one test. Nothing is
dropped silently: what was matched otherwise, and what collides, is said.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from arcview.model.results import GateTest, Report
from arcview.readers.reports.collect import joined, merged, severity

_HEX = re.compile(r"\b0x[0-9a-fA-F]{4,16}\b")
_JAVA_HASH = re.compile(r"(?<=[\w$\])])@[0-9a-f]{5,8}\b")
_UNITTEST = re.compile(r"^(?P<test>\w+) \((?P<where>[\w.]+)\)$")
_NEXTEST = re.compile(r"^(?P<crate>[\w-]+)::(?P<binary>[\w-]+)\$(?P<test>.+)$")
_XDIST = re.compile(r"^\[gw\d+\] (?:\[ *\d+%\] )?")
_PHANTOM = re.compile(r"^\[ *\d{1,3}%\]$")
_ESCAPES = re.compile(r"(?:\x1b|␛)\[[0-9;]*m")
_FILE = re.compile(r"^[^\s:\[\]]+\.(?:py|[cm]?[jt]sx?|go|rs)$")
_SCRIPT = re.compile(r"^(?P<file>\S+\.[cm]?[jt]sx?)(?: > (?P<rest>.*))?$", re.DOTALL)
_CONTROLS = {code: chr(0x2400 + code) for code in range(0x20)}


@dataclass(frozen=True, slots=True)
class Matching:
    """What became of expected ids."""

    found: Mapping[str, GateTest]
    """Expected id → its test, under the expected id."""
    rest: tuple[GateTest, ...]
    """Reported tests that nothing expected matched."""
    notes: tuple[str, ...]


def match(report: Report, expected: Iterable[str]) -> Matching:
    """Matches expected ids with the tests of a report.

    Args:
        report: What was reported.
        expected: Ids of all groups of a gate, each once.
    """
    wanted = list(dict.fromkeys(expected))
    exact: dict[str, list[GateTest]] = {}
    for test in report.tests:
        exact.setdefault(test.id, []).append(test)
    found = {test_id: _one(exact[test_id], test_id) for test_id in wanted if test_id in exact}
    open_ids = [test_id for test_id in wanted if test_id not in found and not _is_phantom(test_id)]
    others = [test for test in report.tests if test.id not in found]
    notes: list[str] = []
    used: set[str] = set()
    if open_ids and others:
        for how, pairs in (
            ("another spelling", _by_key(open_ids, others)),
            ("their file", _by_file(open_ids, report.tests)),
            ("an id that was cut at a blank", _by_prefix(open_ids, others)),
        ):
            new = {test_id: tests for test_id, tests in pairs.items() if test_id not in found}
            for test_id, tests in new.items():
                found[test_id] = _one(tests, test_id)
                used.update(test.id for test in tests)
            if new:
                example = next(iter(new))
                notes.append(f"{len(new)} ids matched by {how}, such as {example}")
    phantoms = [test_id for test_id in wanted if _is_phantom(test_id)]
    if phantoms:
        notes.append(f"{len(phantoms)} expected ids are no ids of tests: {', '.join(phantoms[:3])}")
    rest = tuple(test for test in others if test.id not in used)
    return Matching(found, rest, (*notes, *_collisions(found)))


def _one(tests: Sequence[GateTest], test_id: str) -> GateTest:
    named = [replace(test, id=test_id) for test in tests]
    if len({test.group for test in named}) > 1:
        named = [min(named, key=lambda test: severity(test.outcome))]
    return merged(named)[0]


def _is_phantom(test_id: str) -> bool:
    """What scrapers have taken for an id: `[100%]`."""
    return _PHANTOM.match(test_id) is not None


def _collisions(found: Mapping[str, GateTest]) -> list[str]:
    doubled = sum(test.copies > 1 for test in found.values())
    differing = sum(test.copies > 1 and test.conflict is not None for test in found.values())
    if not doubled:
        return []
    what = "1 expected id is" if doubled == 1 else f"{doubled} expected ids are"
    return [f"{what} reported more than once, {differing} of them with different outcomes"]


def key_of(test_id: str) -> str:
    """A spelling that is the same for the ways in which runners and reports name one test.

    Paths and classes of pytest become dotted (JUnit does not tell them apart), both forms of
    unittest one, nextest's `crate::binary$test` its `binary-id test`; addresses, hashes, terminal
    escapes and repeated blanks go.
    """
    text = _XDIST.sub("", test_id)
    text = _ESCAPES.sub("", text).translate(_CONTROLS).replace("␊", " ").replace("\\n", " ")
    text = " ".join(_JAVA_HASH.sub("@*", _HEX.sub("0x*", text)).split())
    if match := _UNITTEST.match(text):
        test, where = match["test"], match["where"]
        return where if where.endswith(f".{test}") else f"{where}.{test}"
    if match := _NEXTEST.match(text):
        crate, binary = match["crate"], match["binary"]
        return f"{crate if binary == crate else f'{crate}::{binary}'} {match['test']}"
    head, bracket, parameters = text.partition("[")
    path, separator, name = head.partition("::")
    if separator and (path.endswith(".py") or "/" in path or "\\" in path):
        module = re.sub(r"[/\\]", ".", path).removesuffix(".py").lstrip(".")
        return f"{module}.{name.replace('::', '.')}{bracket}{parameters}"
    return text.replace(" > ", " ").replace(" › ", " ")


def _by_key(open_ids: Sequence[str], tests: Sequence[GateTest]) -> dict[str, list[GateTest]]:
    """Matches by the common spelling, then by the end of a path."""
    by_key: dict[str, list[GateTest]] = {}
    for test in tests:
        by_key.setdefault(key_of(test.id), []).append(test)
    wanted: dict[str, list[str]] = {}
    for test_id in open_ids:
        wanted.setdefault(key_of(test_id), []).append(test_id)
    pairs = {
        ids[0]: by_key[key]
        for key, ids in wanted.items()
        # Two expected ids with one spelling are two tests: neither is guessed.
        if key in by_key and len(ids) == 1 and len({test.id for test in by_key[key]}) == 1
    }
    rest = [test_id for test_id in open_ids if test_id not in pairs]
    return {**_by_path_end(rest, tests), **pairs}


def _by_path_end(open_ids: Sequence[str], tests: Sequence[GateTest]) -> dict[str, list[GateTest]]:
    """Matches ids whose files differ by a folder in front: `/repo/a.js > x` and `a.js > x`."""
    by_rest: dict[str, list[tuple[str, GateTest]]] = {}
    for test in tests:
        if match := _SCRIPT.match(test.id):
            by_rest.setdefault(key_of(match["rest"] or ""), []).append((match["file"], test))
    pairs = {}
    for test_id in open_ids:
        match = _SCRIPT.match(test_id)
        if match is None:
            continue
        same = [
            test
            for file, test in by_rest.get(key_of(match["rest"] or ""), ())
            if _ends_alike(file, match["file"])
        ]
        if len({test.id for test in same}) == 1:
            pairs[test_id] = same
    return pairs


def _ends_alike(first: str, second: str) -> bool:
    longer, shorter = sorted((f"/{first.lstrip('./')}", f"/{second.lstrip('./')}"), key=len)[::-1]
    return longer.endswith(shorter)


def _by_file(open_ids: Sequence[str], tests: Sequence[GateTest]) -> dict[str, list[GateTest]]:
    """Matches ids that are files with all tests in them: the worst outcome counts."""
    files = {test_id for test_id in open_ids if _FILE.match(test_id)}
    inside: dict[str, list[GateTest]] = {}
    for test in tests:
        file = re.split(r"::| > ", test.id, maxsplit=1)[0]
        if file in files:
            inside.setdefault(file, []).append(test)
    return {file: [_whole_file(found)] for file, found in inside.items()}


def _whole_file(tests: Sequence[GateTest]) -> GateTest:
    worst = min(tests, key=lambda test: severity(test.outcome))
    same = sum(test.outcome is worst.outcome for test in tests)
    told = f"{same} of {len(tests)} tests {worst.outcome.value}"
    return replace(worst, copies=1, conflict=None, message=joined([told, worst.message], "\n"))


def _by_prefix(open_ids: Sequence[str], tests: Sequence[GateTest]) -> dict[str, list[GateTest]]:
    """Matches ids that a scraper cut at a blank: an open bracket, and all that begin so agree."""
    cut = [test_id for test_id in open_ids if test_id.count("[") > test_id.count("]")]
    if not cut:
        return {}
    pairs = {}
    ordered = sorted(tests, key=lambda test: test.id)
    ids = [test.id for test in ordered]
    for test_id in cut:
        start = bisect_left(ids, test_id)
        end = start
        while end < len(ids) and ids[end].startswith(test_id):
            end += 1
        same = ordered[start:end]
        if same and len({test.outcome for test in same}) == 1:
            pairs[test_id] = [replace(same[0], copies=1, conflict=_cut(len(same)))]
    return pairs


def _cut(count: int) -> str | None:
    return None if count == 1 else f"its id is cut: {count} tests begin so, and all agree"
