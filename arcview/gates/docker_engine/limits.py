"""Which limits an engine enforces, from what it says of itself. Pure."""

from __future__ import annotations

from collections.abc import Mapping

_SAID = {
    "memory": ("MemoryLimit", "SwapLimit"),
    "pids": ("PidsLimit",),
    "cpus": ("CpuCfsQuota",),
}
_ALWAYS = ("network", "capabilities", "time", "output")
"""What every engine of this API does, or we do ourselves."""


def limits_of(info: Mapping[str, object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Limits that are enforced, and those that are asked for and silently ignored.

    Args:
        info: The engine's answer to `/info`.
    """
    by_driver = info.get("CgroupDriver") != "none"
    enforced = [
        name
        for name, keys in _SAID.items()
        if by_driver and all(info.get(key) is not False for key in keys[:1])
    ]
    ignored = tuple(name for name in _SAID if name not in enforced)
    return (*enforced, *_ALWAYS), ignored


def notes_of(info: Mapping[str, object]) -> tuple[str, ...]:
    """What of the engine's isolation is worth knowing."""
    options = info.get("SecurityOptions")
    said = " ".join(str(o) for o in options) if isinstance(options, list) else ""
    notes = []
    if "name=rootless" in said:
        notes.append("a rootless engine")
    if "seccomp" not in said:
        notes.append("no seccomp profile")
    if info.get("SwapLimit") is False and info.get("MemoryLimit") is not False:
        notes.append("memory is limited, swap is not")
    return tuple(notes)
