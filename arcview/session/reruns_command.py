"""A gate's commands as people read them, and as a shell command that does a rerun without arcview.

Pure; must not import an engine.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from arcview.gates.definition import GateDefinition, GateStep


def command_text(definition: GateDefinition) -> str:
    """The commands, a line each, with the variables that are set for them."""
    return "\n".join(_line(step) for step in definition.steps)


def shell_command(definition: GateDefinition, tree: str, git_dir: Path) -> str:
    """A command that runs the gate on a tree in a container, for machines where an engine is.

    Args:
        definition: The gate.
        tree: Git tree id of the state.
        git_dir: The store that has it.
    """
    archive = f"git --git-dir={shlex.quote(str(git_dir))} archive --format=tar {tree}"
    folders = dict.fromkeys(_overlay_root(file.source, file.path) for file in definition.overlay)
    tars = [archive, *(f"tar -C {shlex.quote(str(folder))} -c ." for folder in folders)]
    sent = f"{{ {'; '.join(tars)}; }}" if len(tars) > 1 else archive
    limits = definition.limits
    run = [
        *("docker", "run", "--rm", "-i", "--network", "none", "--init"),
        *("--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
        *("--memory", f"{limits.memory_mb}m", "--memory-swap", f"{limits.memory_mb}m"),
        *("--cpus", f"{limits.cpus:g}", "--pids-limit", str(limits.pids)),
        *(("--user", definition.user) if definition.user else ()),
        *("-w", definition.workdir, definition.image_ref or "IMAGE"),
    ]
    inside = "; ".join(["tar -xif -", *(_line(step) for step in definition.steps)])
    return f"{sent} | {shlex.join(run)} sh -c {shlex.quote(inside)}"


def _overlay_root(source: Path, path: str) -> Path:
    return source.parents[len(Path(path).parts) - 1]


def _line(step: GateStep) -> str:
    env = [f"{name}={shlex.quote(value)}" for name, value in step.env]
    return " ".join([*env, shlex.join(step.command)])
