"""The report of one run: complete, self-contained, and safe whatever a run holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from arcview import cli
from arcview.session.export import export
from arcview.session.opened import OpenRun
from tests.readers.native_run import full_run, result_line

Scb = Callable[[str], Path]
Capture = pytest.CaptureFixture[str]

KEY = "sk-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
HOSTILE = (
    "</pre><script>alert(1)</script> <img src=x onerror=alert(1)> \x1b]0;owned\x07 \u202e "
    f"```\n# heading\n[link](javascript:alert(1)) https://evil.example | {KEY} &amp; \x00"
)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A run in which every text that it names itself is hostile."""
    run = full_run(tmp_path / "run")
    run.run["task_id"] = run.run["agent"]["name"] = HOSTILE
    run.chain["stages"][0]["title"] = HOSTILE
    run.chain["gates"][0]["f2p"] = [HOSTILE, "t::b"]
    run.write_result(
        "stages/1/gate",
        "1",
        "S1",
        verdict="failed",
        f2p={"expected": 2, "passed": 0, "failed": 2},
        p2p={"expected": 0},
    )
    texts = dict.fromkeys(("message", "traceback", "stdout", "stderr"), HOSTILE)
    run.write_tests(
        "stages/1/gate",
        [result_line(i, "f2p", "failed", **texts) for i in (HOSTILE, "t::b")],
    )
    run.write_text(f"stages/1/workspace/{'<b>' + chr(0x202E)}.py", "x = 1\n")
    return run.write()


class Elements(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_of_a_hostile_run_holds_no_element_of_its_own(hostile: Path) -> None:
    found = Elements(export(OpenRun.open(hostile), "html"))

    assert set(found.tags) <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "pre", "code",
        "ul", "li", "table", "tr", "th", "td", "span", "details", "summary",
    }  # fmt: skip
    assert found.open == []
    assert "<script>alert(1)</script>" in found.text


def test_html_loads_nothing_and_runs_nothing(hostile: Path) -> None:
    document = export(OpenRun.open(hostile), "html")
    found = Elements(document)

    assert {name for name, _ in found.attributes} <= {
        "lang", "charset", "http-equiv", "content", "name", "class", "id", "open",
    }  # fmt: skip
    assert "default-src 'none'" in document
    assert "url(" not in document.partition("</style>")[0]
    assert "@import" not in document


@pytest.mark.parametrize("format_", ["md", "html"])
def test_no_control_and_no_secret_gets_into_a_report(hostile: Path, format_: Any) -> None:
    document = export(OpenRun.open(hostile), format_)

    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", document)
    assert KEY not in document
    assert KEY[8:] not in document
    assert "[masked]" in document.replace("\\", "")


def test_markdown_of_a_hostile_run_has_only_our_structure(hostile: Path) -> None:
    document = export(OpenRun.open(hostile), "md")
    outside, fence = [], ""
    for line in document.splitlines():
        ticks = re.match("`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
        elif ticks:
            fence = ticks[0]
        else:
            outside.append(re.sub(r"(`+).+?\1", "", line))

    assert fence == ""
    prose = "\n".join(outside)
    assert "<script" not in re.sub(r"\\<", "", prose)
    assert not re.search(r"(?<!\\)\]\(", prose)
    assert "https://" not in prose
    assert [line for line in outside if re.match("#+ ", line) and "heading" in line[:12]] == []


def test_a_report_holds_every_failing_test_with_what_it_leads_to(demo_run: Path) -> None:
    run = OpenRun.open(demo_run)
    text = Elements(export(run, "html")).text

    for stage in (1, 2, 3, 4):
        for failing in run.gate_view(str(stage)).failing:
            assert failing.test.id in text
    assert "notes/store.py:30 in from_dict · written by stage 3 #2 (exact)" in text
    assert 'closing claim #7: "The whole suite passes." while the gate failed' in text
    assert "broken again here" in text


def test_a_report_names_every_changed_file(demo_run: Path) -> None:
    text = export(OpenRun.open(demo_run), "md")
    for name in ("notes/search.py", "tests/test_search.py", "notes/importer.py"):
        assert f"`{name}`" in text


def test_what_was_not_measured_is_said(scb: Scb) -> None:
    text = Elements(export(OpenRun.open(scb("file-backup-infra")), "html")).text
    assert "not measured: infrastructure" in text
    assert "? unmeasured" in text


def test_a_long_text_is_cut_with_a_mark(tmp_path: Path) -> None:
    made = full_run(tmp_path / "run")
    made.write_gate(1, {"t::a": "failed"})
    lines = [result_line("t::a", "f2p", "failed", message="x" * 50_000)]
    made.write_tests("stages/1/gate", [*lines, result_line("t::b", "f2p", "passed")])
    text = export(OpenRun.open(made.write()), "md")

    assert "30,000 more characters" in text
    assert "x" * 20_001 not in text


def test_one_stage_can_be_picked(demo_run: Path) -> None:
    text = export(OpenRun.open(demo_run), "md", stage=3)
    assert "## Stage 3" in text
    assert "## Stage 2" not in text
    assert "## Chain gate" not in text


def test_the_same_run_gives_the_same_report(demo_run: Path) -> None:
    assert export(OpenRun.open(demo_run), "html") == export(OpenRun.open(demo_run), "html")


def test_the_command_writes_a_file(demo_run: Path, tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "report.html"
    assert cli.main(["export", str(demo_run), "--format", "html", "-o", str(target)]) == 0
    assert capsys.readouterr().out == ""
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_command_prints_without_a_file(demo_run: Path, capsys: Capture) -> None:
    assert cli.main(["export", str(demo_run), "--format", "md", "--stage", "1"]) == 0
    assert capsys.readouterr().out.startswith("# notes-cli · scripted-demo 1\n")


def test_nothing_is_written_into_a_run(demo_run: Path, capsys: Capture) -> None:
    target = demo_run / "report.md"
    assert cli.main(["export", str(demo_run), "--format", "md", "-o", str(target)]) == 2
    assert "lies inside the run folder" in capsys.readouterr().err
    assert not target.exists()


def test_a_file_that_cannot_be_written_is_one_line(
    demo_run: Path, tmp_path: Path, capsys: Capture
) -> None:
    target = tmp_path / "no" / "report.md"
    assert cli.main(["export", str(demo_run), "--format", "md", "-o", str(target)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "cannot be written" in error
