"""JSON files that carry a checksum of themselves, so that a change by hand is seen.

Must not import an engine.
"""

from __future__ import annotations

import hashlib
import json

from arcview.errors import BadInputError
from arcview.readers.fields import Fields, parse_json

Json = dict[str, object]


def digest_of(values: object) -> str:
    """SHA-256 of values as JSON, whatever the order of their names."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def sealed(values: Json) -> bytes:
    """The file with these values."""
    text = json.dumps({**values, "checksum": digest_of(values)}, indent=1, ensure_ascii=True)
    return f"{text}\n".encode("ascii")


def unsealed(data: bytes, shown: str) -> Json:
    """The values of a file that `sealed` made.

    Args:
        data: The file.
        shown: What it is called in messages.

    Raises:
        BadInputError: it is no JSON object, is damaged, or was changed by hand.
    """
    values = dict(Fields.of(parse_json(data, shown), shown, []).values)
    if values.pop("checksum", None) != digest_of(values):
        raise BadInputError(shown, "damaged, or changed by hand: its checksum does not fit")
    return values
