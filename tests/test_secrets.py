from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcview.secrets import MASK, mask_private_keys, mask_secrets, mask_settings

LONG = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"


@pytest.mark.parametrize(
    "secret",
    [
        f"sk-{LONG}",
        f"sk-ant-api03-{LONG}",
        f"ghp_{LONG}",
        f"github_pat_{LONG}{LONG}",
        f"glpat-{LONG}",
        f"xoxb-{LONG}",
        "AKIAIOSFODNN7EXAMPLE",
        "AIza" + LONG[:35],
        "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
        "npm_" + LONG[:36],
        f"eyJhbGciOiJIUzI1NiJ9.{LONG}.{LONG}",
    ],
)
def test_a_key_is_masked_wherever_it_stands(secret: str) -> None:
    masked = mask_secrets(f"export KEY={secret}; echo done")

    assert secret not in masked
    assert secret[8:] not in masked
    assert masked == f"export KEY={secret[:4]}{MASK}; echo done"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"Authorization: Bearer {LONG}", f"Authorization: Bearer a1B2{MASK}"),
        (f'"api_key": "{LONG}"', f'"api_key": "a1B2{MASK}"'),
        (f"AWS_SECRET_ACCESS_KEY={LONG}", f"AWS_SECRET_ACCESS_KEY=a1B2{MASK}"),
        (f"password: '{LONG}'", f"password: 'a1B2{MASK}'"),
        ("postgres://user:hunter2@db/x", f"postgres://user:{MASK}@db/x"),
    ],
)
def test_what_stands_in_a_field_for_secrets_is_masked(text: str, masked: str) -> None:
    assert mask_secrets(text) == masked


def test_a_private_key_is_masked_to_its_end() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\ndef==\n-----END RSA PRIVATE KEY-----"
    masked = mask_secrets(f"a\n{key}\nb")

    assert "MIIEabc" not in masked
    assert "def==" not in masked
    assert masked.endswith("-----END RSA PRIVATE KEY-----\nb")


def test_a_private_key_that_is_cut_off_is_masked_too() -> None:
    assert "MIIEabc" not in mask_secrets("-----BEGIN PRIVATE KEY-----\n/MIIEabc\ndef==")


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'tags'",
        "token = tokens[position]",
        "self.token_count = compute_token_count(text)",
        "assert key == 'checkpoint_4::test_explicit_rollback'",
        "secret_santa_list = make_list()",
        "https://example.com/a?b=c",
        "max_tokens: 128000",
        "the key is missing",
        "sk-learn is a library",
        "task-17",
        "",
    ],
)
def test_what_only_speaks_of_keys_stays(text: str) -> None:
    assert mask_secrets(text) == text


def test_masking_twice_changes_nothing() -> None:
    once = mask_secrets(f"api_key={LONG} and sk-{LONG}")
    assert mask_secrets(once) == once


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
def test_in_settings_a_name_alone_tells(text: str, secret: str) -> None:
    masked = mask_settings(text)
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
def test_what_settings_say_besides_stays(text: str) -> None:
    assert mask_settings(text) == text


@pytest.mark.parametrize(
    "text",
    [f"İ api_key={LONG}", f"İİ Authorization: Bearer {LONG}", f"é sk-{LONG}"],
)
def test_other_letters_before_a_secret_move_nothing(text: str) -> None:
    masked = mask_secrets(text)

    assert LONG[8:] not in masked
    assert masked.endswith(MASK)


def test_lines_of_a_private_key_stay_lines() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEabc\n\ndef==\n-----END PRIVATE KEY-----"

    assert mask_private_keys(f"a\n{key}\nb").split("\n") == [
        "a",
        "-----BEGIN PRIVATE KEY-----",
        MASK,
        "",
        MASK,
        "-----END PRIVATE KEY-----",
        "b",
    ]


@given(st.text(st.sampled_from("abK1_=: \n'\"/@.-İsk") | st.characters(), max_size=60))
def test_no_text_loses_a_line_or_is_masked_further(text: str) -> None:
    for mask in (mask_secrets, mask_settings):
        once = mask(text)
        assert once.count("\n") == text.count("\n")
        assert mask(once) == once
