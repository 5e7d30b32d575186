"""Failures that look like the machine's: known wordings."""

from __future__ import annotations

import pytest

from arcview.analysis.infrastructure import condition_in, suggest_infrastructure
from arcview.model.results import GateTest, Group, Outcome


def failing(message: str) -> GateTest:
    return GateTest("t", Group.F2P, Outcome.ERROR, message=message)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("bash: docker: command not found", "no container runtime"),
        (
            "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
            "container daemon unreachable",
        ),
        ("dial unix /var/run/docker.sock: no such file or directory", "container socket missing"),
        (
            "Error: all predefined address pools have been fully subnetted",
            "address pool exhausted",
        ),
        ("OSError: [Errno 28] No space left on device", "disk full"),
        ("fork: Resource temporarily unavailable", "too many files or processes"),
        ("Temporary failure in name resolution", "no network"),
        ("OSError: [Errno 98] Address already in use", "port taken"),
        ("/usr/bin/python: No module named pytest", "test tool missing"),
        ("TimeoutError: timed out waiting for server", "server did not start"),
    ],
)
def test_documented_conditions_are_known(text: str, title: str) -> None:
    found = condition_in(text)
    assert found is not None
    assert found[0].title == title


@pytest.mark.parametrize(
    "text",
    ["AssertionError: assert 3 == 2", "No module named 'notes'", "ValueError: disk", "timed out"],
)
def test_an_ordinary_failure_is_none_of_them(text: str) -> None:
    assert condition_in(text) is None


def test_v3_is_proposed_where_nearly_all_failures_say_so() -> None:
    broken = failing("setup\nOSError: [Errno 28] No space left on device\nmore")
    tests = [(f"gate:1/f2p/{n}", broken) for n in range(4)]
    tests.append(("gate:1/f2p/x", failing("assert 1 == 2")))
    (found,) = suggest_infrastructure(tests)
    assert (found.code, found.reason) == ("V3", "4 of 5 failures say: disk full")
    span = found.spans[0]
    assert span.text == "OSError: [Errno 28] No space left on device"
    assert span.text[span.start : span.end] == "No space left on device"


def test_one_such_failure_among_others_is_no_reason() -> None:
    tests = [
        ("a", failing("No space left on device")),
        ("b", failing("assert 1 == 2")),
        ("c", failing("assert 1 == 3")),
    ]
    assert list(suggest_infrastructure(tests)) == []
