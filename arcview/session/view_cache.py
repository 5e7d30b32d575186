"""Keeps computed views of a run as JSON files, so that a second open reads no reader's format.

A codec for a dataclass is derived from its type hints: rows of values, no names, no pickle, no
pydantic. A file that is damaged, of another version or of other inputs counts as absent.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

_CHUNK = 1 << 20
_FOLDED = re.compile(rb"\\u(?:013[01]|017f|212a)")
"""Letters, as JSON writes them, that count as i, s or k where case does not matter."""

Convert = Callable[[Any], Any] | None
"""From a value to what JSON holds, or back; null where both are the same."""


class Codec:
    """Turns values of one type into what JSON holds and back."""

    def __init__(self, encode: Convert, decode: Convert, schema: str) -> None:
        self._encode = encode
        self._decode = decode
        self.schema = schema
        """Names every field and type below; another schema is another format."""

    def encode(self, value: object) -> object:
        """The value as lists, strings, numbers and nulls."""
        return value if self._encode is None else self._encode(value)

    def decode(self, data: object) -> object:
        """The value that was encoded.

        Raises:
            ValueError, TypeError, LookupError: the data is not what `encode` gave.
        """
        return data if self._decode is None else self._decode(data)


# Evaluating an annotation costs 20 µs and most are one of these.
_PLAIN = {
    name + optional: name
    for name in ("str", "int", "float", "bool", "object")
    for optional in ("", " | None")
}


@cache
def codec_for(type_: Hashable) -> Codec:
    """The codec of a dataclass, enum, tuple, mapping, union or plain type.

    Raises:
        TypeError: the type has a part that no rule covers.
    """
    return Codec(*_build(type_))


def _build(type_: object) -> tuple[Convert, Convert, str]:
    origin = get_origin(type_)
    if type_ in (str, int, float, bool, NoneType, object, Any):
        return None, None, getattr(type_, "__name__", "any")
    if origin in (Union, UnionType):
        return _union(get_args(type_))
    if origin is tuple:
        return _tuple(get_args(type_))
    if origin is Sequence:
        return _tuple((*get_args(type_), ...))
    if origin is Literal:
        return None, None, str(type_)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(*get_args(type_))
    if isinstance(type_, type) and issubclass(type_, Enum):
        members: Mapping[object, Enum] = {member.value: member for member in type_}
        names = ",".join(str(value) for value in members)
        return (lambda member: member.value), members.__getitem__, f"{type_.__name__}({names})"
    if isinstance(type_, type) and is_dataclass(type_):
        return _dataclass(type_)
    raise TypeError(f"no codec for {type_!r}")


def _union(options: tuple[object, ...]) -> tuple[Convert, Convert, str]:
    """Optional values stay null; of several dataclasses the position tells which one it is."""
    some = [option for option in options if option is not NoneType]
    if len(some) == 1:
        encode, decode, schema = _build(some[0])
        optional = f"{schema}?"
        return _or_none(encode), _or_none(decode), optional
    codecs = [codec_for(option) for option in some]
    places = {option: place for place, option in enumerate(some)}

    def encode_one(value: object) -> object:
        place = places[type(value)]
        return [place, codecs[place].encode(value)]

    def decode_one(data: Any) -> object:
        return codecs[data[0]].decode(data[1])

    schema = "|".join(codec.schema for codec in codecs)
    return _or_none(encode_one), _or_none(decode_one), f"({schema})"


def _or_none(convert: Convert) -> Convert:
    if convert is None:
        return None
    inner = convert
    return lambda value: None if value is None else inner(value)


def _tuple(items: tuple[object, ...]) -> tuple[Convert, Convert, str]:
    if len(items) == 2 and items[1] is Ellipsis:
        encode, decode, schema = _build(items[0])
        return (
            list if encode is None else lambda value: [encode(item) for item in value],
            tuple if decode is None else lambda data: tuple([decode(item) for item in data]),
            f"[{schema}]",
        )
    codecs = [codec_for(item) for item in items]
    return (
        lambda value: [c.encode(item) for c, item in zip(codecs, value, strict=True)],
        lambda data: tuple(c.decode(item) for c, item in zip(codecs, data, strict=True)),
        "[" + ",".join(codec.schema for codec in codecs) + "]",
    )


def _mapping(key: object, item: object) -> tuple[Convert, Convert, str]:
    if key is not str:
        raise TypeError("no codec for mappings with keys that are not text")
    encode, decode, schema = _build(item)
    return (
        dict if encode is None else lambda value: {k: encode(v) for k, v in value.items()},
        None if decode is None else lambda data: {k: decode(v) for k, v in data.items()},
        "{" + schema + "}",
    )


@cache
def _dataclass(type_: type) -> tuple[Convert, Convert, str]:
    """A row of the fields in order, without the defaults at its end."""
    parts = fields(type_)
    hints: Mapping[str, Any] = {}
    if not all(part.type in _PLAIN for part in parts):
        hints = get_type_hints(type_)
    built = [
        (None, None, str(part.type)) if part.type in _PLAIN else _build(hints[part.name])
        for part in parts
    ]
    names = [part.name for part in parts]
    encoders = [encode for encode, _, _ in built]
    special = [(place, decode) for place, (_, decode, _) in enumerate(built) if decode]
    defaults = [
        _encoded_default(part, encode) for part, encode in zip(parts, encoders, strict=True)
    ]

    def encode(value: object) -> object:
        row = [
            getattr(value, name) if encode_part is None else encode_part(getattr(value, name))
            for name, encode_part in zip(names, encoders, strict=True)
        ]
        while row and row[-1] == defaults[len(row) - 1]:
            row.pop()
        return row

    def decode(row: Any) -> object:
        for place, decode_part in special:
            if place >= len(row):
                break
            row[place] = decode_part(row[place])
        return type_(*row)

    inner = ",".join(f"{name}:{schema}" for name, (_, _, schema) in zip(names, built, strict=True))
    return encode, decode, f"{type_.__name__}({inner})"


_NO_DEFAULT = object()


def _encoded_default(part: Field[Any], encode: Convert) -> object:
    if part.default is not MISSING:
        default = part.default
    elif part.default_factory is not MISSING:
        default = part.default_factory()
    else:
        return _NO_DEFAULT
    return default if encode is None else encode(default)


class ViewCache:
    """The folder of cached views of one run."""

    def __init__(self, folder: Path, version: str) -> None:
        """Opens the cache; nothing is read or made yet.

        Args:
            folder: Where the files lie; made on the first save.
            version: What besides the schema makes a file another format.
        """
        self._folder = folder
        self._version = version

    def load(self, name: str, type_: type[T], stamp: str | None) -> T | None:
        """A view that was saved under this name and stamp, or null.

        Args:
            name: What is kept (`gate-3-S3`).
            type_: Its type.
            stamp: What it was computed from; null takes any.
        """
        codec = codec_for(cast("Hashable", type_))
        try:
            with self._file(name).open("rb") as file:
                data = json.load(file)
            if data["format"] != self._format(codec):
                return None
            if stamp is not None and data["stamp"] != stamp:
                return None
            return cast("T", codec.decode(data["value"]))
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            # Absent or damaged: the view is computed again and the file replaced.
            return None

    def save(self, name: str, type_: type[T], stamp: str, value: T) -> None:
        """Keeps a view. A cache that cannot be written costs time and nothing else."""
        codec = codec_for(cast("Hashable", type_))
        data = {"format": self._format(codec), "stamp": stamp, "value": codec.encode(value)}
        target = self._file(name)
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        with suppress(OSError, RecursionError):
            self._folder.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(data, separators=(",", ":")), encoding="ascii")
            part.replace(target)

    def lacks(self, name: str, type_: type[T], stamp: str, word: str) -> bool:
        """Whether a view is kept and certainly holds a word nowhere, whatever its case.

        Looks at the bytes alone, which takes a tenth of the time that decoding them does.

        Args:
            name: What is kept.
            type_: Its type.
            stamp: What it was computed from.
            word: ASCII letters, digits and underscores, in lower case: JSON escapes none of them.
        """
        head = {"format": self._format(codec_for(cast("Hashable", type_))), "stamp": stamp}
        begins = json.dumps(head, separators=(",", ":"))[:-1].encode("ascii")
        wanted = word.encode("ascii")
        overlap = max(len(wanted), len("\\u0130")) - 1
        try:
            with self._file(name).open("rb") as file:
                if file.read(len(begins)) != begins:
                    return False
                tail = b""
                while chunk := file.read(_CHUNK):
                    lowered = tail + chunk.lower()
                    if wanted in lowered or _FOLDED.search(lowered):
                        return False
                    tail = lowered[-overlap:]
        except OSError:
            return False
        return True

    def _file(self, name: str) -> Path:
        safe = re.sub(
            r"[^\w.-]",
            lambda m: "".join(f"%{b:02x}" for b in m[0].encode(errors="surrogatepass")),
            name,
        )
        return self._folder / f"{safe}.json"

    def _format(self, codec: Codec) -> str:
        return f"{self._version}-{zlib.crc32(codec.schema.encode()):08x}"
