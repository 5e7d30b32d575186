from __future__ import annotations

import pytest

from arcview.analysis.secrets import MASK, mask_secrets

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
