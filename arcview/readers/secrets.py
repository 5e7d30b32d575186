"""Masks what looks like a secret in the settings and logs of a run.

Harnesses write their settings beside their results, keys in clear. Only names and shapes that mean
nothing else are masked: a test about a parser's `token` stays as it is. Pure functions on text.
"""

from __future__ import annotations

import re

MASK = "[masked]"

_NAME = (
    r"[\w.-]*(?:api[_-]?key|(?:auth|access|api|bot|refresh|session|hf|github|gh)[_-]?token"
    r"|secret[_-]?(?:access[_-]?)?(?:key|token)|client[_-]?secret|passw(?:or)?d|authorization)"
)
_QUOTED = re.compile(
    rf"([\"'])({_NAME}|[\w-]*base[_-]?url)\1(\s*[:=]\s*)([\"'])((?:\\.|(?!\4)[^\\\n])+)\4",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    rf"(?<![\w\"'])({_NAME})(\s*[:=]\s*)(?![\"'\s]*(?:null|none|true|false)\b)"
    r"(?:([\"'])((?:(?!\3)[^\n])+)\3|((?:Bearer |Basic )?[^\s\"',;&)}\]]{4,}))",
    re.IGNORECASE,
)
_SHAPES = re.compile(
    r"\b(?:sk-(?:ant-|proj-|or-)?[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}"
    r"|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,}|hf_\w{20,})|(?<=Bearer )[\w.~+/-]{16,}=*"
)


def mask(text: str) -> str:
    """The text with the values of what looks like a secret replaced."""
    text = _QUOTED.sub(rf"\1\2\1\3\4{MASK}\4", text)
    text = _PLAIN.sub(_plain, text)
    return _SHAPES.sub(MASK, text)


def _plain(match: re.Match[str]) -> str:
    name, between, mark = match[1], match[2], match[3] or ""
    return f"{name}{between}{mark}{MASK}{mark}"
