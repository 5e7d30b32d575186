"""A plain repository as a run: what its stages are, and that nothing in it ever runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from arcview.errors import ArcviewError, BadInputError, UnknownLayoutError
from arcview.model.states import EmptySource, FolderSource, RepositorySource
from arcview.readers.protocols import Given
from arcview.readers.registry import OpenedRun, find_run_reader, iter_runs, open_run
from arcview.session import twin
from arcview.session.opened import OpenRun
from tests.readers.git_run import commit, tag
from tests.readers.harbor_trial import step, write_trial
from tests.readers.scb_run import session_file, write
from tests.states.workspaces import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "chain"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def titles(opened: OpenedRun) -> list[str | None]:
    return [stage.title for stage in opened.run.stages]


def three(folder: Path) -> list[str]:
    return [commit(folder, f"part {i}", i, **{"x.py": f"{i}\n"}) for i in range(3)]


# -- what the stages are


def test_without_tags_every_commit_after_the_first_is_a_stage(repository: Path) -> None:
    ids = three(repository)
    opened = open_run(repository)
    assert find_run_reader(repository)[0].id == "git_repository"
    assert titles(opened) == ["part 1", "part 2"]
    assert [state.source for state in opened.run.states] == [
        RepositorySource(".git", commit_id) for commit_id in ids
    ]
    assert opened.run.stages[0].notes[-1] == "a commit per stage; the start is the first commit"


def test_a_single_commit_is_a_stage_on_an_empty_start(repository: Path) -> None:
    commit(repository, "all of it", 0, **{"x.py": "1\n"})
    opened = open_run(repository)
    assert titles(opened) == ["all of it"]
    assert opened.run.states[0].source == EmptySource()


@pytest.mark.parametrize("names", [("stage-1", "stage-2"), ("s1", "s2"), ("agent/M1", "agent/M2")])
def test_tags_of_stages_win_over_commits(repository: Path, names: tuple[str, str]) -> None:
    ids = [*three(repository), commit(repository, "later", 5, **{"x.py": "9\n"})]
    for name, place in zip(names, (1, 3), strict=True):
        tag(repository, name, ids[place])
    opened = open_run(repository)
    assert titles(opened) == ["part 1", "later"]
    assert opened.run.stages[0].notes[0] == f"{names[0]}, commit {ids[1][:12]}"
    assert opened.run.states[0].source == RepositorySource(".git", ids[0])


def test_a_tag_of_the_start_is_the_start(repository: Path) -> None:
    ids = three(repository)
    for name, commit_id in zip(("stage-0", "stage-1", "stage-2"), ids, strict=True):
        tag(repository, name, commit_id)
    opened = open_run(repository)
    assert titles(opened) == ["part 1", "part 2"]
    assert opened.run.stages[0].notes[-1] == "a tag per stage; the start is stage-0"


def test_tags_that_mean_something_else_are_left_alone(repository: Path) -> None:
    tag(repository, "v1.0", three(repository)[2])
    assert titles(open_run(repository)) == ["part 1", "part 2"]


def test_two_stages_may_end_at_one_commit(repository: Path) -> None:
    ids = three(repository)
    tag(repository, "stage-1", ids[1])
    tag(repository, "stage-2", ids[1])
    opened = open_run(repository)
    assert titles(opened) == ["part 1", "part 1"]
    assert opened.run.states[1].source == opened.run.states[2].source


def test_a_long_history_is_no_run(repository: Path) -> None:
    for minute in range(203):
        commit(repository, str(minute), minute)
    with pytest.raises(BadInputError, match="202 commits after the start: too many to be stages"):
        open_run(repository)
    last = open_run(repository, given=Given(base="HEAD~2"))
    assert titles(last) == ["201", "202"]


def test_a_repository_without_commits_is_one_clear_line(repository: Path) -> None:
    with pytest.raises(BadInputError, match="a git repository without a commit"):
        open_run(repository)


# -- repositories that hold runs


def test_a_repository_of_runs_is_a_collection_and_no_run(repository: Path) -> None:
    three(repository)
    trial = write_trial(repository / "results" / "job", [step("one")])
    with pytest.raises(UnknownLayoutError, match=rf"such as {trial} \(--as git_repository reads"):
        find_run_reader(repository)
    assert list(iter_runs(repository)) == [trial]
    assert titles(open_run(repository, layout="git_repository")) == ["part 1", "part 2"]


def test_a_repository_with_stages_is_a_run_whatever_it_holds(repository: Path) -> None:
    tag(repository, "stage-1", three(repository)[1])
    write_trial(repository / "tests" / "data", [step("one")])
    assert find_run_reader(repository)[0].id == "git_repository"


def test_a_session_in_a_repository_does_not_make_it_a_collection(repository: Path) -> None:
    three(repository)
    write(repository / "session.jsonl", session_file("go", "one", session="s", at=""))
    assert find_run_reader(repository)[0].id == "git_repository"


# -- where HEAD stands


def branch(folder: Path, name: str, commit_id: str) -> None:
    git(folder, "update-ref", f"refs/heads/{name}", commit_id)


def look_at(folder: Path, commit_id: str) -> None:
    """HEAD at a commit, as after a checkout of it."""
    write(folder / ".git" / "HEAD", f"{commit_id}\n")


def test_stages_after_the_one_that_was_checked_out_are_shown(repository: Path) -> None:
    ids = three(repository)
    for name, commit_id in zip(("stage-0", "stage-1", "stage-2"), ids, strict=True):
        tag(repository, name, commit_id)
    look_at(repository, ids[1])
    opened = open_run(repository)
    assert titles(opened) == ["part 1", "part 2"]
    assert "read along stage-2, which has more stages than HEAD" in opened.run.stages[0].notes


def test_a_branch_per_stage_is_read_along_the_last(repository: Path) -> None:
    ids = [*three(repository), commit(repository, "part 3", 3, **{"x.py": "3\n"})]
    for name, place in (("stage-1", 1), ("stage-2", 3)):
        branch(repository, name, ids[place])
    look_at(repository, ids[0])
    opened = open_run(repository)
    assert titles(opened) == ["part 1", "part 3"]
    assert opened.run.stages[0].notes[-1] == (
        "a branch per stage; the start is taken to be the first commit"
    )


def test_a_single_branch_with_a_number_is_no_stage(repository: Path) -> None:
    branch(repository, "task-17", three(repository)[2])
    assert open_run(repository).run.stages[0].notes[-1].startswith("a commit per stage")


def test_tags_and_commits_that_are_not_shown_are_named(repository: Path) -> None:
    ids = [*three(repository), commit(repository, "later", 4, **{"x.py": "4\n"})]
    tag(repository, "stage-1", ids[1])
    tag(repository, "stage-2", ids[2])
    look_at(repository, ids[0])
    tag(repository, "stage-3", commit(repository, "aside", 5, **{"x.py": "5\n"}))
    look_at(repository, ids[3])
    notes = open_run(repository).run.stages[0].notes
    assert "tags elsewhere, not shown: stage-3" in notes
    assert "in no stage: 1 commit after stage-2" in notes


def test_without_a_commit_at_head_a_branch_is_read(repository: Path) -> None:
    branch(repository, "main", three(repository)[2])
    write(repository / ".git" / "HEAD", "ref: refs/heads/never-made\n")
    opened = open_run(repository)
    assert titles(opened) == ["part 1", "part 2"]
    assert "HEAD names no commit: read along the branch main" in opened.run.stages[0].notes


@pytest.mark.parametrize(
    "names",
    [
        ("stage-1-done", "stage-2-done"),
        ("stage1_end", "stage2_end"),
        ("checkpoint_1-parser", "checkpoint_2-writer"),
    ],
)
def test_a_number_may_be_followed_by_words(repository: Path, names: tuple[str, str]) -> None:
    ids = [*three(repository), commit(repository, "part 3", 3, **{"x.py": "3\n"})]
    tag(repository, names[0], ids[1])
    tag(repository, names[1], ids[3])
    assert titles(open_run(repository)) == ["part 1", "part 3"]


def test_a_tag_before_a_stage_does_not_end_it(repository: Path) -> None:
    ids = three(repository)
    for name, place in (("stage-1-start", 0), ("stage-1-end", 1), ("stage-2-start", 1)):
        tag(repository, name, ids[place])
    tag(repository, "stage-2-end", ids[2])
    assert titles(open_run(repository)) == ["part 1", "part 2"]


def test_a_tag_of_something_else_than_a_commit_ends_no_stage(repository: Path) -> None:
    ids = three(repository)
    tree = git(repository, "rev-parse", f"{ids[1]}^{{tree}}").decode().strip()
    tag(repository, "stage-1", tree)
    assert titles(open_run(repository)) == ["part 1", "part 2"]


def test_a_worktree_of_a_repository_elsewhere_says_so(tmp_path: Path) -> None:
    write(tmp_path / "tree" / ".git", "gitdir: ../x/.git/worktrees/tree\n")
    with pytest.raises(ArcviewError, match="leads to a repository elsewhere"):
        open_run(tmp_path / "tree")


def test_a_shallow_clone_says_so(repository: Path) -> None:
    ids = three(repository)
    write(repository / ".git" / "shallow", f"{ids[1]}\n")
    opened = open_run(repository)
    assert titles(opened) == ["part 2"]
    assert opened.run.stages[0].notes[1].startswith("a shallow clone")


def test_a_bare_repository_is_read(repository: Path, tmp_path: Path) -> None:
    three(repository)
    (repository / ".git").rename(tmp_path / "bare.git")
    opened = open_run(tmp_path / "bare.git")
    assert opened.run.chain.task_id == "bare"
    assert titles(opened) == ["part 1", "part 2"]


def test_a_link_to_another_repository_is_not_followed(repository: Path, tmp_path: Path) -> None:
    three(repository)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / ".git").symlink_to(repository / ".git", target_is_directory=True)
    with pytest.raises(ArcviewError):
        open_run(tmp_path / "x")


def test_the_id_is_that_of_the_commits(repository: Path, tmp_path: Path) -> None:
    three(repository)
    before = open_run(repository).run.run_id
    repository.rename(tmp_path / "moved")
    assert open_run(tmp_path / "moved").run.run_id == before


def test_what_nobody_measured_is_not_measured(repository: Path) -> None:
    three(repository)
    run = open_run(repository).run
    reason = "no gate result is recorded in a repository"
    assert [gate.unmeasured for gate in run.gates] == [reason, reason]
    assert (run.agent, run.model) == (None, None)


# -- with a base and a session


def test_a_ref_is_the_base(repository: Path) -> None:
    ids = three(repository)
    opened = open_run(repository, given=Given(base="HEAD~1"))
    assert titles(opened) == ["part 2"]
    start = opened.run.states[0].source
    assert isinstance(start, RepositorySource)
    assert start.commit == ids[1]


def test_a_folder_is_the_base(repository: Path, tmp_path: Path) -> None:
    three(repository)
    write(tmp_path / "base" / "x.py", "old\n")
    opened = open_run(repository, given=Given(base=str(tmp_path / "base")))
    assert titles(opened) == ["part 0", "part 1", "part 2"]
    assert isinstance(opened.run.states[0].source, FolderSource)


def test_a_base_that_is_no_commit_is_one_clear_line(repository: Path) -> None:
    three(repository)
    with pytest.raises(ArcviewError, match="has no commit nonsense"):
        open_run(repository, given=Given(base="nonsense"))


def test_a_session_is_cut_where_the_stages_were_committed(repository: Path, tmp_path: Path) -> None:
    three(repository)
    early = session_file("go", "one", session="s", at="2026-01-01T10:00:30Z")
    late = session_file("on", "two", "three", session="s", at="2026-01-01T10:01:30Z")
    late = late.replace("s-", "t-")
    session = write(tmp_path / "session.jsonl", early + late)
    opened = open_run(repository, given=Given(trajectory=session))
    parts = [opened.trajectory(stage.trajectories) for stage in opened.run.stages]
    assert [part.step_count for part in parts] == [1, 2]


# -- nothing in it runs, nothing in it changes


@pytest.fixture
def trapped(repository: Path, tmp_path: Path) -> Path:
    """A repository whose own settings start programs at every turn; returns what they write."""
    mark = tmp_path / "ran"
    script = write(tmp_path / "evil.sh", f'#!/bin/sh\necho "$0" >> {mark}\ncat\n')
    script.chmod(0o755)
    write(repository / ".gitattributes", "* filter=evil diff=evil merge=evil text eol=crlf ident\n")
    three(repository)
    config = repository / ".git" / "config"
    entries = {
        "core": ("fsmonitor", "hooksPath", "pager", "editor", "sshCommand", "askPass", "gitProxy"),
        "diff": ("external",),
        'diff "evil"': ("command", "textconv"),
        'filter "evil"': ("smudge", "clean", "process"),
        "uploadpack": ("packObjectsHook",),
        "credential": ("helper",),
        "gpg": ("program",),
        "pager": ("diff", "log", "rev-list", "ls-tree", "for-each-ref"),
        "alias": ("rev-list", "ls-tree"),
    }
    text = config.read_text(encoding="utf-8")
    for section, keys in entries.items():
        text += f"[{section}]\n" + "".join(f"\t{key} = {script}\n" for key in keys)
    text += f'[remote "origin"]\n\turl = ext::{script}\n\tpromisor = true\n'
    text += "[extensions]\n\tpartialClone = origin\n[include]\n\tpath = /dev/stdin\n"
    config.write_text(text, encoding="utf-8")
    for hook in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change"):
        place = write(repository / ".git" / "hooks" / hook, script.read_text(encoding="utf-8"))
        place.chmod(0o755)
    return mark


def looked_at(folder: Path) -> dict[str, tuple[int, int]]:
    files = sorted(folder.rglob("*"))
    return {str(f): (f.lstat().st_mtime_ns, f.lstat().st_size) for f in files}


def test_no_program_that_a_repository_names_is_run(repository: Path, trapped: Path) -> None:
    shown = json.loads(twin.dumps(twin.show(OpenRun.open(repository))))
    assert [stage["change"]["files"] for stage in shown["stages"]] == [1, 1]
    assert not trapped.exists()


def test_opening_writes_nothing_into_a_repository(repository: Path, trapped: Path) -> None:
    before = looked_at(repository)
    twin.show(OpenRun.open(repository))
    assert looked_at(repository) == before
    assert not trapped.exists()


def test_a_commit_that_is_elsewhere_is_not_fetched(repository: Path, trapped: Path) -> None:
    head = git(repository, "rev-parse", "HEAD^{tree}").decode().strip()
    os.unlink(repository / ".git" / "objects" / head[:2] / head[2:])  # noqa: PTH108
    run = OpenRun.open(repository)
    run.ensure_states()
    assert run.store.missing("S2") is not None
    assert not trapped.exists()
