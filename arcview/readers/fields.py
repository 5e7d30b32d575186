"""Typed access to JSON and YAML of foreign layouts, without pydantic: it would cost 90 ms at start.

What has the wrong type is reported with its file and field and then treated as unknown; only what
a layout cannot do without raises. Must not import pydantic or anything of the terminal.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import read_file
from arcview.model.problem import Problem
from arcview.readers.packed import read_unpacked

_NAMES = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a mapping",
    type(None): "nothing",
}


def read_bytes(path: Path, shown: str) -> bytes:
    """Reads a whole file.

    Args:
        path: The file.
        shown: How the user would name it.

    Raises:
        BadInputError: it is missing, a folder, or unreadable.
    """
    try:
        return read_file(path)
    except IsADirectoryError as error:
        raise BadInputError(shown, "expected a file, found a folder") from error
    except FileNotFoundError as error:
        raise BadInputError(shown, "the file is missing") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInputError(shown, f"cannot be read: {reason}") from error


def parse_json(data: bytes, shown: str) -> object:
    """Parses JSON, tolerating a byte-order mark; `NaN` and `Infinity` become texts.

    Raises:
        BadInputError: it is empty or not JSON; names the line.
    """
    if not data.strip():
        raise BadInputError(shown, "expected JSON, the file is empty")
    try:
        return json.loads(data.decode("utf-8-sig", "replace"), parse_constant=str)
    except json.JSONDecodeError as error:
        raise BadInputError(shown, f"expected JSON: {error.msg}", f"line {error.lineno}") from error
    except RecursionError as error:
        raise BadInputError(shown, "nested too deeply") from error
    except ValueError as error:
        raise BadInputError(shown, f"expected JSON: {error}") from error


def parse_yaml(data: bytes, shown: str) -> object:
    """Parses YAML with plain types only.

    Raises:
        BadInputError: it is not YAML; names the line.
    """
    import yaml  # 15 ms, and only foreign layouts need it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(data.decode("utf-8-sig", "replace"), Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = None if mark is None else f"line {mark.line + 1}"
        raise BadInputError(shown, f"expected YAML: {error.problem}", line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInputError(shown, f"expected YAML: {str(error).splitlines()[0]}") from error


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping from a file, with its place in it. Missing fields and null are both unknown.

    Every accessor returns the value when it has the right type; otherwise it notes a problem and
    returns what stands for unknown.
    """

    shown: str
    """The file, as the user would name it."""
    values: dict[str, object]
    problems: list[Problem] = field(default_factory=list)
    """Shared by everything that is read for one run."""
    prefix: str = ""
    """Dotted path of this mapping within the file."""

    @classmethod
    def of(cls, value: object, shown: str, problems: list[Problem]) -> Fields:
        """Wraps the root of a file.

        Raises:
            BadInputError: the root is not a mapping.
        """
        if not isinstance(value, dict):
            raise BadInputError(shown, f"expected a mapping, found {_named(value)}")
        return cls(shown, {str(key): item for key, item in value.items()}, problems)

    @classmethod
    def json_file(cls, path: Path, shown: str, problems: list[Problem]) -> Fields:
        """Reads a JSON file whose root is a mapping.

        Raises:
            BadInputError: it is missing, unreadable, not JSON, or its root is something else.
        """
        return cls.of(parse_json(read_unpacked(path, shown), shown), shown, problems)

    @classmethod
    def yaml_file(cls, path: Path, shown: str, problems: list[Problem]) -> Fields:
        """Reads a YAML file whose root is a mapping.

        Raises:
            BadInputError: it is missing, unreadable, not YAML, or its root is something else.
        """
        return cls.of(parse_yaml(read_bytes(path, shown), shown), shown, problems)

    def place(self, key: str) -> str:
        """The dotted path of a field, for messages."""
        return f"{self.prefix}.{key}" if self.prefix else key

    def text(self, key: str) -> str | None:
        """A text; dates, which YAML parses by itself, count as texts in ISO 8601."""
        value = self.values.get(key)
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, str):
            return value
        self._wrong(key, "a text", value)
        return None

    def number(self, key: str) -> float | None:
        """A finite number, whole or not."""
        value = self.values.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            number = _as_float(value)
            if math.isfinite(number):
                return number
        self._wrong(key, "a finite number", value)
        return None

    def count(self, key: str) -> int | None:
        """A whole number that is not negative; `3.0` counts as one."""
        number = self.number(key)
        if number is not None and number >= 0 and number.is_integer():
            return int(number)
        self._wrong(key, "a count", number)
        return None

    def flag(self, key: str) -> bool | None:
        """True or false."""
        value = self.values.get(key)
        if isinstance(value, bool):
            return value
        self._wrong(key, "true or false", value)
        return None

    def sub(self, key: str) -> Fields:
        """A mapping; empty when there is none."""
        value = self.values.get(key)
        if not isinstance(value, dict):
            self._wrong(key, "a mapping", value)
            value = {}
        return self._within(self.place(key), value)

    def subs(self) -> Iterator[tuple[str, Fields]]:
        """The mappings among the values, with their keys; others are noted as problems."""
        for key, value in self.values.items():
            if isinstance(value, dict):
                yield key, self._within(self.place(key), value)
            else:
                self._wrong(key, "a mapping", value)

    def texts(self, key: str) -> list[str]:
        """A list of texts; what is not a text in it is noted and left out."""
        items = self._items(key)
        texts = [item for item in items if isinstance(item, str)]
        self._left_out(key, "a text", len(items) - len(texts))
        return texts

    def records(self, key: str) -> list[Fields]:
        """A list of mappings; what is not a mapping in it is noted and left out."""
        items = self._items(key)
        places = ((f"{self.place(key)}[{index}]", item) for index, item in enumerate(items))
        records = [self._within(place, item) for place, item in places if isinstance(item, dict)]
        self._left_out(key, "a mapping", len(items) - len(records))
        return records

    def need_text(self, key: str) -> str:
        """A text that the layout cannot do without.

        Raises:
            BadInputError: it is missing or not a text.
        """
        value = self.values.get(key)
        if isinstance(value, str) and value:
            return value
        raise BadInputError(self.shown, f"expected a text, found {_named(value)}", self.place(key))

    def _within(self, place: str, values: dict[str, object]) -> Fields:
        named = {str(name): item for name, item in values.items()}
        return Fields(self.shown, named, self.problems, place)

    def _items(self, key: str) -> list[object]:
        value = self.values.get(key)
        if isinstance(value, list):
            return value
        self._wrong(key, "a list", value)
        return []

    def _left_out(self, key: str, expected: str, count: int) -> None:
        if count:
            what = f"{count} of its items left out: each should be {expected}"
            self._note(key, what)

    def _wrong(self, key: str, expected: str, value: object) -> None:
        if value is not None:
            self._note(key, f"expected {expected}, found {_named(value)}; ignored")

    def _note(self, key: str, what: str) -> None:
        problem = Problem(f"{self.shown}: {self.place(key)}", what)
        if problem not in self.problems:
            self.problems.append(problem)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _named(value: object) -> str:
    """What a value is, for messages; short and free of the value's own text where it is long."""
    name = _NAMES.get(type(value), type(value).__name__)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        text = repr(value) if isinstance(value, float) or len(str(value)) <= 40 else "a long one"
        return f"{name} ({text})"
    return name
