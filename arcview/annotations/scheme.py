"""The label scheme: which fields a case has, their codes, what these mean and which key sets them.

Read from TOML, the shipped file or a team's own. Imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from arcview.errors import BadInputError
from arcview.files import in_words, is_file, read_text
from arcview.model.annotation import Reading

SCHEMA = "arcview/scheme/1"
Kind = Literal["one", "many", "scale"]
Carrier = Literal["case", "origin", "effect", "awareness"]
_KINDS = ("one", "many", "scale")
_CARRIERS = ("case", "origin", "effect", "awareness")
FIELDS = ("validity", "defect", "mechanism", "awareness", "awareness_flags", "cause", "causes",
          "outcome", "grade", "confidence")  # fmt: skip
"""The fields that a case can hold; a scheme may leave some out."""


_SHORT = 4


def is_short(code: str) -> bool:
    """Whether people know a code beside its name: `V1`, not `persists_to_chain`."""
    return len(code) <= _SHORT


@dataclass(frozen=True, slots=True)
class Code:
    """One label."""

    code: str
    name: str
    definition: str
    key: str | None = None
    source: str | None = None
    maps: Mapping[str, str] = field(default_factory=dict)
    """The same notion in other schemes: `mast` → `1.1`."""

    @property
    def shown(self) -> str:
        """`V1 unspecified behaviour`; the name alone where the code is a word as well."""
        return f"{self.code} {self.name}" if is_short(self.code) else self.name


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that is labelled."""

    id: str
    title: str
    kind: Kind
    of: Carrier
    codes: tuple[Code, ...]
    key: str | None = None
    help: str = ""
    source: str | None = None

    def find(self, code: str | None) -> Code | None:
        """The code with that name, or null."""
        return next((found for found in self.codes if found.code == code), None)

    def by_key(self, key: str) -> Code | None:
        """The code that a key sets, or null."""
        return next((found for found in self.codes if found.key == key), None)


@dataclass(frozen=True, slots=True)
class UnknownLabel:
    """A label that the scheme does not have: kept, and shown as such."""

    field: str
    code: str
    nearest: str | None
    """A code that is written nearly the same, where there is one."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """A whole label scheme."""

    name: str
    version: str
    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def field(self, field_id: str) -> Field | None:
        """The field with that id, or null."""
        return next((found for found in self.fields if found.id == field_id), None)

    def by_key(self, key: str) -> Field | None:
        """The field that a key asks for, or null."""
        return next((found for found in self.fields if found.key == key), None)

    def name_of(self, field_id: str, code: str | None) -> str:
        """`V1 unspecified behaviour`; the bare code where the scheme does not have it."""
        found = self.field(field_id)
        known = found.find(code) if found is not None else None
        return known.shown if known is not None else code or ""

    def mapped(self, field_id: str, code: str | None, other: str) -> str | None:
        """What another scheme calls a code, or null."""
        found = self.field(field_id)
        known = found.find(code) if found is not None else None
        return known.maps.get(other) if known is not None else None

    def unknown(self, field_id: str, code: str) -> UnknownLabel | None:
        """Whether a label is none of the scheme's, with the nearest one that is."""
        found = self.field(field_id)
        if found is not None and found.find(code) is not None:
            return None
        codes = [known.code for known in found.codes] if found is not None else []
        return UnknownLabel(field_id, code, _nearest(code, codes))

    def unknown_in(self, reading: Reading) -> tuple[UnknownLabel, ...]:
        """Every label of a reading that the scheme does not have, each once."""
        found = (self.unknown(field_id, code) for field_id, code in labels_of(reading))
        return tuple(dict.fromkeys(label for label in found if label is not None))


def labels_of(reading: Reading) -> Iterable[tuple[str, str]]:
    """(Field, code) of every label that a reading holds."""
    single = {
        "validity": reading.validity,
        "grade": reading.grade,
        "confidence": None if reading.confidence is None else str(reading.confidence),
    }
    yield from ((name, code) for name, code in single.items() if code is not None)
    yield from (("outcome", code) for code in reading.outcome)
    for origin in reading.origins:
        for name, code in (("defect", origin.defect), ("cause", origin.cause)):
            if code is not None:
                yield name, code
        yield from (("causes", code) for code in origin.causes)
    for effect in reading.effects:
        yield from (("mechanism", code) for code in effect.mechanisms)
    for aware in reading.awareness:
        if aware.level is not None:
            yield "awareness", aware.level
        yield from (("awareness_flags", flag) for flag in aware.flags)


def _nearest(code: str, known: list[str]) -> str | None:
    """The code that differs in blanks, dashes, case or a slip of the pen; short ones never."""
    from difflib import get_close_matches  # 2 ms for what is rare

    plain = {_plain(one): one for one in reversed(known)}
    if _plain(code) in plain:
        return plain[_plain(code)]
    if len(code) < 5:
        return None
    found = get_close_matches(_plain(code), plain, n=1, cutoff=0.85)
    return plain[found[0]] if found else None


def _plain(code: str) -> str:
    return "".join(char for char in code.casefold() if char.isalnum())


@cache
def default_scheme() -> Scheme:
    """The scheme that is shipped."""
    return load_scheme(Path(__file__).with_name("default_scheme.toml"))


def team_scheme(root: Path, given: Path | None) -> Scheme:
    """The scheme that a flag names, else that of the sidecar, else the shipped one.

    Raises:
        BadInputError: it is no sound scheme.
    """
    shared = root / "scheme.toml"
    if given is None and not is_file(shared):
        return default_scheme()
    return load_scheme(given or shared)


def load_scheme(path: Path) -> Scheme:
    """Reads a scheme.

    Raises:
        BadInputError: it cannot be read, is not TOML, or is no sound scheme.
    """
    import tomllib  # 5 ms that only those who label pay

    try:
        data = tomllib.loads(read_text(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(str(path), f"cannot be read: {in_words(error)}") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(str(path), f"not TOML: {error}") from error
    return scheme_from(data, str(path))


def scheme_from(data: Mapping[str, Any], file: str) -> Scheme:
    """A scheme from what its file holds.

    Args:
        data: The parsed file.
        file: Its name, for messages.

    Raises:
        BadInputError: a part is missing, of a wrong type, or stands there twice.
    """
    reader = _Reader(file)
    if data.get("schema") != SCHEMA:
        raise BadInputError(file, f"expected {SCHEMA!r}", "schema")
    fields: list[Field] = []
    for place, item in enumerate(reader.tables(data, "field", "")):
        fields.append(_field(reader, item, f"field[{place}].", fields))
    reader.unique([found.id for found in fields], "field", "id")
    reader.unique([found.key for found in fields], "field", "key")
    return Scheme(reader.text(data, "name", ""), reader.text(data, "version", ""), tuple(fields))


def _field(reader: _Reader, item: Mapping[str, Any], where: str, earlier: list[Field]) -> Field:
    shared = reader.optional(item, "codes_of", where)
    if shared is None:
        codes = tuple(
            _code(reader, code, f"{where}code[{place}].")
            for place, code in enumerate(reader.tables(item, "code", where))
        )
    else:
        codes = next((known.codes for known in earlier if known.id == shared), ())
        if not codes:
            raise BadInputError(reader.file, f"no field {shared!r} above it", f"{where}codes_of")
    found = Field(
        reader.word(item, "id", where, FIELDS),
        reader.text(item, "title", where),
        cast("Kind", reader.word(item, "kind", where, _KINDS)),
        cast("Carrier", reader.word(item, "of", where, _CARRIERS)),
        codes,
        reader.optional(item, "key", where),
        reader.optional(item, "help", where) or "",
        reader.optional(item, "source", where),
    )
    reader.unique([code.code for code in codes], f"{where}code", "code")
    reader.unique([code.key for code in codes], f"{where}code", "key")
    return found


def _code(reader: _Reader, item: Mapping[str, Any], where: str) -> Code:
    maps = item.get("maps", {})
    if not isinstance(maps, Mapping) or not all(isinstance(v, str) for v in maps.values()):
        raise BadInputError(reader.file, "expected a table of texts", f"{where}maps")
    return Code(
        reader.text(item, "code", where),
        reader.text(item, "name", where),
        reader.text(item, "definition", where),
        reader.optional(item, "key", where),
        reader.optional(item, "source", where),
        dict(maps),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Typed access to the tables of one file."""

    file: str

    def text(self, item: Mapping[str, Any], name: str, where: str) -> str:
        value = item.get(name)
        if not isinstance(value, str) or not value:
            raise BadInputError(self.file, "expected a text", where + name)
        return value

    def optional(self, item: Mapping[str, Any], name: str, where: str) -> str | None:
        return self.text(item, name, where) if name in item else None

    def word(self, item: Mapping[str, Any], name: str, where: str, known: tuple[str, ...]) -> str:
        value = self.text(item, name, where)
        if value not in known:
            raise BadInputError(self.file, f"expected one of {', '.join(known)}", where + name)
        return value

    def tables(self, item: Mapping[str, Any], name: str, where: str) -> list[Mapping[str, Any]]:
        value = item.get(name)
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(one, Mapping) for one in value)
        ):
            raise BadInputError(self.file, "expected one or more tables", where + name)
        return value

    def unique(self, values: list[str | None], where: str, name: str) -> None:
        seen = [value for value in values if value is not None]
        twice = sorted({value for value in seen if seen.count(value) > 1})
        if twice:
            raise BadInputError(self.file, f"{name} {twice[0]!r} stands there twice", where)


def scheme_of_lists(name: str, lists: Mapping[str, Iterable[str]]) -> Scheme:
    """A scheme that is known by the names of its labels only, as foreign files bring one.

    Args:
        name: What to call it.
        lists: Field → its labels; fields that a case cannot hold are left out.
    """
    known = {found.id: found for found in default_scheme().fields}
    fields = [
        replace(known[field_id], codes=tuple(Code(code, code, "") for code in codes))
        for field_id, codes in lists.items()
        if field_id in known
    ]
    return Scheme(name, "", tuple(fields))
