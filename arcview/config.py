"""The settings file as one frozen object; a missing file means the defaults.

Looked for at `$XDG_CONFIG_HOME/arcview/config.toml`, else `~/.config/arcview/config.toml`. Knows
nothing of runs or screens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import in_words, read_text
from arcview.model.run import PathRules

DEFAULT_CACHE_LIMIT_MB = 2048


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user may set once for all runs."""

    cache_limit_mb: int = DEFAULT_CACHE_LIMIT_MB
    """Size of the cache above which the least recently opened runs leave it."""
    theme: str | None = None
    """Name of the colour theme; null follows the program's own choice."""
    path_rules: PathRules = field(default_factory=PathRules)
    """Globs that decide the class of a path before those of the run do."""
    annotator: str | None = None
    """Whoever labels on this machine; never guessed."""
    sidecar: Path | None = None
    """Folder for what is added to runs; null is the user's data folder."""


@dataclass(frozen=True, slots=True)
class LabelFlags:
    """What the command line says of labelling; it comes before the environment and the settings."""

    annotator: str | None = None
    sidecar: Path | None = None
    scheme: Path | None = None
    blind: bool = False


def settings_path() -> Path:
    """Where the settings file is looked for."""
    shared = os.environ.get("XDG_CONFIG_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    base = Path(shared) if Path(shared).is_absolute() else Path.home() / ".config"
    return base / "arcview" / "config.toml"


def load_settings(path: Path | None = None) -> Settings:
    """Reads the settings file.

    Args:
        path: The file; `settings_path()` by default.

    Raises:
        BadInputError: it cannot be read, is not TOML, or a setting is unknown or of a wrong type.
    """
    file = path or settings_path()
    try:
        text = read_text(file)
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(str(file), f"cannot be read: {in_words(error)}") from error
    import tomllib  # 5 ms that only who has a settings file pays

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(str(file), f"not TOML: {error}") from error
    return _settings(str(file), data)


def save_annotator(name: str) -> None:
    """Writes the annotator into the settings file, unless it has one by now; keeps all else.

    Raises:
        BadInputError: it cannot be read or written.
    """
    if load_settings().annotator is not None:
        return  # another arcview asked at the same time, and was answered first
    # Where the file is a link into a folder of dotfiles, it stays one.
    file = settings_path().resolve()
    try:
        text = read_text(file) if file.exists() else ""
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f"{file.name}.new")
        # At the top: further down it could fall into a table.
        new.write_text(f'annotator = "{name}"\n{text}', encoding="utf-8")
        new.replace(file)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(str(file), f"the name cannot be kept: {in_words(error)}") from error


def _settings(file: str, data: Mapping[str, object]) -> Settings:
    _no_unknown(file, data, ("cache_limit_mb", "theme", "path_rules", "annotator", "sidecar"), "")
    limit = data.get("cache_limit_mb", DEFAULT_CACHE_LIMIT_MB)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise BadInputError(file, "expected a number of megabytes", "cache_limit_mb")
    theme = _optional_text(file, data, "theme", "the name of a theme")
    annotator = _optional_text(file, data, "annotator", "a name")
    sidecar = _optional_text(file, data, "sidecar", "a folder")
    rules = data.get("path_rules", {})
    if not isinstance(rules, Mapping):
        raise BadInputError(file, "expected a table of lists of globs", "path_rules")
    folder = None if sidecar is None else Path(sidecar).expanduser()
    return Settings(limit, theme, _path_rules(file, rules), annotator, folder)


def _optional_text(file: str, data: Mapping[str, object], name: str, what: str) -> str | None:
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise BadInputError(file, f"expected {what}", name)
    return value


def _path_rules(file: str, rules: Mapping[str, object]) -> PathRules:
    names = tuple(part.name for part in fields(PathRules))
    _no_unknown(file, rules, names, "path_rules.")
    found: dict[str, tuple[str, ...]] = {}
    for name, globs in rules.items():
        if not isinstance(globs, list) or not all(isinstance(glob, str) for glob in globs):
            raise BadInputError(file, "expected a list of globs", f"path_rules.{name}")
        found[name] = tuple(globs)
    return PathRules(**found)


def _no_unknown(file: str, data: Mapping[str, object], known: tuple[str, ...], prefix: str) -> None:
    for name in data:
        if name not in known:
            expected = f"no such setting; known: {', '.join(known)}"
            raise BadInputError(file, expected, prefix + name)
