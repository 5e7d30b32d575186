"""The reports that the runners of each language write, read back from real containers."""

from __future__ import annotations

from collections.abc import Callable

from arcview.model.results import Outcome, Verdict
from tests.gates.conftest import Sit
from tests.gates.small_run import SmallRun

GO_TEST = """
package demo

import ("fmt"; "testing")

func TestGood(t *testing.T) { fmt.Println("--- PASS: TestBad (0.00s)") }
func TestBad(t *testing.T) { t.Fatal("no") }
"""

VITEST = """
import { test, expect } from "vitest"
test("good", () => { expect(1).toBe(1) })
test("bad", () => { expect(1).toBe(2) })
"""


def test_go(sit: Sit, gate_image: Callable[[str], str]) -> None:
    small = SmallRun(
        command=("sh", "-c", "go test -json -count=1 ./... >report.jsonl"),
        files={"go.mod": "module example.com/demo\n\ngo 1.20\n", "demo_test.go": GO_TEST},
        report="report.jsonl",
        f2p=("example.com/demo TestGood", "example.com/demo TestBad"),
        image={"ref": gate_image("go")},
    )
    result = sit(small).once()
    assert (result.verdict, result.reason) == (Verdict.FAILED, None), result.logs
    assert [t.outcome for t in result.tests if not t.extra] == [Outcome.PASSED, Outcome.FAILED]


def test_go_that_does_not_compile(sit: Sit, gate_image: Callable[[str], str]) -> None:
    small = SmallRun(
        command=("sh", "-c", "go test -json -count=1 ./... >report.jsonl"),
        files={"go.mod": "module example.com/demo\n\ngo 1.20\n", "demo_test.go": "package demo\nx"},
        report="report.jsonl",
        f2p=("example.com/demo TestGood",),
        image={"ref": gate_image("go")},
    )
    result = sit(small).once()
    assert result.verdict is Verdict.FAILED
    assert [t.outcome for t in result.tests if not t.extra] == [Outcome.NOT_RUN]


def test_vitest(sit: Sit, gate_image: Callable[[str], str]) -> None:
    command = ("vitest", "run", "--reporter=json", "--outputFile=report.json")
    small = SmallRun(
        command=command,
        files={"a.test.ts": VITEST, "package.json": '{"type": "module"}'},
        f2p=("a.test.ts > good", "a.test.ts > bad"),
        image={"ref": gate_image("node")},
    )
    result = sit(small).once()
    assert (result.verdict, result.reason) == (Verdict.FAILED, None), result.logs[0].read_text()
    assert [t.outcome for t in result.tests if not t.extra] == [Outcome.PASSED, Outcome.FAILED]


def test_nextest(sit: Sit, gate_image: Callable[[str], str]) -> None:
    config = '[profile.arcview.junit]\npath = "report.xml"\n'
    source = '#[test]\nfn good() {}\n#[test]\nfn bad() { panic!("no") }\n'
    command = ("cargo", "nextest", "run", "--no-fail-fast", "--profile", "arcview")
    small = SmallRun(
        command=(*command, "--tool-config-file", "arcview:/repo/nextest-arcview.toml"),
        files={
            "Cargo.toml": '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": source,
        },
        overlay={"nextest-arcview.toml": config},
        report="target/nextest/arcview/report.xml",
        f2p=("demo good", "demo bad"),
        image={"ref": gate_image("rust")},
    )
    result = sit(small).once()
    assert (result.verdict, result.reason) == (Verdict.FAILED, None)
    assert [t.outcome for t in result.tests if not t.extra] == [Outcome.PASSED, Outcome.FAILED]
