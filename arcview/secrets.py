"""Masks what looks like a key, token or password: the one set of rules for screens and exports.

Pure text; imports the standard library only. No expression is compiled before a text has one of
its hints: most texts have none, and the first frame of a run waits for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

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


class _Rule(NamedTuple):
    """One kind of place that secrets stand in."""

    hints: tuple[str, ...]
    """A text in lower case that holds none of them is not looked at."""
    pattern: str
    """For the text in lower case; it begins with letters that a search finds quickly. The group
    `value`, or `bare`, is what is masked."""
    holds: Callable[[str], bool] = bool
    """Whether a value is one."""
    exact: bool = False
    """For the text as it is."""


def _is_random(value: str) -> bool:
    digits = sum(character.isdigit() for character in value)
    letters = sum(character.isalpha() for character in value)
    # Names and versions hold few digits, paths hold slashes between words.
    return digits >= 3 and letters >= 3 and not re.fullmatch(r"[a-z_]+\d+", value)


_RULES = (
    _Rule(
        (
            "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-",
            "glptt-", "glrt-", "xox", "akia", "asia", "aiza", "ya29.", "hf_", "npm_", "pypi-",
            "r8_", "r8-", "gsk", "xai", "pplx", "tvly", "dop_v1", "lin_api", "figd", "rk_live",
            "sk_live", "sk_test", "sg.", "eyj",
        ),
        r"(?<![A-Za-z0-9])(?P<value>" + "|".join(_SHAPES) + ")",
        exact=True,
    ),
    _Rule(
        ("authorization",),
        r"authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+(?P<value>[^\s\"',;]{8,})",
    ),
    _Rule(("bearer",), r"bearer\s+(?P<value>[a-z0-9._~+/-]{20,}=*)"),
    _Rule(("://",), r"://[^\s/:@\"'<>]+:(?P<value>[^\s/@\"'<>]{3,})@"),
    _Rule(
        ("key", "secret", "token", "passw", "credential"),
        r"(?:api[_-]?key|secret|token|passw(?:or)?d|access[_-]?key|private[_-]?key|credentials?"
        r"|auth[_-]?key)[\w-]*[\"']?\s*(?:=|:|=>)\s*[\"']?(?P<value>[a-z0-9+/_.~-]{12,}=*)",
        _is_random,
    ),
)  # fmt: skip
_HINTS = ("private key-----", *(hint for rule in _RULES for hint in rule.hints))
_SHORTEST = len("://a:abc@")
"""No rule masks anything in a shorter text."""
_PRIVATE_KEY = (
    r"-----BEGIN (?P<kind>[A-Z ]*PRIVATE KEY)-----(?P<value>.*?)(?:-----END (?P=kind)-----|\Z)"
)

_NAME = (
    r"(?:api[_-]?key|(?:auth|access|api|bot|refresh|session|hf|github|gh)[_-]?token"
    r"|secret[_-]?(?:access[_-]?)?(?:key|token)|client[_-]?secret|passw(?:or)?d|authorization"
)
_IN_SETTINGS = (
    _Rule(
        ("key", "token", "secret", "passw", "authorization", "base"),
        rf"{_NAME}|base[_-]?url)[\"']\s*[:=]\s*([\"'])(?P<value>(?:\\.|(?!\1)[^\\\n])+)\1",
    ),
    _Rule(
        ("key", "token", "secret", "passw", "authorization"),
        rf"{_NAME})\s*[:=]\s*(?![\"'\s]*(?:null|none|true|false)\b)"
        r"(?:([\"'])(?P<value>(?:(?!\1)[^\n])+)\1"
        r"|(?P<bare>(?:bearer |basic )?[^\s\"',;&)}\]]{4,}))",
    ),
)
"""In settings and logs a name alone tells; in code it names a variable, a field or a test."""


def mask_secrets(text: str) -> str:
    """The text with every key-shaped value masked; its first characters stay.

    Fields that are called like secrets are masked where their value looks random: letters and
    digits mixed, twelve characters or more. Lines stay lines. Masking twice changes nothing.
    """
    if len(text) < _SHORTEST:
        return text
    lowered = text.lower()
    for hint in _HINTS:  # a loop: every piece of a screen passes here, and most have no hint
        if hint in lowered:
            return _masked(mask_private_keys(text), _RULES)
    return text


def mask_settings(text: str) -> str:
    """The same for settings and logs, where whatever is called like a secret is one."""
    text = mask_private_keys(text)
    for rule in _IN_SETTINGS:
        text = _masked(text, (rule,), shown=0)
    return _masked(text, _RULES)


def mask_private_keys(text: str) -> str:
    """The text with the lines of private keys masked: no line of one tells what it is by itself."""
    if "PRIVATE KEY-----" not in text:
        return text
    return _compiled(_PRIVATE_KEY).sub(_without_key, text)


def _without_key(match: re.Match[str]) -> str:
    whole = match[0]
    start, end = (place - match.start() for place in match.span("value"))
    lines = whole[start:end].split("\n")
    masked = "\n".join(MASK if line.strip() else line for line in lines)
    return f"{whole[:start]}{masked}{whole[end:]}"


def _masked(text: str, rules: tuple[_Rule, ...], shown: int = _SHOWN) -> str:
    lowered = text.lower() if text.isascii() else text.replace("İ", "I").lower()
    wanted = [rule for rule in rules if any(hint in lowered for hint in rule.hints)]
    spans = sorted({span for rule in wanted for span in _spans(rule, text, lowered)})
    out: list[str] = []
    place = 0
    for start, end in spans:
        if start < place:  # inside what is masked already
            continue
        kept = start if end - start < 3 * shown else start + shown
        out += (text[place:kept], MASK)
        place = end
    return "".join((*out, text[place:])) if out else text


def _spans(rule: _Rule, text: str, lowered: str) -> Iterator[tuple[int, int]]:
    for match in _compiled(rule.pattern).finditer(text if rule.exact else lowered):
        start, end = match.span("value")
        if start < 0:
            start, end = match.span("bare")
        value = text[start:end]
        if value != MASK and rule.holds(value):
            yield start, end


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL if pattern is _PRIVATE_KEY else re.NOFLAG)
