"""Predictions files: what an agent submitted for each instance of a benchmark.

Keyed by instance, a list, a single record, or one record a line. Reads whole files: they hold the
patches themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from arcview.errors import BadInputError
from arcview.readers.fields import parse_json, read_bytes

_MAX_BYTES = 256 << 20
_PATCH = ("model_patch", "patch", "git_patch")


@dataclass(frozen=True, slots=True)
class Prediction:
    """What was submitted for one instance."""

    patch: str | None
    """Null where the file says null: there was nothing to submit."""
    model: str | None = None
    file: str = ""
    """Name of the file that says it."""


def find_prediction(path: Path, instance: str) -> Prediction | None:
    """What a predictions file says of an instance; null where it does not name it.

    Of several records for one instance the last one counts: files are appended to.

    Raises:
        BadInputError: the file cannot be read, or is no predictions file.
    """
    look = path.stat()
    if look.st_size > _MAX_BYTES:
        raise BadInputError(path.name, "too large for a predictions file")
    return _by_instance(path, look.st_mtime_ns, look.st_size).get(instance)


@lru_cache(maxsize=2)
def _by_instance(path: Path, mtime_ns: int, size_bytes: int) -> Mapping[str, Prediction]:
    """All of a file; a batch asks for one instance after the other."""
    found = {}
    for key, record in _records(read_bytes(path, path.name), path.name):
        patch = next((record[name] for name in _PATCH if name in record), None)
        model = record.get("model_name_or_path")
        prediction = Prediction(
            patch if isinstance(patch, str) else None,
            model if isinstance(model, str) and model else None,
            path.name,
        )
        for name in (key, record.get("instance_id")):
            if isinstance(name, str):
                found[name] = prediction
    return found


def _records(data: bytes, name: str) -> Iterator[tuple[str | None, Mapping[str, object]]]:
    try:
        value = parse_json(data, name)
    except BadInputError:
        lines = list(_lines(data))
        if not lines:
            raise
        yield from ((None, record) for record in lines)
        return
    if isinstance(value, dict) and any(key in value for key in (*_PATCH, "instance_id")):
        yield None, value
    elif isinstance(value, dict):
        yield from ((key, item) for key, item in value.items() if isinstance(item, dict))
    elif isinstance(value, list):
        yield from ((None, item) for item in value if isinstance(item, dict))


def _lines(data: bytes) -> Iterator[Mapping[str, object]]:
    """The objects among the lines; a torn last line is left out."""
    for line in data.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record
