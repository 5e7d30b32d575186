"""A runner's text log as clean lines, and what was seen in it of single tests.

What a test prints may look like a result: such lines are kept apart as `printed`, and an outcome
that anything contradicts carries a conflict. Pure; must not read files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from arcview.model.results import UNFINISHED, Gap, GateTest, Group, GroupCounts, Outcome
from arcview.readers.reports.collect import joined, severity

MAX_LINE = 4_000
"""Characters of a line in which a result is looked for; longer lines are data."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]"
)
_CLIPPED = 500
_LAST_LINES = 400
"""How far from the end of a log the reason of its end is looked for."""
_MAX_PRINTED_NOTES = 5


def clean_text(text: str) -> str:
    """A log without terminal escapes and NULs; of progress lines only what was left on screen.

    A line that a carriage return overwrote keeps the text after the last return that has any.
    """
    if "\0" in text:
        text = text.replace("\0", "")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" not in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_last_part(line) if "\r" in line else line for line in lines)


def _last_part(line: str) -> str:
    parts = [part for part in line.split("\r") if part.strip()]
    return parts[-1] if parts else ""


class Channel(Enum):
    """Where in its log a runner names a test; it may name each one once in each."""

    LIVE = auto()
    """While it runs."""
    SUMMARY = auto()
    """In a list at the end."""


class Sighting(NamedTuple):
    """One line that says what became of a test (a tuple: a log may have a million)."""

    id: str
    outcome: Outcome
    line: int
    """1-based."""
    text: str
    channel: Channel = Channel.LIVE
    duration_s: float | None = None
    message: str | None = None
    reported: str | None = None
    doubt: str | None = None


@dataclass(frozen=True, slots=True)
class Details:
    """What a log says of a failed test elsewhere."""

    message: str | None = None
    traceback: str | None = None
    stdout: str | None = None
    stderr: str | None = None


_NO_DETAILS = Details()


@dataclass(slots=True)
class Found:
    """Everything that was seen of single tests in one log."""

    sightings: dict[str, list[Sighting]] = field(default_factory=dict)
    """By id, in the order of first mention; without those in `passed`."""
    passed: dict[str, int] = field(default_factory=dict)
    """Tests of which one line says that they passed, and no more → its number.

    Most of a log of a million tests is such lines; where anything else is said of such a test, it
    moves to `sightings`.
    """
    seconds: dict[str, float] = field(default_factory=dict)
    """How long tests in `passed` took, where their line says so."""
    lines: Sequence[str] = ()
    """What `passed` is about; its first line has the number `first`."""
    first: int = 1
    printed: list[Sighting] = field(default_factory=list)
    """Lines that look like results and stand where only tests print."""
    details: dict[str, Details] = field(default_factory=dict)
    natural: frozenset[frozenset[Outcome]] = frozenset()
    """Outcomes that one test has together: passed, and then an error in its teardown."""

    def saw(self, sighting: Sighting) -> None:
        """Takes a line for a result."""
        if sighting.id in self.passed:
            self.of(sighting.id)
        self.sightings.setdefault(sighting.id, []).append(sighting)

    def saw_pass(self, test_id: str, line: int, seconds: float | None) -> None:
        """Takes a line that says no more than that a test passed, and how long it took."""
        if test_id in self:
            text = self.lines[line - self.first]
            self.saw(Sighting(test_id, Outcome.PASSED, line, text, duration_s=seconds))
            return
        self.passed[test_id] = line
        if seconds is not None:
            self.seconds[test_id] = seconds

    def __contains__(self, test_id: object) -> bool:
        return test_id in self.passed or test_id in self.sightings

    @property
    def is_empty(self) -> bool:
        """Whether nothing was seen of any test."""
        return not self.passed and not self.sightings

    def of(self, test_id: str) -> list[Sighting]:
        """The lines about one test; they may be changed in place."""
        line = self.passed.pop(test_id, None)
        if line is not None:
            self.sightings[test_id] = [self._sighting(test_id, line)]
        return self.sightings.get(test_id, [])

    def says(self, test_id: str, outcome: Outcome | None) -> bool:
        """Whether a line says that a test had that outcome."""
        return any(sighting.outcome is outcome for sighting in self.of(test_id))

    def _sighting(self, test_id: str, line: int) -> Sighting:
        text, seconds = self.lines[line - self.first], self.seconds.get(test_id)
        return Sighting(test_id, Outcome.PASSED, line, text, duration_s=seconds)

    def _in_order(self) -> Iterator[tuple[str, list[Sighting] | int]]:
        """Every test in the order of first mention, with its lines or the number of its line."""
        if not self.lines:
            yield from self.sightings.items()
            return
        passed = iter(self.passed.items())
        following = next(passed, None)
        for test_id, sightings in sorted(self.sightings.items(), key=lambda item: item[1][0].line):
            while following is not None and following[1] < sightings[0].line:
                yield following
                following = next(passed, None)
            yield test_id, sightings
        if following is not None:
            yield following
        yield from passed

    def imitated(self, sighting: Sighting) -> None:
        """Takes a line for what a test printed."""
        self.printed.append(sighting)

    def take_back(self, sighting: Sighting) -> None:
        """A line that was taken for a result was printed by a test."""
        sightings = self.sightings[sighting.id]
        sightings.remove(sighting)
        if not sightings:
            del self.sightings[sighting.id]
        self.imitated(sighting)

    def drop_unfinished(self) -> None:
        """Takes back what only the start was seen of: nothing was run."""
        self.sightings = {
            test_id: sightings
            for test_id, sightings in self.sightings.items()
            if any(sighting.reported != UNFINISHED for sighting in sightings)
        }

    def passes(self) -> int:
        """How many tests a channel says have passed, contradicted ones included."""
        counts = Counter(
            sighting.channel
            for sightings in self.sightings.values()
            for sighting in sightings
            if sighting.outcome is Outcome.PASSED
        )
        counts[Channel.LIVE] += len(self.passed)
        return max(counts.values(), default=0)

    def tests(self, totals: GroupCounts | None = None) -> tuple[GateTest, ...]:
        """One test per id, with the line that says so and whatever contradicts it.

        Args:
            totals: The runner's own counts: more passes than it counted are in doubt.
        """
        odd = None
        if totals is not None and self.passes() > totals.passed:
            odd = (
                f"{self.passes()} lines say passed, the runner counts {totals.passed}: a test may "
                "have printed one of them"
            )
        against: dict[str, list[Sighting]] = {}
        for sighting in self.printed:
            against.setdefault(sighting.id, []).append(sighting)
        tests = []
        is_sure = odd is None and not against and not self.details
        for test_id, seen in self._in_order():
            if isinstance(seen, int):
                if is_sure:
                    text = self.lines[seen - self.first]
                    tests.append(_passed(test_id, text, self.seconds.get(test_id)))
                    continue
                seen = [self._sighting(test_id, seen)]
            first = seen[0]
            is_plain = len(seen) == 1 and first.doubt is None and odd is None
            if is_plain and test_id not in against and test_id not in self.details:
                tests.append(_plain(first))
            else:
                tests.append(self._test(test_id, seen, against.get(test_id, ()), odd))
        return tuple(tests)

    def _test(
        self,
        test_id: str,
        sightings: Sequence[Sighting],
        printed: Iterable[Sighting],
        odd: str | None,
    ) -> GateTest:
        worst = min(sightings, key=lambda sighting: severity(sighting.outcome))
        outcomes = frozenset(sighting.outcome for sighting in sightings)
        is_natural = len(outcomes) == 1 or outcomes in self.natural
        conflicts = [] if is_natural else [_differing(sightings, worst)]
        conflicts += [
            f"output that looks like a result says {other.outcome.value}, {_quoted(other)}"
            for other in printed
            if other.outcome is not worst.outcome
        ]
        conflicts += [sighting.doubt for sighting in sightings if sighting.doubt]
        if odd is not None and worst.outcome is Outcome.PASSED and not conflicts:
            conflicts.append(odd)
        details = self.details.get(test_id, _NO_DETAILS)
        return GateTest(
            id=test_id,
            group=Group.OTHER,
            outcome=worst.outcome,
            duration_s=next((s.duration_s for s in sightings if s.duration_s is not None), None),
            message=details.message or _message(sightings, worst),
            traceback=details.traceback,
            stdout=details.stdout,
            stderr=details.stderr,
            reported=worst.reported,
            copies=_copies(sightings, is_natural),
            evidence=worst.text[:MAX_LINE],
            conflict=joined(dict.fromkeys(conflicts), "; "),
        )

    def notes(self) -> list[str]:
        """The lines that look like results of tests which the log does not name elsewhere."""
        alone = [sighting for sighting in self.printed if sighting.id not in self]
        notes = [
            f"not a result, a test printed it: {_quoted(sighting)}"
            for sighting in alone[:_MAX_PRINTED_NOTES]
        ]
        if len(alone) > _MAX_PRINTED_NOTES:
            notes.append(f"{len(alone) - _MAX_PRINTED_NOTES} more lines look like results")
        return notes


def _passed(test_id: str, line: str, seconds: float | None) -> GateTest:
    return GateTest(test_id, Group.OTHER, Outcome.PASSED, seconds, evidence=line)


def _plain(sighting: Sighting) -> GateTest:
    """The test of the one line that names it, which is the case of almost all of them."""
    test_id, outcome, _, text, _, duration_s, message, reported, _ = sighting
    return GateTest(
        test_id,
        Group.OTHER,
        outcome,
        duration_s,
        message,
        reported=reported,
        evidence=text[:MAX_LINE],
    )


def _message(sightings: Sequence[Sighting], worst: Sighting) -> str | None:
    same = [sighting for sighting in sightings if sighting.outcome is worst.outcome]
    told = dict.fromkeys(sighting.message for sighting in same)
    return joined(told, "\n")


def _copies(sightings: Sequence[Sighting], is_natural: bool) -> int:
    kinds = Counter((s.channel, s.outcome if is_natural else None) for s in sightings)
    return max(kinds.values())


def _differing(sightings: Sequence[Sighting], worst: Sighting) -> str:
    channels = Counter(sighting.channel for sighting in sightings)
    channel, count = channels.most_common(1)[0]
    if count > 1:
        words = [f"{s.outcome.value} (line {s.line})" for s in sightings if s.channel is channel]
        return f"reported {count} times with different outcomes: {', '.join(words[:6])}"
    others = [s for s in sightings if s.outcome is not worst.outcome]
    return "; ".join(
        f"another line says {other.outcome.value}, {_quoted(other)}" for other in others
    )


def _quoted(sighting: Sighting) -> str:
    text = sighting.text.strip()
    return f"line {sighting.line}: {text[:_CLIPPED]}"


# How a shell, a kernel or a harness says that a program was ended from outside or crashed.
_SHELL = r"^(?:\S+: line \d+: +\d+ |\[\d+\][-+]? *)?"
_KILLED = re.compile(
    rf"{_SHELL}(?P<word>Killed|Terminated|Hangup)\b(?:$|[ :\t])"
    r"|^(?P<oom>.*\b(?:[Oo]ut of memory|oom-kill|OOMKilled)\b.*)$"
)
_CRASHED = re.compile(
    rf"{_SHELL}(?P<word>Segmentation fault|Aborted|Bus error|Floating point exception"
    r"|Illegal instruction)\b(?: \(core dumped\))?(?:$|[ :\t])"
    r"|^(?:\S+::.* )?(?P<fatal>Fatal Python error: .*)$"
)
_TIMED_OUT = re.compile(r"^(?:\+ : ')?(?:>{5} Tests Timed Out|.*\btimed out after \d+ ?s\w*\b)")
# Marks of SWE-bench's harness.
_HARNESS = re.compile(
    r"^(?:\+ : ')?>{5} (?P<word>Patch Apply Failed|Tests Errored|Init Failed|Reset Failed)"
)
_ENDINGS = (
    "illed", "erminated", "Hangup", "emory", "oom", "OOM", "fault", "Aborted", "error",
    "exception", "instruction", "imed ", ">>>>> ",
)  # fmt: skip


def ending(lines: Sequence[str], start: int = 0) -> Gap | None:
    """Why a run ended early, by what stands in the log around it; null where nothing says so.

    Args:
        lines: The log.
        start: First line that may say it.
    """
    for number in range(len(lines) - 1, max(start, len(lines) - _LAST_LINES) - 1, -1):
        line = lines[number]
        if len(line) > _CLIPPED or not any(word in line for word in _ENDINGS):
            continue
        if _TIMED_OUT.match(line):
            return Gap("", f"timed out: {line.strip()}")
        if match := _HARNESS.match(line):
            is_own = match["word"].startswith("Patch")
            return Gap("", f"the harness says: {match['word']}", own_doing=is_own)
        if match := _CRASHED.match(line):
            return Gap("", f"crashed: {match['fatal'] or line.strip()}")
        if match := _KILLED.match(line):
            if match["oom"]:
                return Gap("", f"out of memory: {line.strip()}")
            return Gap("", f"killed, cause unknown: {line.strip()}", own_doing=False)
    return None


def cut_off(what: str, lines: Sequence[str], start: int = 0) -> Gap:
    """The gap of a run without an end.

    Args:
        what: What is not there (`there is no closing line`).
        lines: The log, searched for a reason.
        start: First line that may say it.
    """
    return ending(lines, start) or Gap("", f"{what}: the run was cut off", own_doing=False)
