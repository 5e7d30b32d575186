"""Inspect logs: real archives and JSON against their own events, and made ones of every shape."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from arcview.model.trajectory import Role, Step, StepKind, ToolKind, Trajectory
from arcview.model.trajectory_refs import SessionRole, Usage
from arcview.readers.trajectories import inspect_log_archive
from arcview.readers.trajectories.inspect_log import InspectLogReader
from tests.readers.golden import expected, summary
from tests.readers.odd_values import with_odd_values

GOLDEN = expected("inspect_log")
ARCHIVES = [name for name in GOLDEN if name.endswith(".eval")]

Record = dict[str, Any]
NAN = float("nan")


def entries(path: Path) -> dict[str, bytes]:
    """The entries of an archive, found and unpacked by other means than the reader's."""
    data = path.read_bytes()
    found = {}
    for info in zipfile.ZipFile(path).infolist():
        sizes = data[info.header_offset + 26 :]
        start = info.header_offset + 30 + int.from_bytes(sizes[:2], "little")
        start += int.from_bytes(sizes[2:4], "little")
        packed = data[start : start + info.compress_size]
        if info.compress_type == 93:
            found[info.filename] = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
        else:
            found[info.filename] = zlib.decompress(packed, -15)
    return found


def samples(path: Path) -> Iterator[Record]:
    if path.suffix == ".json":
        yield from json.loads(path.read_text())["samples"]
        return
    for name, data in entries(path).items():
        if name.startswith("samples/"):
            yield json.loads(data)


def model_steps(trajectory: Trajectory) -> list[Step]:
    return [step for step in trajectory.steps if step.number is not None]


# Real logs


@pytest.mark.parametrize("sample", GOLDEN)
def test_a_real_log_reads_as_reviewed(cases: Path, sample: str) -> None:
    assert summary(cases / "formats" / sample) == GOLDEN[sample]


@pytest.mark.parametrize("sample", GOLDEN)
def test_counts_of_a_real_log_agree_with_its_events(cases: Path, sample: str) -> None:
    path = cases / "formats" / sample
    events = [event for sample in samples(path) for event in sample["events"]]
    models = [event for event in events if event["event"] == "model"]
    choices = [event["output"]["choices"][0]["message"] for event in models]
    found = InspectLogReader().read(path)
    assert found.step_count == len(models)
    assert found.tool_call_count == sum(len(c.get("tool_calls") or []) for c in choices)
    results = [c.result for s in found.steps for c in s.calls if c.result]
    assert len(results) == sum(event["event"] == "tool" for event in events)
    scores = [e for e in events if e["event"] == "score"]
    assert sum(s.text.startswith("score ") for s in found.steps) == len(scores)


@pytest.mark.parametrize("sample", GOLDEN)
def test_tokens_of_a_real_log_add_up_to_its_totals(cases: Path, sample: str) -> None:
    found = InspectLogReader().read(cases / "formats" / sample)
    usages = [step.usage for step in found.steps if step.usage]
    assert found.usage is not None
    assert sum(u.input_tokens or 0 for u in usages) == found.usage.input_tokens
    assert sum(u.output_tokens or 0 for u in usages) == found.usage.output_tokens


@pytest.mark.parametrize("sample", GOLDEN)
def test_every_long_text_of_a_real_log_is_resolved(cases: Path, sample: str) -> None:
    found = InspectLogReader().read(cases / "formats" / sample)
    shown = repr(found)
    assert "attachment://" not in shown
    assert "tc://" not in shown


def test_a_killed_log_keeps_what_was_finished(cases: Path) -> None:
    path = cases / "formats/inspect-eval/generated/zstd-killed-no-header.eval"
    found = InspectLogReader().read(path)
    assert [session.id for session in found.sessions] == ["first"]
    assert (found.exit_status, found.model) == (None, "mockllm/model")
    assert [problem.what for problem in found.problems] == [
        "no header.json: the evaluation was ended before its log was finished"
    ]


def test_an_errored_sample_says_so(cases: Path) -> None:
    found = InspectLogReader().read(cases / "formats/inspect-eval/generated/zstd-two-samples.eval")
    (error,) = [step for step in found.steps if step.is_error]
    assert error.text.startswith("error: RuntimeError('unexpected crash in tool')\n")
    assert error.session == "2"


def test_samples_stand_in_the_order_of_the_dataset(cases: Path) -> None:
    found = InspectLogReader().read(cases / "formats/inspect-eval/popularity.eval")
    assert [session.id for session in found.sessions] == [str(n) for n in range(1, 11)]


# Made logs


def event(kind: str, **fields: Any) -> Record:
    return {"event": kind, "timestamp": "2026-01-01T10:00:00+00:00", **fields}


def asks(
    *sent: Record, says: object = "", calls: list[Record] | None = None, **more: Any
) -> Record:
    message = {"role": "assistant", "content": says, "tool_calls": calls or []}
    output = {"model": "m", "choices": [{"message": message}], **more.pop("output", {})}
    return event("model", model="m", input=list(sent), output=output, **more)


def call(call_id: str, function: str = "bash", **arguments: Any) -> Record:
    return {"id": call_id, "function": function, "arguments": arguments, "type": "function"}


def result(call_id: str, text: object = "", function: str = "bash", **fields: Any) -> Record:
    done = "2026-01-01T10:00:02+00:00"
    fields = {"completed": done, "arguments": {}, **fields}
    return event("tool", id=call_id, function=function, result=text, **fields)


def user(text: str, **fields: Any) -> Record:
    return {"role": "user", "content": text, **fields}


def sample(*events: Record, **fields: Any) -> Record:
    return {"id": "s", "epoch": 1, "input": "x", "messages": [], "events": list(events), **fields}


def log(folder: Path, *found: Record, name: str = "log.json", **fields: Any) -> Path:
    path = folder / name
    spec = {"task": "t", "model": "m", "dataset": {"sample_ids": [s["id"] for s in found]}}
    head = {"version": 2, "status": "success", "eval": spec, **fields}
    path.write_text(json.dumps({**head, "samples": list(found)}))
    return path


def read(folder: Path, *events: Record, **fields: Any) -> Trajectory:
    return InspectLogReader().read(log(folder, sample(*events, **fields)))


def inner(trajectory: Trajectory) -> list[Step]:
    """The steps without the notes on the log and the sample."""
    return list(trajectory.steps[2:])


def test_each_message_is_shown_once_though_every_call_repeats_it(tmp_path: Path) -> None:
    first = [{"role": "system", "content": "s"}, user("u", source="input")]
    said = {"role": "assistant", "content": "a"}
    found = read(
        tmp_path,
        asks(*first, says="a"),
        asks(*first, said, user("go on"), says="b"),
        asks(*first, said, user("go on"), said, user("go on"), says="c"),
    )
    assert [(step.role, step.text) for step in inner(found)] == [
        (Role.SYSTEM, "s"),
        (Role.USER, "u"),
        (Role.ASSISTANT, "a"),
        (Role.USER, "go on"),
        (Role.ASSISTANT, "b"),
        (Role.USER, "go on"),
        (Role.ASSISTANT, "c"),
    ]


def test_what_an_agent_answers_itself_to_go_on_is_no_user_turn(tmp_path: Path) -> None:
    nudge = "Please proceed to the next step using your best judgement."
    found = read(
        tmp_path,
        asks(user("u", source="input"), says="a"),
        asks(user(nudge), says="b"),
        asks(user("and now?"), says="c"),
    )
    message, note = StepKind.MESSAGE, StepKind.NOTE
    told = [step.kind for step in inner(found) if step.role is Role.USER]
    assert told == [message, note, message]


def test_messages_are_found_in_the_pool(tmp_path: Path) -> None:
    pool = [{"role": "system", "content": "s"}, user("u"), user("later")]
    found = read(
        tmp_path,
        asks(says="a", input_refs=[[0, 2]]),
        asks(says="b", input_refs=[[0, 2], [2, 99]]),
        asks(says="c", input_refs=[["x", 1], [5]]),
        events_data={"messages": pool, "calls": []},
    )
    assert [step.text for step in inner(found)] == ["s", "u", "a", "later", "b", "c"]


@pytest.mark.parametrize("prefix", ["attachment://", "tc://"])
def test_texts_that_stand_apart_are_put_back(tmp_path: Path, prefix: str) -> None:
    parts = [{"type": "reasoning", "reasoning": f"{prefix}r"}, {"type": "text", "text": "t"}]
    found = read(
        tmp_path,
        asks(user(f"{prefix}u"), says=parts, calls=[call("c", command=f"{prefix}k")]),
        result("c", f"{prefix}o"),
        attachments={"u": "told", "r": "thought", "k": "ls", "o": "files"},
    )
    told, step = inner(found)
    assert (told.text, step.thinking, step.text) == ("told", "thought", "t")
    assert step.calls[0].command == "ls"
    assert step.calls[0].result is not None
    assert step.calls[0].result.text == "files"


def test_a_dead_reference_stays_as_it_is(tmp_path: Path) -> None:
    found = read(tmp_path, asks(user("attachment://gone")))
    assert inner(found)[0].text == "attachment://gone"


def test_results_are_paired_by_id_with_errors_and_times(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        asks(calls=[call("a"), call("b"), call("c")]),
        result("b", "ok"),
        result("a", "", error={"type": "timeout", "message": "too slow"}),
    )
    (step,) = inner(found)
    a, b, c = (each.result for each in step.calls)
    assert a is not None
    assert (a.text, a.is_error) == ("timeout: too slow", True)
    assert b is not None
    assert (b.text, b.is_error, b.at) == ("ok", None, "2026-01-01T10:00:02+00:00")
    assert c is None
    assert step.duration_s == 2.0


def test_a_command_of_the_sandbox_gives_its_call_the_exit_code(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        asks(calls=[call("a", command="make 'all'"), call("b", command="ls")]),
        result("a", "boom"),
        result("b", "files"),
        event("sandbox", action="exec", cmd="bash --login -c ls", result=0),
        event("sandbox", action="exec", cmd="""bash --login -c 'make '"'"'all'"'"''""", result=2),
        event("sandbox", action="exec", cmd="uname", result=0),
    )
    step, other = inner(found)
    assert [c.result and c.result.exit_code for c in step.calls] == [2, 0]
    assert (other.kind, other.text) == (StepKind.NOTE, "sandbox exec: uname (exit code 0)")


def span(span_id: str, kind: str, name: str, parent: str | None = None) -> Record:
    return event("span_begin", id=span_id, type=kind, name=name, parent_id=parent)


def test_an_agent_within_an_agent_is_a_sub_agent_of_the_call(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        span("s1", "agent", "main"),
        asks(says="go", calls=[call("c1", "helper")], span_id="s1"),
        span("t1", "tool", "helper", "s1"),
        result("c1", "done", "helper", span_id="s1", agent_span_id="s2"),
        span("s2", "agent", "helper", "t1"),
        asks(user("please"), says="inside", calls=[call("h1", command="ls")], span_id="s2"),
        result("h1", "files", span_id="s2"),
        asks(says="back", span_id="s1"),
    )
    assert [(s.text, s.agent, s.parent_call) for s in inner(found)] == [
        ("go", None, None),
        ("please", "helper", "c1"),
        ("inside", "helper", "c1"),
        ("back", None, None),
    ]
    assert inner(found)[0].calls[0].kind is ToolKind.TASK
    assert [(s.id, s.role, s.steps) for s in found.sessions] == [
        ("s", SessionRole.MAIN, 2),
        ("s/helper", SessionRole.SUBAGENT, 1),
    ]


def test_events_within_an_older_tool_event_are_a_sub_agent(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        asks(calls=[call("c1", "helper")]),
        result("c1", "done", "helper", events=[asks(says="inside")]),
    )
    assert [(s.text, s.agent, s.parent_call) for s in inner(found)] == [
        ("", None, None),
        ("inside", "helper", "c1"),
    ]


def test_a_grader_is_not_the_agent(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        asks(says="42"),
        span("g", "scorer", "model_graded_qa"),
        asks(user("grade it"), says="GRADE: C", span_id="g"),
        event("score", scorer="qa", score={"value": "C", "explanation": "right"}, span_id="g"),
    )
    assert found.step_count == 1
    assert [(s.kind, s.text) for s in inner(found)[1:]] == [
        (StepKind.NOTE, "grade it"),
        (StepKind.NOTE, "the scorer asks m\nGRADE: C"),
        (StepKind.NOTE, "score qa: C\nright"),
    ]


def test_a_compaction_and_its_summary_are_no_user_turns(tmp_path: Path) -> None:
    summary_text = "[CONTEXT COMPACTION SUMMARY]\n\nso far"
    found = read(
        tmp_path,
        event("compaction", type="summary", tokens_before=900, tokens_after=100),
        asks(user(summary_text), says="a"),
        asks(user("made short", metadata={"summary": True}), says="b"),
    )
    assert [(s.kind, s.text) for s in inner(found) if s.number is None] == [
        (StepKind.COMPACTION, "context compacted (summary, 900 tokens before, 100 after)"),
        (StepKind.COMPACTION, summary_text),
        (StepKind.COMPACTION, "made short"),
    ]


@pytest.mark.parametrize(
    ("fields", "text", "is_error"),
    [
        ({"event": "sample_limit", "type": "token", "message": "100 used"},
         "stopped by a limit (token): 100 used", True),
        ({"event": "error", "error": {"message": "boom", "traceback": "T"}},
         "error: boom\nT", True),
        ({"event": "info", "source": "x", "data": {"a": 1}}, 'info from x: {"a": 1}', False),
        ({"event": "logger", "message": {"level": "warning", "message": "hm"}},
         "log warning: hm", False),
        ({"event": "approval", "call": {"function": "bash"}, "approver": "me",
          "decision": "reject", "explanation": "no"}, "approval of bash by me: reject\nno", False),
        ({"event": "interrupt", "source": "limit", "interrupted": "generate"},
         "interrupted by limit during generate", False),
        ({"event": "input", "input": "yes", "message": "go?"},
         "input of a person\ngo?\nyes", False),
        ({"event": "score", "scorer": "s", "score": {"value": NAN}, "intermediate": True},
         "intermediate score s: NaN", False),
        ({"event": "score_edit", "score_name": "s", "edit": {"value": 1}},
         'score s edited: {"value": 1}', False),
        ({"event": "checkpoint", "checkpoint_id": 3}, "checkpoint 3", False),
        ({"event": "branch", "from_anchor": "a1"}, "a branch begins at a1", False),
        ({"event": "subtask", "name": "plan", "input": {"q": 1}, "result": "r"},
         'subtask plan: {"q": 1}\nr', False),
    ],
)  # fmt: skip
def test_other_events_are_notes(tmp_path: Path, fields: Record, text: str, is_error: bool) -> None:
    (note,) = inner(read(tmp_path, fields))
    assert (note.kind, note.text, note.is_error) == (StepKind.NOTE, text, is_error)


def test_structure_is_not_shown(tmp_path: Path) -> None:
    kinds = ("sample_init", "span_begin", "span_end", "state", "store", "step", "anchor")
    assert inner(read(tmp_path, *(event(kind, id="x") for kind in kinds))) == []


def test_an_unknown_event_is_raw_and_counted(tmp_path: Path) -> None:
    found = read(tmp_path, event("novelty", x=1), "text")  # type: ignore[arg-type]
    assert found.unknown_records == (("event 'novelty'", 1), ("not an object", 1))
    assert [step.kind for step in inner(found)] == [StepKind.RAW, StepKind.RAW]


def test_a_failed_call_of_the_model_is_an_error(tmp_path: Path) -> None:
    failed = event("model", model="m", input=[], output={"choices": []}, error="overloaded")
    pending = event("model", model="m", input=[], output={"choices": []}, pending=True)
    found = inner(read(tmp_path, failed, pending))
    assert [(s.text, s.is_error) for s in found] == [
        ("call of m: overloaded", True),
        ("call of m: not answered: the log ends here", False),
    ]


def test_tokens_include_what_came_from_a_cache_and_went_into_one(tmp_path: Path) -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_cache_read": 40,
        "input_tokens_cache_write": 10,
        "output_tokens": 20,
        "reasoning_tokens": 5,
        "total_cost": 0.5,
    }
    (step,) = inner(read(tmp_path, asks(says="a", output={"usage": usage})))
    assert step.usage == Usage(150, 40, 20, 5, 0.5)


def test_a_tool_that_the_provider_runs_has_its_result(tmp_path: Path) -> None:
    served = {
        "type": "tool_use",
        "tool_type": "web_search",
        "id": "w1",
        "name": "web_search",
        "arguments": '{"query": "x"}',
        "result": "found",
    }
    (step,) = inner(read(tmp_path, asks(says=[{"type": "text", "text": "t"}, served])))
    (searched,) = step.calls
    assert (searched.name, dict(searched.arguments)) == ("web_search", {"query": "x"})
    assert searched.result is not None
    assert searched.result.text == "found"


def test_an_image_is_a_placeholder(tmp_path: Path) -> None:
    image = {"type": "image", "image": "attachment://i"}
    url = "data:image/png;base64,iVBORw0KGgo="
    found = read(tmp_path, asks({"role": "user", "content": [image]}), attachments={"i": url})
    assert [i.media_type for i in inner(found)[0].images] == ["image/png"]


def test_a_log_without_events_is_read_from_its_messages(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "s"},
        {"role": "assistant", "content": "a", "tool_calls": [call("c", command="ls")]},
        {"role": "tool", "tool_call_id": "c", "content": "files"},
        {"role": "tool", "tool_call_id": "z", "content": "lost"},
    ]
    found = inner(read(tmp_path, messages=messages))
    assert [step.role for step in found] == [Role.SYSTEM, Role.ASSISTANT, Role.UNKNOWN]
    assert found[1].calls[0].result is not None
    assert found[2].text == "result for a call that is not here (z)\nlost"


def test_a_result_that_only_the_conversation_has_is_given_to_its_call(tmp_path: Path) -> None:
    late = {"role": "tool", "tool_call_id": "c", "content": "files"}
    found = inner(read(tmp_path, asks(calls=[call("c", command="ls")]), messages=[late]))
    assert found[0].calls[0].result is not None
    assert found[0].calls[0].result.text == "files"


def test_events_without_a_model_leave_the_conversation_to_the_messages(tmp_path: Path) -> None:
    messages = [user("u"), {"role": "assistant", "content": "a"}]
    found = inner(read(tmp_path, event("info", data="bridged"), messages=messages))
    assert [step.text for step in found] == ["u", "a", "info: bridged"]


def test_how_a_sample_ended_is_said_where_no_event_does(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        asks(says="a"),
        error={"message": "boom"},
        limit={"type": "time", "limit": 60},
        scores={"match": {"value": 0.5, "answer": "a"}},
        error_retries=[{"message": "first try"}],
    )
    assert [step.text for step in inner(found)[1:]] == [
        "error: boom",
        "stopped by a limit (time): 60",
        "an earlier try failed: first try",
        "score match: 0.5, answer a",
    ]


def test_the_transcript_of_the_first_versions_is_read(tmp_path: Path) -> None:
    transcript = {"events": [asks(user("tc://u"), says="a")], "content": {"u": "told"}}
    found = inner(read(tmp_path, transcript=transcript))
    assert [step.text for step in found] == ["told", "a"]


def test_epochs_are_sessions_of_their_own(tmp_path: Path) -> None:
    first, second = sample(asks(says="a")), {**sample(asks(says="b")), "epoch": 2}
    found = InspectLogReader().read(log(tmp_path, second, first))
    assert [session.id for session in found.sessions] == ["s", "s (epoch 2)"]
    assert [step.text for step in model_steps(found)] == ["a", "b"]


def test_a_failed_evaluation_says_why(tmp_path: Path) -> None:
    path = log(tmp_path, sample(), status="error", error={"message": "no such model"})
    found = InspectLogReader().read(path)
    assert found.exit_status == "error"
    assert (found.steps[0].is_error, found.steps[0].text.splitlines()[1]) == (
        True,
        "no such model",
    )


# Archives


def archive(folder: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", method) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path


def evaluation(**samples_by_entry: Record) -> dict[str, bytes]:
    head = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
    files = {"_journal/start.json": json.dumps(head).encode()}
    files |= {name: json.dumps(value).encode() for name, value in samples_by_entry.items()}
    return files | {"header.json": json.dumps(head).encode()}


SAID = sample(asks(user("u"), says="a"))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_is_read_however_it_is_packed(tmp_path: Path, method: int) -> None:
    path = archive(tmp_path, evaluation(**{"samples/a/b_epoch_1.json": SAID}), method)
    found = InspectLogReader().read(path)
    assert ([s.text for s in model_steps(found)], found.problems) == (["a"], ())
    assert [session.id for session in found.sessions] == ["a/b"]


def test_a_sample_in_slices_is_put_together(tmp_path: Path) -> None:
    folder = "samples/s_epoch_1"
    events = [asks(user("attachment://1"), says="a"), asks(says="b", input_refs=[[0, 1]])]
    files: dict[str, Any] = {
        f"{folder}/sample.json": {"id": "s", "epoch": 1, "message_refs": [[0, 1]]},
        f"{folder}/messages/0.json": [user("pooled")],
        f"{folder}/events/0.json": events[:1],
        f"{folder}/events/1.json": events[1:],
        f"{folder}/events/stats.json": {"chunks": []},
        f"{folder}/attachments/0.json": ["zero"],
        f"{folder}/attachments/1.json": ["one"],
    }
    found = InspectLogReader().read(archive(tmp_path, evaluation(**files)))
    assert [step.text for step in inner(found)] == ["one", "a", "pooled", "b"]


def test_of_two_entries_with_one_name_the_last_counts(tmp_path: Path) -> None:
    path = archive(tmp_path, evaluation(**{"samples/s_epoch_1.json": SAID}))
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        zipfile.ZipFile(path, "a") as more,
    ):
        more.writestr("samples/s_epoch_1.json", json.dumps(sample(asks(says="later"))))
    assert [s.text for s in model_steps(InspectLogReader().read(path))] == ["later"]


def test_an_archive_that_is_cut_off_keeps_its_whole_entries(tmp_path: Path) -> None:
    files = evaluation(**{f"samples/{n}_epoch_1.json": SAID for n in range(3)})
    path = archive(tmp_path, files)
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"samples/2_epoch_1.json") + 60])
    found = InspectLogReader().read(path)
    assert [session.id for session in found.sessions] == ["0", "1"]
    assert found.problems[0].what == "the archive is cut off: 3 whole entries are kept"


def test_a_damaged_entry_costs_itself(tmp_path: Path) -> None:
    files = evaluation(**{"samples/1_epoch_1.json": SAID, "samples/2_epoch_1.json": SAID})
    path = archive(tmp_path, files, zipfile.ZIP_STORED)
    data = path.read_bytes()
    path.write_bytes(
        data.replace(b'"says"', b'"says"').replace(b'"content": "a"', b'"content": "X"', 1)
    )
    found = InspectLogReader().read(path)
    assert [session.id for session in found.sessions] == ["2"]
    (problem,) = found.problems
    assert problem.where.endswith("log.eval: samples/1_epoch_1.json")
    assert problem.what.startswith("damaged: its checksum is wrong")


@pytest.mark.parametrize("limit", ["MAX_ENTRY_BYTES", "MAX_TOTAL_BYTES"])
def test_a_bomb_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(inspect_log_archive, limit, 100_000)
    bomb = {**SAID, "metadata": {"x": "0" * 1_000_000}}
    path = archive(tmp_path, evaluation(**{"samples/1_epoch_1.json": bomb}))
    found = InspectLogReader().read(path)
    assert found.sessions == ()
    assert "bytes when unpacked" in found.problems[0].what


def test_a_zstandard_bomb_is_not_unpacked(cases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log_archive, "MAX_ENTRY_BYTES", 20_000)
    path = cases / "formats/inspect-eval/generated/zstd-two-samples.eval"
    found = InspectLogReader().read(path)
    assert [p.what for p in found.problems] == ["more than 20,000 bytes when unpacked"] * 2


def test_an_unknown_packing_is_said(tmp_path: Path) -> None:
    path = archive(tmp_path, evaluation(**{"samples/1_epoch_1.json": SAID}), zipfile.ZIP_LZMA)
    found = InspectLogReader().read(path)
    assert {p.what for p in found.problems} == {"packed with method 14, which is not known"}


@pytest.mark.parametrize("cut", [4, 30, 200])
def test_the_head_of_an_archive_alone_is_said_not_raised(tmp_path: Path, cut: int) -> None:
    path = archive(tmp_path, evaluation(**{"samples/1_epoch_1.json": SAID}))
    path.write_bytes(path.read_bytes()[:cut])
    found = InspectLogReader().read(path)
    assert found.step_count == 0
    assert found.problems


# Recognition


def test_an_archive_is_recognised_by_its_entries(tmp_path: Path) -> None:
    path = archive(tmp_path, evaluation())
    found = InspectLogReader().detect(path.read_bytes(), "x.zip")
    assert found is not None
    assert found.reason == "a zip archive with _journal/"


def test_another_archive_is_left_alone() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("word/document.xml", "x")
    assert InspectLogReader().detect(buffer.getvalue(), "x.eval") is None


def test_a_json_log_is_recognised_by_its_fields(tmp_path: Path) -> None:
    head = log(tmp_path, sample()).read_bytes()
    assert InspectLogReader().detect(head, "x") is not None
    assert InspectLogReader().detect(b'{"version": 2, "status": "x", "eval": 3}', "x") is None


def test_a_log_whose_status_comes_last_is_told_by_its_eval() -> None:
    spec = {"task": "t", "task_id": "i", "model": "m", "dataset": {}}
    head = json.dumps({"eval": spec, "samples": [{"id": 1}]}).encode()[:-3]
    assert InspectLogReader().detect(head, "x.json") is not None


@pytest.mark.parametrize("content", ["[]", '{"version": 2}', '"text"'])
def test_a_file_of_another_kind_is_said_not_raised(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    (problem,) = InspectLogReader().read(path).problems
    assert problem.what == "not a trajectory: expected an object with eval and samples"


# Whatever stands in its place

ODD_EVENTS = [
    span("s1", "agent", "main"),
    asks(
        user("attachment://a", id="u", metadata={}),
        says=[{"type": "text", "text": "t"}],
        calls=[call("c", command="ls")],
        span_id="s1",
        input_refs=[[0, 1]],
        output={"usage": {"input_tokens": 1, "input_tokens_cache_read": 1}},
    ),
    result("c", "files", span_id="s1", truncated=[2, 1], events=[], message_id="r"),
    event("sandbox", action="exec", cmd="bash -c ls", result=0),
    event("score", scorer="m", score={"value": 1, "answer": "a", "explanation": "e"}),
    event("step", action="begin", type="solver", name="x"),
    event("error", error={"message": "m", "traceback": "t"}),
]


@pytest.mark.parametrize("place", range(len(ODD_EVENTS)))
def test_odd_values_in_an_event_never_raise(tmp_path: Path, place: int) -> None:
    for changed in with_odd_values(ODD_EVENTS[place]):
        events = [*ODD_EVENTS[:place], changed, *ODD_EVENTS[place + 1 :]]
        found = read(tmp_path, *events, attachments={"a": "x"}, events_data={"messages": []})
        assert found.steps


def test_odd_values_around_the_events_never_raise(tmp_path: Path) -> None:
    spec = {"task": "t", "model": "m", "dataset": {"sample_ids": ["s"]}, "packages": {}}
    made = sample(
        scores={"m": {"value": 1}},
        error={"message": "x"},
        limit={"type": "time", "limit": 1},
        attachments={"a": "x"},
        events_data={"messages": [], "calls": []},
        model_usage={"m": {"input_tokens": 1}},
        error_retries=[{"message": "x"}],
    )
    stats = {"model_usage": {"m": {"input_tokens": 1}}}
    document = {"version": 2, "status": "x", "eval": spec, "stats": stats, "samples": [made]}
    for changed in with_odd_values(document):
        path = tmp_path / "odd.json"
        path.write_text(json.dumps(changed))
        InspectLogReader().detect(path.read_bytes(), path.name)
        InspectLogReader().read(path)
