"""The store of labels: nothing that was saved is lost, nothing torn or foreign is believed."""

from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arcview.annotations.cases import case_id
from arcview.annotations.events import EventKind, from_line
from arcview.annotations.log_file import StoreError
from arcview.annotations.store import AnnotationStore, Draft, checked_annotator
from arcview.errors import ArcviewError
from arcview.model.annotation import CaseStatus, SuggestedBy

WRITER = Path(__file__).with_name("crash_writer.py")


def store(folder: Path, by: str | None = "ann", host: str = "h") -> AnnotationStore:
    return AnnotationStore(folder, "run", by, host=host)


def edit(case: str = "c1", **values: object) -> Draft:
    return Draft(case, EventKind.EDIT, values)


def note_of(found: AnnotationStore, by: str = "ann", case: str = "c1") -> str:
    case_ = found.case(case)
    reading = case_.reading(by) if case_ is not None else None
    assert reading is not None
    return reading.note


def file_of(folder: Path) -> Path:
    return folder / "ann@h.jsonl"


def test_what_was_saved_is_read_back(tmp_path: Path) -> None:
    store(tmp_path).save(edit(validity="V1", note="first thing that went wrong"))
    assert note_of(store(tmp_path)) == "first thing that went wrong"


def test_reading_makes_no_folder(tmp_path: Path) -> None:
    store(tmp_path / "new", None)
    assert not (tmp_path / "new").exists()


def test_each_annotator_and_host_has_a_file_of_their_own(tmp_path: Path) -> None:
    for by, host in (("ann", "h"), ("ann", "laptop.example"), ("bob", "h")):
        store(tmp_path, by, host).save(edit(note=by))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["ann@h.jsonl", "ann@laptop-example.jsonl", "bob@h.jsonl"]


def test_readings_of_two_annotators_stand_side_by_side(tmp_path: Path) -> None:
    store(tmp_path, "ann").save(edit(validity="V0"))
    store(tmp_path, "bob").save(edit(validity="V1"))
    case = store(tmp_path, None).cases[0]
    assert [(r.annotator, r.validity) for r in case.readings] == [("ann", "V0"), ("bob", "V1")]


def test_fields_set_on_two_hosts_at_once_are_both_kept(tmp_path: Path) -> None:
    one, other = store(tmp_path, host="h1"), store(tmp_path, host="h2")
    one.save(Draft("c1", EventKind.EDIT, {"origins/a/defect": "D2"}))
    other.save(Draft("c1", EventKind.EDIT, {"origins/a/cause": "C8"}))
    reading = store(tmp_path).cases[0].readings[0]
    assert (reading.origins[0].defect, reading.origins[0].cause) == ("D2", "C8")


def test_what_was_known_decides_what_came_later_not_the_clocks(tmp_path: Path) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    fast = AnnotationStore(tmp_path, "run", "ann", host="h1", clock=lambda: now)
    fast.save(edit(note="old"))
    slow = AnnotationStore(tmp_path, "run", "ann", host="h2", clock=lambda: now - timedelta(days=1))
    slow.save(edit(note="new"))
    assert note_of(store(tmp_path)) == "new"


def test_another_process_is_seen_without_reading_everything_again(tmp_path: Path) -> None:
    one, other = store(tmp_path), store(tmp_path)
    one.save(edit(note="a"))
    assert other.refresh()
    assert note_of(other) == "a"
    assert not other.refresh()


def test_two_processes_on_one_file_lose_nothing(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from arcview.annotations.events import EventKind\n"
        "from arcview.annotations.store import AnnotationStore, Draft\n"
        "store = AnnotationStore(Path(sys.argv[1]), 'run', 'ann', host='h')\n"
        "for n in range(100):\n"
        "    store.save(Draft(f'c{sys.argv[2]}-{n}', EventKind.EDIT, {'note': 'x' * 5000}))\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "ab"]
    assert [process.wait() for process in running] == [0, 0]
    found = store(tmp_path, None)
    assert (len(found.cases), found.bad_lines) == (200, ())


def test_no_label_is_lost_however_often_the_writer_is_killed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, WRITER, tmp_path, "300"], capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout)
    assert result["told"] > 200
    assert (result["lost"], result["unreadable"]) == (0, 0)
    assert result["torn"] > 50
    assert result["notes_read_whole"]


def test_a_line_cut_off_anywhere_is_never_read_as_whole(tmp_path: Path) -> None:
    store(tmp_path).save(edit(note="kept"))
    whole = file_of(tmp_path).read_bytes()
    store(tmp_path).save(edit(note="lost with the power"))
    both = file_of(tmp_path).read_bytes()
    for cut in range(len(whole) + 1, len(both) - 1):
        file_of(tmp_path).write_bytes(both[:cut])
        after = store(tmp_path)
        assert note_of(after) == "kept"
        assert [bad.number for bad in after.bad_lines] == [2]


def test_a_label_after_a_torn_line_is_whole_and_the_torn_line_is_kept(tmp_path: Path) -> None:
    store(tmp_path).save(edit(note="a"))
    with file_of(tmp_path).open("ab") as file:
        file.write(b'{"schema":"arcview/case')
    store(tmp_path).save(edit(note="b"))
    found = store(tmp_path)
    assert note_of(found) == "b"
    assert [bad.text for bad in found.bad_lines] == ['{"schema":"arcview/case']


def test_a_foreign_line_is_reported_and_kept(tmp_path: Path) -> None:
    store(tmp_path).save(edit(note="a"))
    with file_of(tmp_path).open("ab") as file:
        file.write(b'{"case":"c2","label":"x"}\n')
    found = store(tmp_path)
    found.save(edit(note="b"))
    assert [problem.where for problem in found.problems()] == ["ann@h.jsonl: line 2"]
    assert b'{"case":"c2","label":"x"}\n' in file_of(tmp_path).read_bytes()


def test_a_line_changed_by_hand_is_not_believed(tmp_path: Path) -> None:
    store(tmp_path).save(edit(validity="V0"))
    changed = file_of(tmp_path).read_bytes().replace(b'"V0"', b'"V6"')
    file_of(tmp_path).write_bytes(changed)
    found = store(tmp_path)
    assert found.cases == ()
    assert "changed by hand" in found.bad_lines[0].why


def test_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    store(tmp_path).save(edit(note="a"))
    file_of(tmp_path).write_bytes(file_of(tmp_path).read_bytes().replace(b"\n", b"\r\n"))
    assert note_of(store(tmp_path)) == "a"


def test_a04_a_file_with_merge_marks_is_read_only(cases: Path, tmp_path: Path) -> None:
    data = (cases / "hostile" / "annot" / "a04_merge_conflict.jsonl").read_bytes()
    file_of(tmp_path).write_bytes(data)
    found = store(tmp_path)
    with pytest.raises(StoreError, match="merge conflict"):
        found.save(edit(note="x"))
    assert file_of(tmp_path).read_bytes() == data


def test_a04_both_versions_of_a_merge_conflict_are_shown(cases: Path, tmp_path: Path) -> None:
    data = (cases / "hostile" / "annot" / "a04_merge_conflict.jsonl").read_bytes()
    file_of(tmp_path).write_bytes(data)
    (conflict,) = store(tmp_path).conflicts
    assert conflict.ours == ('{"case":"c2","v":1}',)
    assert conflict.theirs == ('{"case":"c2","v":2}',)


def test_our_own_lines_on_both_sides_of_a_conflict_all_count(tmp_path: Path) -> None:
    lines = []
    for name in ("a", "b"):
        store(tmp_path / name).save(edit(name, note=name))
        lines.append(file_of(tmp_path / name).read_bytes())
    file_of(tmp_path).write_bytes(
        b"<<<<<<< ours\n" + lines[0] + b"=======\n" + lines[1] + b">>>>>>> theirs\n"
    )
    assert {case.id for case in store(tmp_path).cases} == {"a", "b"}


def test_a_mended_file_can_be_written_again(tmp_path: Path) -> None:
    found = store(tmp_path)
    found.save(edit(note="a"))
    mine = file_of(tmp_path).read_bytes()
    file_of(tmp_path).write_bytes(b"<<<<<<< ours\n" + mine + b"=======\n>>>>>>> theirs\n")
    found.refresh()
    assert found.read_only is not None
    file_of(tmp_path).write_bytes(mine)
    found.refresh()
    found.save(edit(note="b"))
    assert note_of(found) == "b"


def test_a_full_disk_saves_nothing_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = store(tmp_path)
    found.save(edit(note="a"))
    before = file_of(tmp_path).read_bytes()
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) < 40:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data[:-30])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreError, match="No space left"):
        found.save(edit(note="b"))
    monkeypatch.undo()
    assert file_of(tmp_path).read_bytes() == before
    found.save(edit(note="c"))
    assert (note_of(found), found.bad_lines) == ("c", ())


def write_up_to_a_limit(folder: Path, room: int) -> None:
    """Labels until the kernel itself cuts a write short."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    found = store(folder)
    found.save(edit(note="before"))
    size = file_of(folder).stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
    try:
        found.save(edit(note="does not fit" * 100))
    except StoreError:
        sys.exit(9)


@pytest.mark.parametrize("room", [0, 1, 100, 700])
def test_a_write_that_the_kernel_cuts_short_leaves_nothing(tmp_path: Path, room: int) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=write_up_to_a_limit, args=(tmp_path, room)
    )
    process.start()
    process.join()
    assert process.exitcode == 9
    found = store(tmp_path)
    assert (note_of(found), found.bad_lines) == ("before", ())


def test_a_failing_disk_is_an_error_not_a_saved_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = store(tmp_path)

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StoreError, match="not saved"):
        found.save(edit(note="a"))
    monkeypatch.undo()
    assert store(tmp_path).cases == ()


def test_every_label_is_on_the_disk_before_it_counts_as_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, synced = store(tmp_path), list[int]()
    real = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_size)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    found.save(edit(note="a"))
    assert file_of(tmp_path).stat().st_size in synced


def test_a_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArcviewError, match="Not a directory"):
        store(tmp_path / "file" / "below").save(edit(note="a"))


def test_an_event_that_was_saved_already_is_not_saved_twice(tmp_path: Path) -> None:
    found = store(tmp_path)
    draft = Draft("c1", EventKind.EDIT, {"note": "a"}, id="0123")
    assert len(found.save(draft)) == 1
    assert found.save(draft) == ()


def test_undo_takes_back_step_by_step_and_redo_does_again(tmp_path: Path) -> None:
    found = store(tmp_path)
    for text in ("a", "b", "c"):
        found.save(edit(note=text))
    found.undo()
    found.undo()
    assert note_of(found) == "a"
    found.redo()
    assert note_of(store(tmp_path)) == "b"
    found.redo()
    assert note_of(found) == "c"
    assert found.redo() is None


def test_after_something_new_there_is_nothing_to_redo(tmp_path: Path) -> None:
    found = store(tmp_path)
    found.save(edit(note="a"))
    found.save(edit(note="b"))
    found.undo()
    found.save(edit(note="c"))
    assert found.redo() is None
    found.undo()
    assert note_of(found) == "a"


def test_undoing_everything_leaves_a_case_without_readings(tmp_path: Path) -> None:
    found = store(tmp_path)
    found.save(edit(note="a"))
    found.undo()
    assert found.cases[0].readings == ()
    assert found.undo() is None


def test_undo_takes_back_no_one_elses_label(tmp_path: Path) -> None:
    store(tmp_path, "bob").save(edit(note="b"))
    found = store(tmp_path, "ann")
    assert found.undo() is None
    assert note_of(found, "bob") == "b"


def test_a_retracted_case_stays_and_says_so(tmp_path: Path) -> None:
    found = store(tmp_path)
    found.save(edit(note="a"))
    found.save(Draft("c1", EventKind.RETRACT, {}))
    assert found.cases[0].readings[0].status is CaseStatus.RETRACTED


def test_a_removed_part_is_gone_with_all_its_fields(tmp_path: Path) -> None:
    found = store(tmp_path)
    found.save(Draft("c1", EventKind.EDIT, {"origins/a/defect": "D2", "origins/b/defect": "D3"}))
    found.save(Draft("c1", EventKind.EDIT, {}, removed=("origins/a",)))
    assert [origin.id for origin in found.cases[0].readings[0].origins] == ["b"]


def test_a_taken_over_suggestion_is_remembered_until_a_person_changes_it(tmp_path: Path) -> None:
    found, rule = store(tmp_path), SuggestedBy("determinacy", 1, "abc")
    found.save(Draft("c1", EventKind.EDIT, {"validity": "V1"}, suggested_by=rule))
    assert found.cases[0].readings[0].suggested == {"validity": rule}
    found.save(edit(validity="V0"))
    assert found.cases[0].readings[0].suggested == {}


def test_fields_of_a_later_version_are_kept(tmp_path: Path) -> None:
    found = store(tmp_path)
    found.save(edit(severity="high"))
    assert found.cases[0].readings[0].extra == {"severity": "high"}


def test_labels_of_another_run_in_the_folder_do_not_count(tmp_path: Path) -> None:
    AnnotationStore(tmp_path, "other", "ann", host="h").save(edit(note="a"))
    assert store(tmp_path).cases == ()


def test_labels_made_on_other_results_of_the_same_run_id_are_pointed_out(tmp_path: Path) -> None:
    AnnotationStore(tmp_path, "run", "ann", host="h", run_hash="old").save(edit(note="a"))
    found = AnnotationStore(tmp_path, "run", "ann", host="h", run_hash="new")
    assert [problem.where for problem in found.problems()] == ["run"]


def test_text_that_is_no_unicode_survives(tmp_path: Path) -> None:
    store(tmp_path).save(edit(note="half \ud800 \u2028 \x1b[31m\nline two"))
    assert note_of(store(tmp_path)) == "half \ud800 \u2028 \x1b[31m\nline two"


@pytest.mark.parametrize("name", ["", None, "ann@example.org", "../ann", "a b", ".hidden"])
def test_nobody_is_made_up_as_annotator(name: str | None) -> None:
    with pytest.raises(ArcviewError):
        checked_annotator(name)


def test_a_pipe_in_the_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bob@h.jsonl")
    assert store(tmp_path).cases == ()


def test_a_store_without_an_annotator_only_reads(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="annotator"):
        store(tmp_path, None).save(edit(note="a"))


def test_two_people_begin_the_same_case_about_the_same_gate() -> None:
    assert case_id("run", "gate:3") == case_id("run", "gate:3")
    assert len({case_id("run", "gate:3"), case_id("run", "gate:3", 1), case_id("r", "gate:3")}) == 3


def test_the_lines_are_ascii(tmp_path: Path) -> None:
    store(tmp_path).save(edit(note="日本 \x1b"))
    line = file_of(tmp_path).read_bytes()
    assert line.isascii()
    assert from_line(line[:-1]).values == {"note": "日本 \x1b"}


def held(folder: Path) -> int:
    """The file of ann, locked as another program would."""
    descriptor = os.open(file_of(folder), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def test_what_another_program_keeps_from_being_saved_is_known_and_saved_later(
    tmp_path: Path,
) -> None:
    own = store(tmp_path)
    told: list[str] = []
    own.when_held = lambda: told.append("held")
    own.save(edit(note="first"))
    assert told == []
    descriptor = held(tmp_path)
    own.save(edit(note="second"))
    own.save(edit(validity="V1"))
    assert told == ["held"] * 2
    assert note_of(own) == "second"
    assert len(own.pending) == 2
    assert note_of(store(tmp_path)) == "first"
    os.close(descriptor)
    own.flush()
    assert len(own.pending) == 0
    again = store(tmp_path)
    assert note_of(again) == "second"
    assert [event.order for event in again.events()] == [1, 2, 3]


def test_what_is_pending_can_be_taken_back(tmp_path: Path) -> None:
    own = store(tmp_path)
    own.when_held = lambda: None
    own.save(edit(note="first"))
    descriptor = held(tmp_path)
    own.save(edit(note="second"))
    own.undo()
    assert note_of(own) == "first"
    os.close(descriptor)
    own.flush()
    assert note_of(store(tmp_path)) == "first"


def test_what_is_pending_comes_before_what_is_saved_after_it(tmp_path: Path) -> None:
    own = store(tmp_path)
    own.when_held = lambda: None
    descriptor = held(tmp_path)
    own.save(edit(note="first"))
    os.close(descriptor)
    own.save(edit(note="second"))
    assert len(own.pending) == 2
    own.flush()
    assert note_of(store(tmp_path)) == "second"


def test_what_cannot_be_saved_later_either_stays_pending(tmp_path: Path) -> None:
    own = store(tmp_path)
    own.when_held = lambda: None
    descriptor = held(tmp_path)
    own.save(edit(note="kept"))
    os.write(descriptor, b"<<<<<<< ours\n")
    os.close(descriptor)
    with pytest.raises(StoreError, match="merge conflicts"):
        own.flush()
    assert note_of(own) == "kept"
    assert len(own.pending) == 1


def test_where_nobody_saves_later_another_program_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcview.annotations.store.PATIENCE_S", 0.0)
    own = store(tmp_path)
    descriptor = held(tmp_path)
    with pytest.raises(StoreError, match="another program holds the file"):
        own.save(edit(note="x"))
    assert own.pending == ()
    os.close(descriptor)
