"""How a gate is run, read from chain.json without pydantic: commands, reports, overlay, limits.

Must not import anything of a container engine.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from arcview.errors import BadInputError
from arcview.gates.definition_values import (
    command_of,
    environment_of,
    image_of,
    test_ids,
    user_of,
    within,
    workdir_of,
)
from arcview.gates.errors import CannotRerunError
from arcview.gates.sealed import digest_of
from arcview.model.problem import Problem
from arcview.model.run import PathRules, Run
from arcview.readers.fields import Fields
from arcview.readers.runs.native_fields import label, path_of
from arcview.readers.runs.native_folder import Folder, chain_folder
from arcview.readers.runs.native_overlay import Laid, laid_files

DEFAULT_STEP_TIMEOUT_S = 1800.0
"""For a step of which the chain does not say how long it may take."""

_TIMEOUT_S = (0.001, 30 * 86_400.0)
_CPUS = (0.01, 4096.0)
_MEMORY_MB = (6.0, float(1 << 24))
"""No engine runs anything in less."""
_PIDS = (1.0, float(1 << 22))


@dataclass(frozen=True, slots=True)
class GateStep:
    """One command of a gate."""

    name: str
    command: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    user: str | None = None
    timeout_s: float = DEFAULT_STEP_TIMEOUT_S
    is_build: bool = False
    """Its failure means that the tree does not build, which is the agent's failure."""


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report that a step of the gate writes."""

    path: str
    """Absolute, inside the container."""
    format: str | None = None
    step: str | None = None


@dataclass(frozen=True, slots=True)
class HiddenFile:
    """One hidden test file, laid over the workspace before the commands run."""

    path: str
    """Relative to the workspace."""
    sha256: str
    source: Path
    is_executable: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """What one gate run may use; what the chain does not say is ours."""

    cpus: float = 2.0
    memory_mb: int = 4096
    pids: int = 1024
    output_bytes: int = 1 << 30
    tmp_mb: int = 1024
    """Size of `/tmp`, which is memory."""


@dataclass(frozen=True, slots=True)
class GateDefinition:
    """Everything that decides what a gate says about a tree."""

    gate: str
    f2p: tuple[str, ...] | None
    p2p: tuple[str, ...] | None
    id_dialect: str | None
    steps: tuple[GateStep, ...]
    reports: tuple[ReportFile, ...]
    overlay: tuple[HiddenFile, ...]
    limits: Limits
    workdir: str
    image_ref: str | None
    image_digest: str | None
    image_base_tree: str | None
    path_rules: PathRules = field(default_factory=PathRules)

    @property
    def timeout_s(self) -> float:
        """How long all steps together may take."""
        return sum(step.timeout_s for step in self.steps)

    @property
    def user(self) -> str | None:
        """Whom the steps run as; null leaves it to the image."""
        return self.steps[0].user

    @property
    def expected_ids(self) -> tuple[str, ...]:
        """The ids of both lists, each once."""
        return tuple(dict.fromkeys((*(self.f2p or ()), *(self.p2p or ()))))

    @property
    def digest(self) -> str:
        """SHA-256 of what decides the result besides tree and image.

        Steps, environment, hashes of the overlay, limits, where it runs, what is kept of the image
        and which tests are expected; not the engine and not how reports are read.
        """
        facts = {
            "gate": self.gate,
            "f2p": self.f2p,
            "p2p": self.p2p,
            "steps": [
                [step.command, step.env, step.user, step.timeout_s, step.is_build]
                for step in self.steps
            ],
            "reports": [[report.path, report.format, report.step] for report in self.reports],
            "overlay": sorted([file.path, file.sha256] for file in self.overlay),
            "limits": [self.limits.cpus, self.limits.memory_mb, self.limits.pids],
            "workdir": self.workdir,
            "from_image": [self.path_rules.vendored, self.path_rules.generated],
        }
        return digest_of(facts)


def gate_definition(run: Run, gate: str) -> GateDefinition:
    """How a gate of a run is run.

    Args:
        run: The run; only our own layout records commands.
        gate: `1` … `n`, or `chain`.

    Raises:
        CannotRerunError: one line that says why this gate cannot be rerun.
    """
    if run.layout != "native":
        raise CannotRerunError(
            f"gate {gate} cannot be rerun: runs of this layout ({run.layout}) do not record its "
            "commands; `arcview import` writes a run folder to add them to"
        )
    problems: list[Problem] = []
    folder, chain = _chain(run, gate, problems)
    entry = next((g for g in chain.records("gates") if label(g, "id") == gate), None)
    if entry is None:
        raise CannotRerunError(f"gate {gate} cannot be rerun: chain.json does not define it")
    noted = len(problems)
    workdir = workdir_of(chain)
    if workdir is None:
        raise CannotRerunError(
            f"gate {gate} cannot be rerun: chain.json: workdir: expected the absolute path of the "
            "workspace inside the container"
        )
    ref, digest, base_tree = image_of(chain.sub("image"))
    found = GateDefinition(
        gate=gate,
        f2p=test_ids(entry, "f2p"),
        p2p=test_ids(entry, "p2p"),
        id_dialect=entry.text("id_dialect"),
        steps=_steps(entry, gate),
        reports=_reports(entry, workdir),
        overlay=tuple(_hidden_file(folder, file) for file in laid_files(entry, folder, gate)),
        limits=_limits(entry.sub("limits")),
        workdir=workdir,
        image_ref=ref,
        image_digest=digest,
        image_base_tree=base_tree,
        path_rules=run.chain.path_rules,
    )
    # A value that is ignored would make it another gate.
    for problem in problems[noted:]:
        what = problem.what.removesuffix("; ignored")
        raise CannotRerunError(f"gate {gate} cannot be rerun: {problem.where}: {what}")
    return found


def rerunnable_gates(run: Run) -> tuple[str, ...]:
    """The gates whose commands are recorded, in the order of the chain."""
    if run.layout != "native":
        return ()
    try:
        _, chain = _chain(run, "", [])
    except CannotRerunError:
        return ()
    gates = ((label(g, "id"), bool(g.records("steps"))) for g in chain.records("gates"))
    return tuple(dict.fromkeys(gate for gate, has_steps in gates if gate and has_steps))


def _chain(run: Run, gate: str, problems: list[Problem]) -> tuple[Folder, Fields]:
    root = Folder(Path(run.path).absolute(), "", problems)
    try:
        own = Fields.json_file(root.root / "run.json", "run.json", problems)
        folder = chain_folder(root, own)
        path = folder.file("chain.json") if folder is not None else None
        if folder is None or path is None:
            raise CannotRerunError(
                f"gate {gate} cannot be rerun: the run has no chain.json that says how it is run"
            )
        return folder, Fields.json_file(path, "chain.json", problems)
    except BadInputError as error:
        raise CannotRerunError(f"gate {gate} cannot be rerun: {error}") from error


def _steps(entry: Fields, gate: str) -> tuple[GateStep, ...]:
    steps = tuple(_step(step, number) for number, step in enumerate(entry.records("steps"), 1))
    if not steps:
        raise CannotRerunError(
            f"gate {gate} cannot be rerun: chain.json records no steps for it, so nobody knows its "
            "command"
        )
    if any(not step.command for step in steps):
        raise CannotRerunError(f"gate {gate} cannot be rerun: a step of it has no command")
    users = tuple(dict.fromkeys(step.user for step in steps))
    if len(users) > 1:
        named = ", ".join(user or "the image's user" for user in users)
        raise CannotRerunError(
            f"gate {gate} cannot be rerun: its steps run as different users ({named}), and one "
            "container without privileges runs as one"
        )
    return steps


def _step(entry: Fields, number: int) -> GateStep:
    return GateStep(
        name=entry.text("name") or f"step {number}",
        command=command_of(entry),
        env=environment_of(entry),
        user=user_of(entry),
        timeout_s=within(entry, "timeout_s", *_TIMEOUT_S) or DEFAULT_STEP_TIMEOUT_S,
        is_build=bool(entry.flag("build")),
    )


def _reports(entry: Fields, workdir: str) -> tuple[ReportFile, ...]:
    return tuple(
        ReportFile(str(PurePosixPath(workdir) / path), report.text("format"), report.text("step"))
        for report in entry.records("reports")
        if (path := path_of(report, "path")) is not None
    )


def _hidden_file(chain: Folder, file: Laid) -> HiddenFile:
    """One file of the overlay as it is now.

    Raises:
        CannotRerunError: it is missing, or is not the one that the chain names.
    """
    source = chain.file(file.place)
    if source is None:
        raise CannotRerunError(f"{file.place}: the hidden test file is not there")
    try:
        found = hashlib.sha256(source.read_bytes()).hexdigest()
        is_executable = bool(source.stat().st_mode & 0o100)
    except OSError as error:
        raise CannotRerunError(f"{file.place}: cannot be read: {error.strerror}") from error
    if file.sha256 is not None and file.sha256.lower() != found:
        raise CannotRerunError(
            f"{file.place}: not the file that chain.json names (its SHA-256 is {found[:12]}…, "
            f"expected {file.sha256[:12]}…)"
        )
    return HiddenFile(file.path, found, source, is_executable)


def _limits(entry: Fields) -> Limits:
    ours = Limits()
    return Limits(
        cpus=within(entry, "cpus", *_CPUS) or ours.cpus,
        memory_mb=int(within(entry, "memory_mb", *_MEMORY_MB) or ours.memory_mb),
        pids=int(within(entry, "pids", *_PIDS) or ours.pids),
    )
