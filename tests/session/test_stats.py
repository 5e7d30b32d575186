"""Statistics from run folders to JSON, CSV and text, against counts made from the raw files."""

from __future__ import annotations

import csv
import filecmp
import json
import tarfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from pydantic import BaseModel

from arcview.analysis.statistics import Group, StatsPolicy
from arcview.analysis.verdicts import Policy
from arcview.cli import main
from arcview.config import Settings
from arcview.errors import ArcviewError, CancelledError
from arcview.schema.faults import find_faults
from arcview.schema.stats import StatsFile
from arcview.session import twin
from arcview.session.plain_text_parts import Glyphs
from arcview.session.stats import Corpus, collect
from arcview.session.stats_json import stats_csv, stats_json
from arcview.session.stats_text import stats_lines
from tests.session.boolean_runs import write_run

CLEAN = StatsPolicy(resamples=100)


def counted(group: Group, name: str) -> tuple[int, int]:
    figure = group.figures[name]
    return figure.k, figure.n


def as_json(corpus: Corpus, policy: StatsPolicy = CLEAN) -> Any:
    """As another program reads it."""
    return json.loads(twin.dumps(stats_json(corpus.statistics(policy), corpus.root)))


# The eight real runs, counted again here straight from their files.


@pytest.fixture(scope="session")
def real_runs(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    for packed in sorted((cases / "scb").glob("*.tar.xz")):
        with tarfile.open(packed) as archive:
            archive.extractall(root, filter="data")
    return root


@pytest.fixture(scope="session")
def real_corpus(real_runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return collect(real_runs, cache_root=tmp_path_factory.mktemp("cache"))


def load(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


class RawStage:
    """A checkpoint as its own files tell it: whether new and old tests are all ok."""

    def __init__(self, folder: Path) -> None:
        evaluation = folder / "evaluation.json"
        self.folder = folder
        self.f2p: bool | None = None
        self.p2p: bool | None = None
        if evaluation.exists() and not load(evaluation)["infrastructure_failure"]:
            groups = load(evaluation)["tests"].items()
            ok = {name: not (lists["failed"] or lists.get("skipped")) for name, lists in groups}
            self.f2p = all(good for name, good in ok.items() if not name.endswith("-Regression"))
            self.p2p = all(good for name, good in ok.items() if name.endswith("-Regression"))
        inference = folder / "inference_result.json"
        self.result = load(inference) if inference.exists() else {}
        self.is_clean = not self.result.get("had_error")

    @property
    def passed(self) -> bool | None:
        return None if self.f2p is None or self.p2p is None else self.f2p and self.p2p


def raw_runs(root: Path) -> Iterator[list[RawStage]]:
    for run in sorted(root.iterdir()):
        folders = sorted(run.glob("checkpoint_*"), key=lambda f: int(f.name.rpartition("_")[2]))
        yield [RawStage(folder) for folder in folders]


def fraction(answers: list[bool | None]) -> tuple[int, int]:
    known = [answer for answer in answers if answer is not None]
    return sum(known), len(known)


def raw_pairs(root: Path) -> Iterator[tuple[RawStage, RawStage]]:
    for stages in raw_runs(root):
        for before, stage in pairwise(stages):
            if before.is_clean and stage.is_clean:
                yield before, stage


def test_shares_of_the_real_runs_equal_a_count_from_their_reports(
    real_runs: Path, real_corpus: Corpus
) -> None:
    found = real_corpus.statistics(CLEAN).all
    firsts = [stages[0] for stages in raw_runs(real_runs)]
    first = fraction([stage.passed for stage in firsts if stage.is_clean])
    assert counted(found, "first_stage_pass") == first == (3, 5)
    pairs = list(raw_pairs(real_runs))
    after_fail = fraction([stage.f2p for before, stage in pairs if before.passed is False])
    after_pass = fraction([stage.f2p for before, stage in pairs if before.passed])
    assert counted(found, "f2p_after_fail") == after_fail == (2, 10)
    assert counted(found, "f2p_after_pass") == after_pass == (3, 5)
    clean = [stage for stages in raw_runs(real_runs) for stage in stages if stage.is_clean]
    regression = fraction([not stage.p2p for stage in clean if stage.f2p])
    assert counted(found, "regression") == regression == (3, 8)


def test_stages_of_the_real_runs_are_counted_by_position(
    real_runs: Path, real_corpus: Corpus
) -> None:
    positions: dict[int, list[bool | None]] = {}
    for stages in raw_runs(real_runs):
        for number, stage in enumerate(stages, 1):
            if stage.is_clean:
                positions.setdefault(number, []).append(stage.passed)
    expected = [fraction(positions.get(number, [])) for number in range(1, 9)]
    found = real_corpus.statistics(CLEAN).all.lists["stage_pass"]
    assert [(figure.k, figure.n) for figure in found] == expected


def test_the_recorded_policy_counts_the_stages_whose_agent_failed(real_corpus: Corpus) -> None:
    found = real_corpus.statistics(StatsPolicy("as-recorded", resamples=10)).all
    # By hand: stage 6 of circuit-eval and stage 1 of recli have verdicts and agent errors.
    assert counted(found, "first_stage_pass") == (3, 6)
    assert counted(found, "f2p_after_fail") == (2, 11)
    assert [(f.k, f.n) for f in found.lists["stage_pass"]][5] == (0, 1)


def test_what_the_real_runs_broke_and_healed_was_counted_by_hand(real_corpus: Corpus) -> None:
    found = real_corpus.statistics(CLEAN).all
    # circuit-eval 3 breaks one test; 4 and 5 inherit theirs (one is broken by a pass between).
    assert counted(found, "regression_true") == (1, 8)
    assert counted(found, "regression_inherited") == (2, 8)
    # Healed: circuit-eval 3 (18), code-search-collapse 3 (9) and 4 (1), database-migration 2 (19).
    # Not: circuit-eval 4, 5, code-search-collapse 5, database-migration 3, 4, 5, mvvault 2.
    assert counted(found, "healed") == (4, 11)


def test_how_failures_of_the_real_runs_begin_and_last_was_counted_from_their_reports(
    real_corpus: Corpus,
) -> None:
    # Counted from evaluation/report.json and after_skill/evaluation/report.json by a script of its
    # own; a stage that was interrupted before its gate begins with debt all the same.
    group = real_corpus.statistics(CLEAN).all
    lists = {name: [(f.k, f.n) for f in found] for name, found in group.lists.items()}
    assert lists["hazard"][:3] == [(2, 5), (1, 3), (2, 2)]
    assert lists["debt"][1:5] == [(2, 5), (4, 5), (3, 3), (3, 3)]
    assert lists["healed_at_age"][:4] == [(0, 9), (0, 6), (0, 4), (0, 1)]
    found = group.half_life
    assert (found.stages, found.n, found.followed, found.left_out) == (None, 9, 4, 4)


def test_a_team_words_broken_machinery_of_its_own(tmp_path: Path) -> None:
    side = tmp_path / "side"
    side.mkdir()
    wording = '[[condition]]\ntitle = "our queue"\npattern = "queue full"\n'
    (side / "infrastructure.toml").write_text(wording, encoding="utf-8")
    corpus = collect(tmp_path, settings=Settings(sidecar=side))
    assert corpus.conditions[0].title == "our queue"


@pytest.mark.parametrize("command", ["stats", "agreement"])
def test_the_environment_comes_before_the_settings(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = tmp_path / "config" / "arcview"
    settings.mkdir(parents=True)
    (settings / "config.toml").write_text(f'sidecar = "{tmp_path / "set"}"\n', encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("ARCVIEW_SIDECAR", str(tmp_path / "env"))
    (tmp_path / "set").mkdir()
    for name in ("scheme.toml", "infrastructure.toml"):
        (tmp_path / "set" / name).write_text("= broken", encoding="utf-8")
    write_run(tmp_path / "runs" / "r", [True])
    assert main([command, str(tmp_path / "runs")]) == 0


def test_suggested_awareness_is_marked_as_such(real_corpus: Corpus) -> None:
    statistics = real_corpus.statistics(CLEAN)
    assert counted(statistics.all, "unnoticed_n3") == (9, 10)
    assert counted(statistics.all, "awareness_labelled") == (0, 10)
    text = "\n".join(stats_lines(statistics, "runs", Glyphs()))
    assert "not acknowledged (below N3) *" in text
    assert "* with levels that rules suggested and no person labelled" in text
    labels = {(run.run_id, stage.index): 5 for run in real_corpus.runs for stage in run.stages}
    labelled = real_corpus.statistics(CLEAN, levels=labels)
    assert counted(labelled.all, "unnoticed_n5") == (0, 11)
    assert "(below N3) *" not in "\n".join(stats_lines(labelled, "runs", Glyphs()))


def test_cost_and_time_of_passed_stages_equal_the_raw_files(
    real_runs: Path, real_corpus: Corpus
) -> None:
    passed = [s for stages in raw_runs(real_runs) for s in stages if s.passed and s.is_clean]
    found = real_corpus.statistics(CLEAN).all.medians
    cost = median(stage.result["usage"]["cost"] for stage in passed)
    time = median(stage.result["elapsed"] for stage in passed)
    assert found["cost_per_passed_stage_usd"].median == pytest.approx(cost)
    assert found["time_per_passed_stage_s"].median == pytest.approx(time)
    assert found["time_per_passed_stage_s"].n == len(passed) == 5


def changed_files(before: Path, after: Path) -> set[str]:
    names = {
        str(file.relative_to(root))
        for root in (before, after)
        for file in root.rglob("*")
        if file.is_file()
    }
    return {
        name
        for name in names
        if not ((before / name).is_file() and (after / name).is_file())
        or not filecmp.cmp(before / name, after / name, shallow=False)
    }


def test_shared_files_of_a_real_run_equal_a_comparison_of_its_snapshots(
    real_runs: Path, real_corpus: Corpus, tmp_path: Path
) -> None:
    (facts,) = (run for run in real_corpus.runs if run.name == "code-search-collapse")
    run = real_runs / "code-search-collapse"
    before, touched = tmp_path, set[str]()
    for stage in facts.stages:
        after = run / f"checkpoint_{stage.index}" / "snapshot"
        changed = changed_files(before, after)
        assert stage.change is not None
        assert stage.change.files_with_tests == len(changed)
        assert stage.change.shared_with_tests == len(changed & touched)
        before, touched = after, touched | changed


def test_what_is_left_out_of_the_real_runs_is_listed_with_its_reason(real_corpus: Corpus) -> None:
    excluded = {(e.run, e.stage): e.reason for e in real_corpus.statistics(CLEAN).excluded}
    assert excluded["circuit-eval", 6] == "status agent_error"
    assert excluded["recli-nothing-built", 2] == "status not_started"
    assert excluded["mvvault-interrupted", 4] == "status not_started"
    assert "Permission denied" in excluded["file-backup-infra", 1]
    assert excluded["mocked-http-no-evaluation", 1] == "gate unmeasured: no evaluation.json"


def undescribed(value: object) -> Iterator[str]:
    """The names that no model describes, at any depth."""
    if isinstance(value, BaseModel):
        yield from value.model_extra or {}
        for _, item in value:
            yield from undescribed(item)
    elif isinstance(value, list):
        for item in value:
            yield from undescribed(item)


def test_the_json_of_the_real_runs_keeps_to_its_schema(real_corpus: Corpus) -> None:
    found = as_json(real_corpus)
    assert find_faults(StatsFile, found) == ()
    assert list(undescribed(StatsFile.model_validate(found))) == []
    assert found["schema"] == "arcview/stats/1"
    assert found["all"]["executed"] is None
    assert found["groups"] == {}


# Runs made from booleans.


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """73 tasks, 61 of which pass the first stage and 36 the chain gate."""
    root = tmp_path / "runs"
    for number in range(73):
        stages = [number < 61, number < 36]
        write_run(root / f"task-{number}", stages, number < 36, task=f"task-{number}")
    return root


def test_a_corpus_from_booleans_gives_the_published_shares_and_intervals(published: Path) -> None:
    found = as_json(collect(published))["all"]
    first, chain = found["first_stage_pass"], found["completion_chain"]
    assert (first["k"], first["n"]) == (61, 73)
    assert (round(first["low"], 3), round(first["high"], 3)) == (0.734, 0.903)
    assert (chain["k"], chain["n"]) == (36, 73)
    assert (round(chain["low"], 3), round(chain["high"], 3)) == (0.382, 0.605)
    assert found["completion_strict"]["k"] == 36
    assert first["clustered"] is None


def test_the_text_says_counts_percentages_and_policy(published: Path) -> None:
    statistics = collect(published).statistics(CLEAN)
    text = "\n".join(stats_lines(statistics, "runs", Glyphs()))
    assert "73 runs of 73 tasks, 146 stages with a verdict" in text
    line = next(line for line in text.splitlines() if "first stage passes" in line)
    assert line.split() == ["first", "stage", "passes", "61/73", "83.6", "%", "73.4–90.3"]
    assert "Policy clean: leaves out stages with status agent_error" in text
    assert "task difficulty alone can produce this gap" in text
    assert "no gate was run again on another state" in text
    assert "Nothing is left out" in text


def test_the_text_has_no_percentage_under_ten(tmp_path: Path) -> None:
    for number in range(9):
        write_run(tmp_path / f"r{number}", [True, False], True, task=f"t{number}")
    statistics = collect(tmp_path).statistics(CLEAN, "task")
    lines = list(stats_lines(statistics, "runs", Glyphs()))
    figures = [line for line in lines if line.startswith("  ") and "/9" in line]
    assert any("9/9" in line for line in figures)
    assert not [line for line in figures if "%" in line]


def test_a_second_look_reads_no_run(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = collect(published)

    def refuse(*_: object) -> None:
        raise AssertionError("a run was read again")

    monkeypatch.setattr("arcview.readers.registry.open_run", refuse)
    assert collect(published) == first


def test_a_changed_result_is_counted_anew(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [True])
    assert counted(collect(tmp_path).statistics(CLEAN).all, "first_stage_pass") == (1, 1)
    write_run(tmp_path / "a", [False])
    assert counted(collect(tmp_path).statistics(CLEAN).all, "first_stage_pass") == (0, 1)


def test_outcome_policies_have_facts_of_their_own(tmp_path: Path) -> None:
    write_run(tmp_path / "a", ["skipped"])
    lenient = Policy(skip_ok=True)
    for _ in range(2):
        strict = collect(tmp_path).statistics(CLEAN).all
        loose = collect(tmp_path, outcomes=lenient).statistics(StatsPolicy(outcomes=lenient)).all
        assert counted(strict, "first_stage_pass") == (0, 1)
        assert counted(loose, "first_stage_pass") == (1, 1)
    with pytest.raises(ValueError, match="another outcome policy"):
        collect(tmp_path).statistics(StatsPolicy(outcomes=lenient))


def test_a_run_that_cannot_be_read_is_left_out_and_listed(tmp_path: Path) -> None:
    write_run(tmp_path / "good", [True])
    write_run(tmp_path / "bad", [True])
    (tmp_path / "bad" / "run.json").write_text('{"schema": "arcview/run/1"')
    found = collect(tmp_path)
    assert [run.name for run in found.runs] == ["good"]
    (broken,) = found.statistics(CLEAN).excluded
    assert (broken.run, broken.stage) == ("bad", None)
    assert "run.json" in broken.reason


def test_progress_is_told_and_cancelling_stops(tmp_path: Path) -> None:
    for name in "abc":
        write_run(tmp_path / name, [True])
    told: list[tuple[int, int, str]] = []
    collect(tmp_path, progress=lambda *at: told.append(at))
    assert told == [(0, 3, "a"), (1, 3, "b"), (2, 3, "c")]
    with pytest.raises(CancelledError):
        collect(tmp_path, cancelled=lambda: True)


def test_whoever_stops_waits_for_one_stage_at_most(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [True] * 4)
    asked: list[bool] = []

    def cancelled() -> bool:
        asked.append(len(asked) == 3)
        return asked[-1]

    with pytest.raises(CancelledError):
        collect(tmp_path, cancelled=cancelled)
    assert asked == [False, False, False, True]
    assert [len(run.stages) for run in collect(tmp_path, cancelled=lambda: False).runs] == [4]


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ArcviewError, match="no such folder"):
        collect(tmp_path / "nowhere")


def test_text_for_plain_terminals_is_ascii(published: Path) -> None:
    write_run(published / "copy", [True, True], True, task="task-0")
    statistics = collect(published).statistics(CLEAN)
    text = "\n".join(stats_lines(statistics, "runs", Glyphs.for_encoding("ascii")))
    assert text.isascii()
    assert "Runs with one id, each counted: copy, task-0." in text


def test_names_from_runs_reach_no_terminal_and_no_spreadsheet_unclean(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [None], agent="=cmd()\x1b[31m\nx", task="t\x1b]0;x\x07")
    statistics = collect(tmp_path).statistics(CLEAN, "agent")
    text = "\n".join((*stats_lines(statistics, "a\x1b", Glyphs()), *stats_csv(statistics)))
    assert "\x1b" not in text
    assert "\x07" not in text
    rows = list(csv.DictReader(stats_csv(statistics)))
    assert {row["group"] for row in rows} == {"", "'=cmd()␛[31m x"}


def test_csv_has_one_line_a_figure_and_group(published: Path) -> None:
    statistics = collect(published).statistics(CLEAN, "agent")
    rows = list(csv.DictReader(stats_csv(statistics)))
    firsts = [row for row in rows if row["figure"] == "first_stage_pass"]
    assert [(row["group"], row["k"], row["n"]) for row in firsts] == [
        ("", "61", "73"), ("scripted-demo", "61", "73")
    ]  # fmt: skip
    positions = [row["position"] for row in rows if row["figure"] == "survival"]
    assert positions == ["1", "2", "1", "2"]
    assert not any("%" in cell for row in rows for cell in row.values())


# The command.


def test_the_command_prints_text_json_or_csv(
    published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", str(published)]) == 0
    assert "61/73" in capsys.readouterr().out
    assert main(["stats", str(published), "--json", "--by", "language"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["groups"]["python"]["first_stage_pass"]["k"] == 61
    assert main(["stats", str(published), "--csv"]) == 0
    assert capsys.readouterr().out.startswith("group,figure,position,k,n,")


def test_switches_reach_the_printed_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "a", ["skipped", True], statuses={2: "agent_error"})
    options = ["--policy", "as-recorded", "--skip-ok", "--no-xfail-ok", "--count-tests"]
    assert main(["stats", str(tmp_path), "--json", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    policy = found["policy"]
    assert (policy["name"], policy["leaves_out"]) == ("as-recorded", [])
    assert (policy["skip_ok"], policy["xfail_ok"], policy["count_tests"]) == (True, False, True)
    assert found["all"]["stage_pass"][1]["n"] == 1


def test_the_command_says_what_each_figure_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--figures"]) == 0
    assert capsys.readouterr().out.startswith("first_stage_pass ")


@pytest.mark.parametrize(
    "arguments", [["stats"], ["stats", "nowhere"], ["stats", "x", "--by", "y"]]
)
def test_wrong_use_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_without_runs_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(tmp_path)]) == 0
    assert "no runs below" in capsys.readouterr().err
