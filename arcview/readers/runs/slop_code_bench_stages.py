"""One checkpoint of a SlopCodeBench run: its files, how its stage ended, what it cost.

A harness that did not count writes 0; such figures are unknown here, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import exists, is_dir, open_file
from arcview.model.problem import Problem
from arcview.model.run import Status
from arcview.model.trajectory_refs import Usage
from arcview.readers.fields import Fields, read_bytes
from arcview.readers.inside import inside
from arcview.readers.runs.slop_code_bench_agent import (
    AgentFiles,
    StreamEnds,
    find_agent_files,
    measured,
    stream_ends,
)
from arcview.readers.trajectories.usages import sent_in_all

AFTER_SKILL = "after_skill"
SNAPSHOT = "snapshot"
PROMPT = "prompt.txt"
INFERENCE = "inference_result.json"
DIFF = "diff.json"
PASS_STATS = ("trajectory_stats_after.json", "trajectory_stats_before.json")

_COUNT_CACHE_APART = frozenset({"claude_code", "opencode"})
_FOLDER_NAME = re.compile(r"^checkpoint_(\d+)$")
_HEADING = re.compile(r"^#{1,2}\s+(\S.*)$", re.MULTILINE)
_CHECKSUMS = re.compile(rb'"(from|to)_checksum"\s*:\s*"([0-9a-f]+)"')
_CHECKSUM_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A declared or found checkpoint with its small files read."""

    index: int
    name: str
    folder: Path | None
    """Null when it was never started."""
    run_state: str | None = None
    """What run_info.yaml says about it: ran, skipped or error."""
    inference: Fields | None = None
    inference_damaged: bool = False
    prompt: str | None = None
    from_checksum: str | None = None
    """Of the snapshot that the stage began with. Checksums cover archives with their times: equal
    ones mean the very same snapshot, different ones say nothing about contents."""
    to_checksum: str | None = None
    agent: AgentFiles | None = None
    ends: StreamEnds = field(default_factory=StreamEnds)
    after_skill: Path | None = None
    """Where a pass ran after the stage."""
    pass_agent: AgentFiles | None = None
    pass_ends: StreamEnds = field(default_factory=StreamEnds)

    @property
    def title(self) -> str | None:
        """The first heading of the specification."""
        found = _HEADING.search(self.prompt or "")
        return found[1].strip() if found else None


def read_checkpoints(
    path: Path, problem: Fields, states: Fields | None, problems: list[Problem]
) -> list[Checkpoint]:
    """Reads every declared checkpoint, and those that are there without being declared.

    Args:
        path: The run folder.
        problem: `problem.yaml`.
        states: What run_info.yaml says about each checkpoint; null without that file.
        problems: Takes what is wrong.
    """
    names = _declared(problem)
    if not names and states is not None:
        names = sorted(states.values, key=_number)
    found = [child.name for child in path.iterdir() if _FOLDER_NAME.match(child.name)]
    undeclared = sorted(set(found) - set(names), key=_number)
    for name in undeclared if names else ():
        what = f"not among the checkpoints that {problem.shown} declares"
        problems.append(Problem(name, what))
    return [
        _read(path, name, index, None if states is None else states.text(name), problems)
        for index, name in enumerate([*names, *undeclared], start=1)
    ]


def _declared(problem: Fields) -> list[str]:
    """Names of the declared checkpoints, by their order where every one has it."""
    declared = dict(problem.sub("checkpoints").subs())
    orders = {name: fields.number("order") for name, fields in declared.items()}
    if None in orders.values():
        return sorted(declared, key=_number)
    return sorted(declared, key=lambda name: orders[name] or 0.0)


def _number(name: str) -> tuple[int, str]:
    found = re.search(r"(\d+)$", name)
    return (int(found[1]) if found else 0, name)


def _read(
    root: Path, name: str, index: int, run_state: str | None, problems: list[Problem]
) -> Checkpoint:
    try:
        folder = inside(root, name)
        after = inside(root, f"{name}/{AFTER_SKILL}")
    except BadInputError as error:
        problems.append(Problem(error.path, error.expected))
        return Checkpoint(index, name, None, run_state)
    if not is_dir(folder):
        return Checkpoint(index, name, None, run_state)
    inference, damaged = _optional_json(root, f"{name}/{INFERENCE}", problems)
    checksums = _checksums(root, f"{name}/{DIFF}")
    agent = find_agent_files(root, name, problems)
    pass_agent = find_agent_files(root, f"{name}/{AFTER_SKILL}", problems)
    return Checkpoint(
        index,
        name,
        folder,
        run_state,
        inference,
        damaged,
        _prompt(root, f"{name}/{PROMPT}", problems),
        checksums.get("from"),
        checksums.get("to"),
        agent,
        stream_ends(agent),
        after if is_dir(after) else None,
        pass_agent,
        stream_ends(pass_agent),
    )


def _optional_json(
    root: Path, relative: str, problems: list[Problem]
) -> tuple[Fields | None, bool]:
    """A JSON file that may be missing, and whether it is there but damaged."""
    if not exists(root / relative):
        return None, False
    try:
        return Fields.json_file(inside(root, relative), relative, problems), False
    except BadInputError as error:
        place = f"{relative}: {error.field}" if error.field else relative
        what = f"{error.expected}; status, cost and times of the stage are not available"
        problems.append(Problem(place, what))
        return None, True


def _prompt(root: Path, relative: str, problems: list[Problem]) -> str | None:
    try:
        return read_bytes(inside(root, relative), relative).decode("utf-8", "replace")
    except BadInputError as error:
        what = f"{error.expected}; the specification of the stage is not available"
        problems.append(Problem(relative, what))
        return None


def _checksums(root: Path, relative: str) -> dict[str, str]:
    """The two checksums, which the writer puts first; the diff itself is not trusted."""
    try:
        with open_file(inside(root, relative)) as opened:
            head = opened.read(_CHECKSUM_BYTES)
    except (OSError, BadInputError):
        return {}
    return {side.decode(): value.decode() for side, value in _CHECKSUMS.findall(head)}


def stage_status(checkpoint: Checkpoint, summary: Fields | None) -> tuple[Status, str | None]:
    """How the stage ended, with the reason where it is not completed.

    Args:
        checkpoint: The checkpoint.
        summary: `summary` of run_info.yaml; null when the file is missing: the harness writes it
            at the very end, so the run was cut off.
    """
    if checkpoint.folder is None:
        if checkpoint.run_state == "skipped":
            return Status.NOT_STARTED, "the harness skipped it: the run ended before it"
        return Status.NOT_STARTED, None
    if checkpoint.inference is None:
        return _status_without_result(checkpoint, summary)
    if checkpoint.inference.flag("had_error") or checkpoint.run_state == "error":
        told = _last_line(checkpoint.inference.text("error_message"))
        is_timeout = told is not None and "timed out" in told
        detail = ": ".join(filter(None, [told, checkpoint.ends.message])) or None
        return (Status.AGENT_TIMEOUT if is_timeout else Status.AGENT_ERROR), detail
    if checkpoint.ends.failed and stage_usage(checkpoint)[0] is None:
        return Status.AGENT_ERROR, checkpoint.ends.message
    if checkpoint.run_state == "skipped":
        return Status.INFRASTRUCTURE_ERROR, _harness_error(summary)
    return Status.COMPLETED, _limit(checkpoint.ends)


def _status_without_result(
    checkpoint: Checkpoint, summary: Fields | None
) -> tuple[Status, str | None]:
    if checkpoint.inference_damaged:
        return Status.UNKNOWN, f"{INFERENCE} is damaged"
    if summary is None:
        return Status.INTERRUPTED, f"the run was cut off in this stage: no {INFERENCE}"
    if summary.text("error_type") == "KeyboardInterrupt":
        return Status.INTERRUPTED, "the harness was interrupted in this stage"
    if checkpoint.run_state == "ran":
        return Status.UNKNOWN, f"no {INFERENCE}"
    return Status.INFRASTRUCTURE_ERROR, _harness_error(summary)


def _harness_error(summary: Fields | None) -> str | None:
    """What run_info.yaml says about the error that stopped the harness."""
    if summary is None:
        return None
    parts = [summary.text("error_type"), _last_line(summary.text("error_message"))]
    return ": ".join(filter(None, parts)) or None


def _last_line(text: str | None) -> str | None:
    """The last line of a traceback without the path of the exception's class."""
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    if not lines:
        return None
    return re.sub(r"^(?:\w+\.)+(?=\w+: )", "", lines[-1])


def _limit(ends: StreamEnds) -> str | None:
    if ends.result is None or ends.result.text("subtype") != "error_max_turns":
        return None
    turns = ends.result.count("num_turns")
    return f"stopped at the turn limit ({turns} turns)" if turns else "stopped at the turn limit"


def stage_usage(
    checkpoint: Checkpoint, agent: str | None = None
) -> tuple[Usage | None, int | None, tuple[str, ...]]:
    """Usage and steps of the stage as the harness counted them, and what it did not count."""
    if checkpoint.inference is None:
        return None, None, ()
    counted = checkpoint.inference.sub("usage")
    tokens = counted.sub("net_tokens")
    figures: Mapping[str, float | None] = {
        "input tokens": tokens.count("input"),
        "cached tokens": tokens.count("cache_read"),
        "output tokens": tokens.count("output"),
        "reasoning tokens": tokens.count("reasoning"),
        "cost": counted.number("cost"),
        "steps": counted.count("steps"),
    }
    recorded = Usage(
        _sent(
            agent, tokens.count("input"), tokens.count("cache_read"), tokens.count("cache_write")
        ),
        tokens.count("cache_read"),
        tokens.count("output"),
        tokens.count("reasoning"),
        counted.number("cost"),
    )
    usage = measured(recorded)
    notes = [*_uncounted(figures), *_of_sub_agents(checkpoint.ends, recorded)]
    steps = counted.count("steps") or None
    if usage is None:
        note = "the harness reports 0 tokens and no cost beside an error or real work: unknown"
        return None, steps, (note,) if any(value == 0 for value in figures.values()) else ()
    return usage, steps, tuple(notes)


def _of_sub_agents(ends: StreamEnds, counted: Usage) -> Iterator[str]:
    """A note where the harness counts less than the client, whose cost it passes on."""
    whole = ends.usage
    if whole is None or whole.cost_usd is None or whole.cost_usd != counted.cost_usd:
        return
    sent, produced = whole.input_tokens or 0, whole.output_tokens or 0
    if sent > (counted.input_tokens or 0) or produced > (counted.output_tokens or 0):
        told = f"{sent:,} sent, {produced:,} produced"
        yield f"tokens as the harness counts them; with sub-agents the client counts {told}"


def _uncounted(figures: Mapping[str, float | None]) -> Iterator[str]:
    """A note on figures that are 0 beside real work; no cache hits may well be true."""
    zero = [name for name, value in figures.items() if value == 0 and name != "cached tokens"]
    if zero:
        yield f"reported as 0 beside real work, so unknown: {', '.join(zero)}"


def _sent(agent: str | None, fresh: int | None, read: int | None, stored: int | None) -> int | None:
    """Tokens sent; the harness passes on what the agent's own client means by its input."""
    counts_apart = agent in _COUNT_CACHE_APART or (fresh or 0) < (read or 0)
    return sent_in_all(fresh, read, stored) if counts_apart else fresh


def pass_usage(
    root: Path, checkpoint: Checkpoint, agent: str | None, problems: list[Problem]
) -> Usage | None:
    """What the pass after the stage used: by its stream's closing line, else by its statistics."""
    if (usage := checkpoint.pass_ends.usage) is not None or checkpoint.after_skill is None:
        return usage
    name = f"{checkpoint.name}/{AFTER_SKILL}/{PASS_STATS[0]}"
    fields, _ = _optional_json(root, name, problems)
    if fields is None:
        return None
    cached = fields.count("cache_read_tokens")
    recorded = Usage(
        _sent(agent, fields.count("input_tokens"), cached, fields.count("cache_write_tokens")),
        cached,
        fields.count("output_tokens"),
        fields.count("reasoning_tokens"),
        fields.number("cost"),
    )
    return measured(recorded)


def pass_prompts(
    root: Path, checkpoints: list[Checkpoint], run_info: Fields | None
) -> tuple[str, ...]:
    """Beginnings of the prompts that passes were given, wherever they are recorded."""
    prompts = []
    if run_info is not None:
        prompts.append(run_info.sub("post_checkpoint_skill").text("prompt"))
    for checkpoint in checkpoints:
        if checkpoint.folder is None:
            continue
        for name in (f"{AFTER_SKILL}/{PASS_STATS[0]}", PASS_STATS[1]):
            fields, _ = _optional_json(root, f"{checkpoint.name}/{name}", [])
            prompts.append(None if fields is None else fields.text("skill_prompt_preview"))
    return tuple(dict.fromkeys(prompt for prompt in prompts if prompt))
