"""Masks what looks like a key, token or password, for screens and exports. Pure text."""

from __future__ import annotations

import re
from collections.abc import Iterator

MASK = "[masked]"
_SHOWN = 4
"""Characters of a masked value that stay, so that a person can tell which key it was."""

_SHAPES = (
    r"sk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{20,}",
    r"(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{40,}",
    r"gl(?:pat|dt|ptt|rt)-[A-Za-z0-9_-]{18,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])",
    r"AIza[0-9A-Za-z_-]{35}",
    r"ya29\.[0-9A-Za-z_-]{20,}",
    r"hf_[A-Za-z]{30,}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,}",
    r"(?:r8|gsk|xai|pplx|tvly|dop_v1|lin_api|figd|rk_live|sk_live|sk_test)[_-][A-Za-z0-9_-]{20,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
)
"""Values whose shape alone says what they are."""

_KEY = re.compile(r"(?<![A-Za-z0-9])(?P<value>" + "|".join(_SHAPES) + ")")
_PEM = re.compile(
    r"-----BEGIN (?P<kind>[A-Z ]*PRIVATE KEY)-----(?P<value>.*?)(?:-----END (?P=kind)-----|\Z)",
    re.DOTALL,
)
_HEADER = re.compile(
    r"\b(?:Authorization|Proxy-Authorization)[\"']?\s*[:=]\s*[\"']?(?:Bearer|Basic|Token)\s+"
    r"(?P<value>[^\s\"',;]{8,})|\b[Bb]earer\s+(?P<bare>[A-Za-z0-9._~+/-]{20,}=*)",
    re.IGNORECASE,
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@\"'<>]+:(?P<value>[^\s/@\"'<>]{3,})@", re.I)
_FIELD = re.compile(
    r"[\w-]*(?:api[_-]?key|apikey|secret|token|passw(?:or)?d|access[_-]?key|private[_-]?key"
    r"|credentials?|auth[_-]?key)[\w-]*[\"']?\s*(?:=|:|=>)\s*[\"']?"
    r"(?P<value>[A-Za-z0-9+/_.~-]{12,}=*)",
    re.IGNORECASE,
)
_HINT = re.compile(
    r"sk-|gh[pours]_|github_pat_|gl(?:pat|dt|ptt|rt)-|xox|AKIA|ASIA|AIza|ya29|hf_|npm_|pypi-|eyJ|SG\."
    r"|r8_|gsk_|xai-|pplx-|tvly-|dop_v1|lin_api|figd_|_live_|_test_|PRIVATE KEY|bearer|authoriz"
    r"|://|key|secret|token|passw|credential",
    re.IGNORECASE,
)


def mask_secrets(text: str) -> str:
    """The text with every key-shaped value masked; its first characters stay.

    Fields that are called like secrets are masked where their value looks random: letters and
    digits mixed, twelve characters or more.
    """
    if not _HINT.search(text):
        return text
    spans = sorted(set(_spans(text)))
    if not spans:
        return text
    out: list[str] = []
    place = 0
    for start, end in spans:
        if start < place:  # inside what is masked already
            continue
        shown = start if end - start < 3 * _SHOWN else start + _SHOWN
        out += (text[place:shown], MASK)
        place = end
    return "".join((*out, text[place:]))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_PEM, _KEY, _URL):
        for match in pattern.finditer(text):
            yield match.span("value")
    for match in _HEADER.finditer(text):
        yield match.span("value" if match["value"] else "bare")
    for match in _FIELD.finditer(text):
        if _is_random(match["value"]):
            yield match.span("value")


def _is_random(value: str) -> bool:
    digits = sum(character.isdigit() for character in value)
    letters = sum(character.isalpha() for character in value)
    # Names and versions hold few digits, paths hold slashes between words.
    return digits >= 3 and letters >= 3 and not re.fullmatch(r"[a-z_]+\d+", value)
