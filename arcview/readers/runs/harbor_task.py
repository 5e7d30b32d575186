"""What the task of a Harbor trial says: its steps and what the agent was told at each.

A trial does not keep it. The task folder is looked for beside the job, where `config.json` says
that it was; nothing of it but `task.toml` and the instructions is ever read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from arcview.errors import BadInputError
from arcview.files import is_file
from arcview.readers.fields import Fields, read_bytes
from arcview.readers.inside import inside

_LEVELS = 4
"""How far above the trial the task folder is looked for."""

TASK_FILE = "task.toml"


@dataclass(frozen=True, slots=True)
class HarborTask:
    """What was found; empty where there is no task folder."""

    folder: Path | None = None
    steps: tuple[str, ...] = ()
    """Names of the planned steps, in order; empty for a task without steps."""
    min_rewards: dict[str, str] = field(default_factory=dict)
    """The gate of each step that has one, as written."""
    read: tuple[Path, ...] = ()

    def instruction(self, step: str | None) -> tuple[Path, str] | None:
        """The file of what the agent was told and its text."""
        if self.folder is None:
            return None
        name = "instruction.md" if step is None else f"steps/{step}/instruction.md"
        try:
            path = inside(self.folder, name)
            return path, read_bytes(path, name).decode("utf-8-sig", "replace")
        except BadInputError:
            return None


def find_task(trial: Path, config: Fields, task_name: str | None) -> HarborTask:
    """Looks for the task folder of a trial.

    Args:
        trial: The trial folder.
        config: Its `config.json`, or that part of `result.json`.
        task_name: The task's own name (`org/name`).
    """
    task = config.sub("task")
    named = task.text("path") if isinstance(task.values.get("path"), str) else None
    if named is None:
        return HarborTask()
    for above in list(trial.absolute().parents)[:_LEVELS]:
        for place in _places(PurePosixPath(named)):
            try:
                folder = inside(above, place)
                file = inside(folder, TASK_FILE)
            except BadInputError:
                continue
            if is_file(file) and (found := _read(folder, file, task_name)) is not None:
                return found
    return HarborTask()


def _places(named: PurePosixPath) -> list[str]:
    """Where to look for a task; of another machine's path only the end can be here as well."""
    if not named.is_absolute():
        return [named.as_posix()]
    return ["/".join(named.parts[-2:]), named.name] if len(named.parts) > 2 else []


def _read(folder: Path, file: Path, task_name: str | None) -> HarborTask | None:
    import tomllib  # 3 ms that no other layout needs

    try:
        data = tomllib.loads(file.read_text("utf-8", "replace"))
        fields = Fields.of(data, TASK_FILE, [])
    except (OSError, tomllib.TOMLDecodeError, BadInputError):
        return None
    name = fields.sub("task").text("name")
    if task_name is not None and name is not None and name != task_name:
        return None
    steps = [step for step in fields.records("steps") if step.text("name")]
    return HarborTask(
        folder,
        tuple(str(step.text("name")) for step in steps),
        {
            str(step.text("name")): str(step.values["min_reward"])
            for step in steps
            if step.values.get("min_reward") is not None
        },
        (file,),
    )
