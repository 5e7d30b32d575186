"""What is masked in settings and logs, and what is left alone."""

from __future__ import annotations

import pytest

from arcview.readers.secrets import MASK, mask


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('{"api_key": "abc\\"d", "n": 3}', "abc"),
        ('"base_url": "https://user:pw@host/v1"', "host"),
        ("ANTHROPIC_API_KEY=zzzzzzzz docker run", "zzzzzzzz"),
        ("docker run -e OPENAI_API_KEY='hello world' image", "hello"),
        ("Authorization: Bearer abcdefghijklmnop", "abcdefgh"),
        ("using key sk-ant-REDACTED_not_really_1234567", "1234567"),
        ("password=hunter22&x=1", "hunter22"),
        ("aws_secret_access_key: wJalrXUtnFEMI", "wJalr"),
    ],
)
def test_secret_is_masked(text: str, secret: str) -> None:
    masked = mask(text)
    assert secret not in masked
    assert MASK in masked


@pytest.mark.parametrize(
    "text",
    [
        "n_input_tokens: 2734",
        '"max_tokens": "100"',
        '"api_key": null',
        "api_key: None",
        "token: IDENTIFIER",
        "assert tokens == ['a', 'b']",
        "def token(x): return x",
        "the secret: it is out",
    ],
)
def test_everything_else_is_left_alone(text: str) -> None:
    assert mask(text) == text
