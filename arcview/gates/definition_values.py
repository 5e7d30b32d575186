"""Values of chain.json that decide how a gate is run; what cannot be meant is noted, never guessed.

A value that is left out would run something else than the chain says. Must not import anything of a
container engine.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from arcview.readers.fields import Fields
from arcview.readers.runs.native_fields import can_be_passed, note

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_USER = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,63}(:[A-Za-z0-9_.][A-Za-z0-9_.-]{0,63})?")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*([/:@][A-Za-z0-9][A-Za-z0-9._-]*)*")
_DIGEST = re.compile(rf"({_IMAGE.pattern}@)?sha256:[0-9a-f]{{64}}")
_TREE = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def command_of(step: Fields) -> tuple[str, ...]:
    """The command of a step."""
    parts = step.texts("command")
    if not all(can_be_passed(part) for part in parts):
        note(step, "command", "a part of it cannot be passed to any program")
    elif parts and not parts[0]:
        note(step, "command", "expected the name of a program first, found an empty text")
    return tuple(parts)


def environment_of(step: Fields) -> tuple[tuple[str, str], ...]:
    """The variables that are set for a step."""
    env = step.sub("env")
    for name in env.values:
        value = env.text(name)
        if not _VARIABLE.fullmatch(name):
            note(step, "env", f"no variable can be called {ascii(name)[:80]}")
        elif value is None or not can_be_passed(value):
            note(step, "env", f"{name}: expected a text that can be passed to a program")
    return tuple((name, value) for name, value in env.values.items() if isinstance(value, str))


def user_of(step: Fields) -> str | None:
    """Whom a step runs as."""
    return _matching(step, "user", _USER, "expected a user, or user:group")


def image_of(image: Fields) -> tuple[str | None, str | None, str | None]:
    """Name, digest and base tree of the image."""
    return (
        _matching(image, "ref", _IMAGE, "expected the name of an image"),
        _matching(image, "digest", _DIGEST, "expected sha256: and 64 hexadecimal digits"),
        _matching(image, "base_tree", _TREE, "expected the id of a git tree"),
    )


def within(fields: Fields, key: str, least: float, most: float) -> float | None:
    """A number in a range."""
    number = fields.number(key)
    if number is not None and not least <= number <= most:
        note(fields, key, f"expected {least:g} to {most:,.0f}, found {number:g}")
    return number


def workdir_of(chain: Fields) -> str | None:
    """The workspace folder in the container, in its plain form; null where it is none."""
    path = chain.text("workdir")
    if path is None or not can_be_passed(path):
        return None
    pure = PurePosixPath("/", path.lstrip("/"))
    is_meant = path.startswith("/") and ".." not in pure.parts and len(pure.parts) > 1
    return str(pure) if is_meant else None


def test_ids(gate: Fields, key: str) -> tuple[str, ...] | None:
    """A list of test ids, each once; null where the gate has no such list."""
    if key not in gate.values:
        return None
    return tuple(dict.fromkeys(gate.texts(key)))


def _matching(fields: Fields, key: str, pattern: re.Pattern[str], expected: str) -> str | None:
    text = fields.text(key) or None
    if text is not None and not pattern.fullmatch(text):
        note(fields, key, f"{expected}, found {ascii(text)[:80]}")
    return text
