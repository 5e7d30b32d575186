"""What reading the JSON files of a native run needs beside `readers.fields`: words, names, faults.

One bad field must not hide the rest of a run: it is reported and taken as unknown. Loads no
pydantic (100 ms): opening a run is on the way to the first painted screen. `readers.check` compares
the same files with the full models.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypeVar

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.readers.fields import Fields
from arcview.schema.words import one_line, shown

_T = TypeVar("_T")


def as_problem(error: BadInputError) -> Problem:
    """An expected error as a line beside what could be read."""
    where = f"{error.path}: {error.field}" if error.field else error.path
    return Problem(where, error.expected)


def tidy(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems as one line each, whatever names of the run they quote, and each once."""
    return tuple(dict.fromkeys(Problem(one_line(p.where), one_line(p.what)) for p in problems))


def note(fields: Fields, key: str, what: str) -> None:
    """Adds a problem of one field, once."""
    problem = Problem(f"{fields.shown}: {fields.place(key)}", what)
    if problem not in fields.problems:
        fields.problems.append(problem)


def has(fields: Fields, key: str) -> bool:
    """Whether the field is there and not null."""
    return fields.values.get(key) is not None


def word(fields: Fields, key: str, words: Mapping[str, _T]) -> _T | None:
    """One of the words of the format, as what it stands for; another word is reported."""
    value = fields.values.get(key)
    if value is None:
        return None
    if isinstance(value, str) and value in words:
        return words[value]
    expected = ", ".join(f'"{known}"' for known in words)
    note(fields, key, f"expected {expected}, found {shown(value)}; ignored")
    return None


def label(fields: Fields, key: str) -> str | None:
    """A name that may be written as a whole number."""
    value = fields.values.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return fields.text(key)


def path_of(fields: Fields, key: str) -> str | None:
    """A path in the container; what is no path is noted, one that is missing, too."""
    path = fields.text(key)
    if not path or not can_be_passed(path):
        note(fields, key, "expected a path")
        return None
    return path


def can_be_passed(text: str) -> bool:
    """Whether a text can be a file name or an argument of a program."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def amount(fields: Fields, key: str) -> float | None:
    """A number that cannot be negative: seconds, dollars."""
    number = fields.number(key)
    if number is not None and number < 0:
        note(fields, key, f"expected 0 or more, found {number}; ignored")
        return None
    return number
