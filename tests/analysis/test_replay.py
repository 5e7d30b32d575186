from __future__ import annotations

import random

from arcview.analysis.edits import FileEdit
from arcview.analysis.replay import FileOrigins, LineOrigin, Replay, StepEdit, replay_file


def write(step: str, text: str) -> StepEdit:
    return StepEdit(step, FileEdit("a.py", "write", new=text))


def replace(step: str, old: str, new: str) -> StepEdit:
    return StepEdit(step, FileEdit("a.py", "replace", old=old, new=new))


def steps(origins: FileOrigins) -> list[str | None]:
    return [line.step for line in origins.lines]


def test_a_new_file_is_attributed_to_the_step_that_wrote_it() -> None:
    origins = replay_file(None, "a\nb\n", [write("s1", "a\nb\n")])

    assert steps(origins) == ["s1", "s1"]
    assert origins.faithful


def test_only_the_lines_that_an_edit_changes_get_its_step() -> None:
    origins = replay_file(
        "one\ntwo\nthree\n", "one\n2\nthree\n", [replace("s1", "one\ntwo", "one\n2")]
    )

    assert steps(origins) == [None, "s1", None]
    assert [line.inherited for line in origins.lines] == [True, False, True]


def test_a_whole_file_write_keeps_the_origin_of_lines_it_repeats() -> None:
    origins = replay_file(None, "a\nb\nc\n", [write("s1", "a\nc\n"), write("s2", "a\nb\nc\n")])

    assert steps(origins) == ["s1", "s2", "s1"]


def test_reindented_lines_keep_their_step() -> None:
    origins = replay_file(None, "    x = 1\n", [write("s1", "x = 1\n")])

    assert origins.lines == (LineOrigin("exact", "s1"),)
    assert not origins.faithful


def test_an_edit_that_does_not_fit_is_named_and_its_text_is_only_a_candidate() -> None:
    origins = replay_file(
        "base line\n",
        "base line\nfirst new line\nsecond new line\n",
        [replace("s1", "made by the shell", "first new line\nsecond new line")],
    )

    assert origins.unapplied == ("s1",)
    assert [line.certainty for line in origins.lines] == ["exact", "none", "candidate"]


def test_lines_that_stand_in_a_shell_program_are_candidates_of_its_step() -> None:
    program = """python - <<'PY'
text = text.replace('''tail''', '''
def added_by_the_program():

    return 1
tail''')
PY"""
    origins = replay_file(
        "head\ntail\n",
        "head\n\ndef added_by_the_program():\n\n    return 1\ntail\n",
        [],
        [("s1", program)],
    )

    assert [(line.certainty, line.step) for line in origins.lines[1:5]] == [
        ("none", None),
        ("candidate", "s1"),
        ("candidate", "s1"),
        ("candidate", "s1"),
    ]


def test_a_line_that_no_visible_edit_wrote_is_not_attributed() -> None:
    origins = replay_file(None, "made by sed -i\n", [])

    assert origins.lines == (LineOrigin("none"),)
    assert (origins.written, origins.attributed) == (1, 0)


def test_an_ambiguous_edit_is_not_applied() -> None:
    origins = replay_file("x\nx\n", "x\ny\n", [replace("s1", "x", "y")])

    assert origins.unapplied == ("s1",)


def test_random_edits_without_shell_changes_are_attributed_without_a_wrong_answer() -> None:
    """Against an oracle that tags every line with its step: nothing wrong, nothing left open."""
    rng = random.Random(7)
    for _ in range(40):
        tagged: list[tuple[str, str | None]] = [(f"base {n}", None) for n in range(30)]
        base = "".join(f"{text}\n" for text, _ in tagged)
        edits: list[StepEdit] = []
        for number in range(25):
            step = f"s{number}"
            start = rng.randrange(len(tagged) - 2)
            stop = start + rng.randrange(1, 3)
            new = [(f"{step} line {n}", step) for n in range(rng.randrange(1, 5))]
            edits.append(
                replace(
                    step,
                    "".join(f"{text}\n" for text, _ in tagged[start:stop]),
                    "".join(f"{text}\n" for text, _ in new),
                )
            )
            tagged[start:stop] = new
            if len(tagged) < 5:
                break
        end = "".join(f"{text}\n" for text, _ in tagged)

        origins = replay_file(base, end, edits)

        assert steps(origins) == [step for _, step in tagged]
        assert origins.faithful


def test_a_moved_file_keeps_the_steps_of_its_lines() -> None:
    replay = Replay({"old.py": "base\n"}.get)
    replay.apply(StepEdit("s1", FileEdit("old.py", "append", new="added\n")))
    replay.apply(StepEdit("s2", FileEdit("a.py", "move", source="old.py")))
    replay.apply(replace("s3", "base", "changed"))

    assert steps(replay.origins("a.py", "changed\nadded\n")) == ["s3", "s1"]
    assert replay.text("old.py") is None


def test_a_copy_leaves_its_source() -> None:
    replay = Replay({"old.py": "base\n"}.get)
    replay.apply(StepEdit("s1", FileEdit("a.py", "copy", source="old.py")))

    assert (replay.text("a.py"), replay.text("old.py")) == ("base\n", "base\n")


def test_a_rename_that_no_edit_shows_takes_the_edits_before_it_along() -> None:
    replay = Replay({"old.py": "base\n"}.get, {"a.py": "old.py"})
    replay.apply(StepEdit("s1", FileEdit("old.py", "append", new="added\n")))

    assert steps(replay.origins("a.py", "base\nadded\n")) == [None, "s1"]


def test_a_move_of_what_is_not_there_does_not_fit() -> None:
    replay = Replay(lambda path: None)

    assert not replay.apply(StepEdit("s1", FileEdit("a.py", "move", source="gone.py")))
    assert replay.text("a.py") is None


def test_a_deleted_folder_takes_its_files_along() -> None:
    replay = Replay({"pkg/a.py": "base\n", "pkg/b.py": "base\n"}.get)
    replay.apply(StepEdit("s1", FileEdit("pkg/a.py", "append", new="added\n")))
    replay.apply(StepEdit("s2", FileEdit("pkg", "delete")))

    assert (replay.text("pkg/a.py"), replay.text("pkg/b.py")) == (None, None)


def test_a_rewrite_of_a_long_file_keeps_the_lines_that_stayed() -> None:
    """Long enough for the method that difflib alone would be slow for."""
    rng = random.Random(3)
    base = [f"line {n}" if n % 3 else "}" for n in range(600)]
    new = list(base)
    for place in rng.sample(range(600), 60):
        new[place] = f"changed {place}"
    del new[100:140]
    new[300:300] = [f"added {n}" for n in range(50)]
    text = "".join(f"{line}\n" for line in new)

    origins = replay_file("".join(f"{line}\n" for line in base), text, [write("s1", text)])

    written = {line for line, origin in zip(new, origins.lines, strict=True) if origin.step}
    assert {line for line in new if line.startswith(("changed", "added"))} <= written
    assert written - {"}"} == {line for line in new if line.startswith(("changed", "added"))}
    assert sum(origin.step is not None for origin in origins.lines) < 125
