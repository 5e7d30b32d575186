"""Failures that look like the machine's and not the agent's: known wordings of broken machinery.

Suspects only: a retried error may have done no harm. What many runs share stands in
`shared_failures`. Pure text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arcview.analysis.suggestions import Span, Suggestion, inputs_hash
from arcview.model.results import GateTest

RULE = "infrastructure"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Condition:
    """A documented condition of broken machinery and how it words itself."""

    title: str
    pattern: re.Pattern[str]


def _condition(title: str, pattern: str) -> Condition:
    return Condition(title, re.compile(pattern, re.IGNORECASE))


CONDITIONS = (
    _condition("no container runtime", r"docker(?:\.exe)?: (?:command )?not found"
               r"|executable file not found in \$PATH.*(?:docker|podman|runc)"),
    _condition("container daemon unreachable", r"cannot connect to the docker daemon"
               r"|error while fetching server API version|docker daemon is not running"),
    _condition("container socket missing", r"docker\.sock[^\n]*(?:no such file|permission denied)"),
    _condition("address pool exhausted", r"all predefined address pools have been fully subnetted"
               r"|could not find an available.{0,40}address pool"),
    _condition("image not there", r"manifest (?:for \S+ )?(?:not found|unknown)|no such image"
               r"|pull access denied|toomanyrequests"),
    _condition("disk full", r"no space left on device|disk quota exceeded"),
    _condition("out of memory", r"cannot allocate memory|out of memory: killed process|oom-?kill"),
    _condition("too many files or processes", r"too many open files"
               r"|resource temporarily unavailable"),
    _condition("no network", r"temporary failure in name resolution|name or service not known"
               r"|network is unreachable|could not resolve host|no route to host"),
    _condition("package registry unreachable", r"could not fetch URL|EAI_AGAIN"
               r"|failed to download (?:and build )?\S+.*(?:error sending|timed out|registry)"),
    _condition("server did not start", r"server (?:did not|failed to) (?:start|become ready)"
               r"|timed out waiting for (?:the )?(?:web ?)?server"),
    _condition("port taken", r"address already in use|EADDRINUSE"),
    _condition("provider limit", r"rate limit exceeded|\b429\b.{0,40}too many requests"
               r"|overloaded_error|insufficient_quota"),
    _condition("test tool missing", r"No module named ['\"]?(?:pytest|_pytest|pluggy|nose|tox)\b"
               r"|pytest: (?:command )?not found"),
)  # fmt: skip
"""From public documentation and issue reports; a caller may add their own."""


def condition_in(
    text: str, conditions: Sequence[Condition] = CONDITIONS
) -> tuple[Condition, int, int] | None:
    """The first known condition that a text words, and where."""
    for condition in conditions:
        found = condition.pattern.search(text)
        if found is not None:
            return condition, found.start(), found.end()
    return None


_SHARE = 0.8
"""The share of a gate's failures from which one condition stands for the gate."""


def suggest_infrastructure(
    tests: Sequence[tuple[str, GateTest]], conditions: Sequence[Condition] = CONDITIONS
) -> Iterator[Suggestion]:
    """V3 where one condition is worded in at least 80 % of a gate's failures.

    Args:
        tests: (Address, test) of its failing tests.
        conditions: What to look for.
    """
    found: dict[str, list[Span]] = {}
    for address, test in tests:
        text = "\n".join(filter(None, (test.message, test.traceback, test.stderr)))
        hit = condition_in(text, conditions)
        if hit is not None:
            condition, start, end = hit
            found.setdefault(condition.title, []).append(_line_span(address, text, start, end))
    for title, spans in found.items():
        if len(spans) >= _SHARE * len(tests):
            reason = f"{len(spans)} of {len(tests)} failures say: {title}"
            yield Suggestion(
                "validity", "V3", f"V3 {title}", reason, RULE, VERSION,
                inputs_hash(title, [span.address for span in spans]), spans=tuple(spans[:5]),
            )  # fmt: skip


def _line_span(address: str, text: str, start: int, end: int) -> Span:
    """The line around a match."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    line = text[first : last if last >= 0 else len(text)]
    return Span(address, line, start - first, end - first)
