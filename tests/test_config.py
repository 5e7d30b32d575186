from __future__ import annotations

import re
from pathlib import Path

import pytest

from arcview.config import Settings, load_settings, save_annotator, settings_path
from arcview.errors import BadInputError
from arcview.model.run import PathRules


def test_no_file_means_the_defaults(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none.toml") == Settings()


def test_the_file_is_looked_for_below_the_xdg_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert settings_path() == tmp_path / "arcview" / "config.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert settings_path() == tmp_path / "home" / ".config" / "arcview" / "config.toml"


def test_settings_are_read(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        'cache_limit_mb = 100\ntheme = "nord"\nannotator = "ann"\nsidecar = "/team/labels"\n'
        '[path_rules]\ntest = ["qa/**"]\ngenerated = []\n'
    )
    assert load_settings(file) == Settings(
        100, "nord", PathRules(test=("qa/**",)), "ann", Path("/team/labels")
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cache_limit_mb = -1", "cache_limit_mb: expected a number of megabytes"),
        ("cache_limit_mb = true", "cache_limit_mb: expected a number of megabytes"),
        ("theme = 3", "theme: expected the name of a theme"),
        ("annotator = 3", "annotator: expected a name"),
        ("sidecar = 3", "sidecar: expected a folder"),
        ("them = 'x'", "them: no such setting; known: cache_limit_mb, theme, path_rules"),
        ("path_rules = 'x'", "path_rules: expected a table of lists of globs"),
        ("[path_rules]\ntest = 'x'", "path_rules.test: expected a list of globs"),
        ("[path_rules]\ntset = ['x']", "path_rules.tset: no such setting; known: source, test"),
        ("theme =", "not TOML"),
    ],
)
def test_a_wrong_setting_is_one_line_with_file_and_field(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(BadInputError, match=re.escape(f"{file}: {message}")) as caught:
        load_settings(file)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_is_bad_input(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInputError, match="cannot be read"):
        load_settings(file)


def test_a_name_is_kept_once_whoever_asks_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = settings_path()
    file.parent.mkdir(parents=True)
    file.write_text("cache_limit_mb = 9\n", encoding="utf-8")
    for name in ("ann", "ben"):
        save_annotator(name)
        assert load_settings() == Settings(cache_limit_mb=9, annotator="ann")


def test_a_name_does_not_replace_a_file_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = settings_path()
    file.parent.mkdir(parents=True)
    file.write_text("no = = toml\n", encoding="utf-8")
    with pytest.raises(BadInputError, match="not TOML"):
        save_annotator("ann")
    assert file.read_text(encoding="utf-8") == "no = = toml\n"
