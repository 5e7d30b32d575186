"""Takes programs that only run another program (`timeout 60 uv run …`) off a list of words.

Pure tables and rules over words; parses no shell and knows nothing of tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ash", "ksh", "fish"})
_MAX_WRAPPERS = 12


class Unwrapped(NamedTuple):
    """What is left when the wrappers are gone."""

    argv: tuple[str, ...]
    """Empty where the wrapper ran nothing (`command -v pytest`)."""
    names: tuple[str, ...] = ()
    """The wrappers, outermost first."""
    env: tuple[tuple[str, str], ...] = ()
    timeout: str | None = None
    cwd: str | None = None
    script: str | None = None
    """Shell text that the innermost wrapper runs instead of words (`bash -c`, `watch`)."""
    repeated: bool = False


_Rule = Callable[[str, Unwrapped], Unwrapped | None]


def program_name(word: str) -> str:
    """`/usr/bin/python3` → `python3`."""
    return word.rstrip("/").rpartition("/")[2] or word


def unwrap(argv: tuple[str, ...]) -> Unwrapped:
    """Takes every wrapper off, outermost first, until a program of its own is left."""
    state = Unwrapped(argv)
    for _ in range(_MAX_WRAPPERS):
        if not state.argv or state.script is not None:
            break
        name = program_name(state.argv[0])
        step = _SPECIAL.get(name, _prefix)(name, state)
        if step is None:
            break
        state = step
    return state


def _options(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Programs that run the rest of their words: options that take a value, and how many words of their
# own come before the program (a duration, a lock file).
_PREFIXES: dict[str, tuple[frozenset[str], int]] = {
    "arch": (_options(""), 0),
    "builtin": (_options(""), 0),
    "bunx": (_options("-p --package"), 0),
    "c8": (_options("-r --reporter -o"), 0),
    "catchsegv": (_options(""), 0),
    "chronic": (_options(""), 0),
    "chroot": (_options(""), 1),
    "chrt": (_options(""), 1),
    "cross-env": (_options(""), 0),
    "doas": (_options("-u -C"), 0),
    "dotenv": (_options("-e -f -c"), 0),
    "entr": (_options(""), 0),
    "env": (_options("-u --unset -C --chdir"), 0),
    "exec": (_options("-a"), 0),
    "faketime": (_options("-f"), 1),
    "flock": (_options("-w -E --wait"), 1),
    "gtimeout": (_options("-s -k --signal --kill-after"), 1),
    "ionice": (_options("-c -n -p"), 0),
    "kcov": (_options(""), 1),
    "nice": (_options("-n --adjustment"), 0),
    "nohup": (_options(""), 0),
    "nyc": (_options("-r --reporter"), 0),
    "pnpx": (_options("-p --package"), 0),
    "rlwrap": (_options(""), 0),
    "setsid": (_options(""), 0),
    "stdbuf": (_options("-i -o -e --input --output --error"), 0),
    "strace": (_options("-e -o -p -s"), 0),
    "sudo": (_options("-u -g -h -p -C -D -r -t -T -U"), 0),
    "taskset": (_options(""), 1),
    "time": (_options("-f -o --format --output"), 0),
    "timeout": (_options("-s -k --signal --kill-after"), 1),
    "unbuffer": (_options(""), 0),
    "uvx": (_options("--from --with --python -p"), 0),
    "valgrind": (_options(""), 0),
    "watchexec": (_options("-e -w -i --exts --watch"), 0),
    "xargs": (_options("-n -I -P -L -d -a -E -s --max-args --max-procs"), 0),
    "xvfb-run": (_options("-s -n -e -f -p -w"), 0),
}
_TIMEOUTS = frozenset({"timeout", "gtimeout"})
_TAKES_ENV = frozenset({"env", "sudo", "cross-env", "doas"})

# Programs that run another one by a subcommand: options of the whole that take a value.
_SUBCOMMANDS: dict[str, dict[str, tuple[frozenset[str], int]]] = {
    "asdf": {"exec": (_options(""), 0)},
    "bun": {"x": (_options(""), 0)},
    "bundle": {"exec": (_options(""), 0)},
    "conda": {"run": (_options("-n --name -p --prefix --cwd"), 0)},
    "coverage": {"run": (_options("--source --rcfile --omit --include --data-file --context"), 0)},
    "devbox": {"run": (_options("-c --config"), 0)},
    "direnv": {"exec": (_options(""), 1)},
    "git": {"bisect run": (_options(""), 0)},
    "hatch": {"run": (_options("-e --env"), 0)},
    "mamba": {"run": (_options("-n --name -p --prefix --cwd"), 0)},
    "micromamba": {"run": (_options("-n --name -p --prefix --cwd"), 0)},
    "mise": {"exec": (_options(""), 0), "x": (_options(""), 0)},
    "nix": {"develop": (_options(""), 0), "shell": (_options(""), 0)},
    "npm": {"exec": (_options("-p --package -w --workspace --prefix"), 0)},
    "pdm": {"run": (_options("-p --project"), 0)},
    "pipenv": {"run": (_options("--python"), 0)},
    "pipx": {"run": (_options("--spec --python"), 0)},
    "pixi": {"run": (_options("-e --environment --manifest-path"), 0)},
    "pnpm": {
        "exec": (_options("-C --dir --filter -F"), 0),
        "dlx": (_options("--package"), 0),
    },
    "poetry": {"run": (_options("-C --directory -P --project"), 0)},
    "rustup": {"run": (_options(""), 1)},
    "rye": {"run": (_options("--pyproject"), 0)},
    "uv": {
        "run": (
            _options(
                "--with --with-requirements --with-editable -p --python --extra --group"
                " --only-group --directory --project --package --env-file --index-url --index"
            ),
            0,
        ),
        "tool run": (_options("--from --with --python -p"), 0),
    },
    "yarn": {"exec": (_options("--cwd"), 0), "dlx": (_options("-p --package"), 0)},
}


def _skip(argv: tuple[str, ...], start: int, valued: frozenset[str]) -> int:
    """The index of the first word that is no option, `--` taken as the end of the options."""
    index = start
    while index < len(argv) and argv[index].startswith("-") and argv[index] != "-":
        if argv[index] == "--":
            return index + 1
        index += 2 if argv[index] in valued else 1
    return min(index, len(argv))


def _prefix(name: str, state: Unwrapped) -> Unwrapped | None:
    if name in _SUBCOMMANDS:
        return _by_subcommand(name, state)
    rule = _PREFIXES.get(name)
    if rule is None:
        return None
    valued, own_words = rule
    argv, env = state.argv, list(state.env)
    index = _skip(argv, 1, valued)
    while name in _TAKES_ENV and index < len(argv) and _ASSIGNMENT.match(argv[index]):
        key, _, value = argv[index].partition("=")
        env.append((key, value))
        index = _skip(argv, index + 1, valued)
    rest = argv[index + own_words :]
    if rest[:1] == ("{",):  # `time { …; }` is not understood by the grammar
        rest = rest[1:]
    return state._replace(
        argv=rest,
        names=(*state.names, name),
        env=tuple(env),
        timeout=state.timeout or (argv[index] if name in _TIMEOUTS and index < len(argv) else None),
        repeated=state.repeated or name == "xargs",
    )


def _by_subcommand(name: str, state: Unwrapped) -> Unwrapped | None:
    argv = state.argv
    for sub, (valued, own_words) in _SUBCOMMANDS[name].items():
        index = _skip(argv, 1, valued)
        words = tuple(sub.split())
        if argv[index : index + len(words)] != words:
            continue
        start = index + len(words)
        if name == "coverage" or (name == "uv" and sub == "run"):
            return _python_words(f"{name} {sub}", argv, start, valued, state)
        index = _skip(argv, start, valued)
        rest = argv[index + own_words :]
        if name == "hatch" and rest:  # `hatch run env:command`
            rest = (rest[0].rpartition(":")[2], *rest[1:])
        if name == "nix" and "-c" in argv:
            rest = argv[argv.index("-c") + 1 :]
        return state._replace(argv=rest, names=(*state.names, f"{name} {sub}"))
    return None


def _python_words(
    wrapper: str, argv: tuple[str, ...], start: int, valued: frozenset[str], state: Unwrapped
) -> Unwrapped:
    """`coverage run -m pytest`, `uv run -m pytest`, `uv run x.py`: the rest is Python's own."""
    names = (*state.names, wrapper)
    index = start
    while index < len(argv) and argv[index].startswith("-"):
        if argv[index] in ("-m", "--module"):
            return state._replace(argv=("python", "-m", *argv[index + 1 :]), names=names)
        index += 2 if argv[index] in valued else 1
        if argv[index - 1 : index] == ("--",):
            break
    rest = argv[index:]
    if rest and (rest[0].endswith(".py") or wrapper == "coverage run"):
        rest = ("python", *rest)
    return state._replace(argv=rest, names=names)


def _shell(name: str, state: Unwrapped) -> Unwrapped | None:
    """`bash -lc '…'`; a shell that is given a file is left alone."""
    for index, word in enumerate(state.argv[1:], 1):
        if re.fullmatch(r"-[a-z]*c[a-z]*", word):
            script = next(iter(state.argv[index + 1 :]), "")
            return state._replace(argv=(), names=(*state.names, f"{name} -c"), script=script)
        if not word.startswith(("-", "+")):
            break
    return None


def _joined_words(valued: str, own_words: int) -> _Rule:
    def take(name: str, state: Unwrapped) -> Unwrapped | None:
        index = _skip(state.argv, 1, _options(valued)) + own_words
        script = " ".join(state.argv[index:])
        return state._replace(argv=(), names=(*state.names, name), script=script)

    return take


def _with_command_option(name: str, state: Unwrapped) -> Unwrapped | None:
    """`su -c CMD`, `script -qc CMD`, `nix-shell --run CMD`, `npx -c CMD`, `nodemon --exec CMD`."""
    for index, word in enumerate(state.argv[1:], 1):
        key, equals, value = word.partition("=")
        if key in ("--command", "--run", "--exec") or re.fullmatch(r"-[a-z]*c|-x", word):
            script = value if equals else next(iter(state.argv[index + 1 :]), "")
            return state._replace(argv=(), names=(*state.names, name), script=script)
    return None


def _npx(name: str, state: Unwrapped) -> Unwrapped | None:
    if "-c" in state.argv[1:3]:
        return _with_command_option(name, state)
    index = _skip(state.argv, 1, _options("-p --package"))
    return state._replace(argv=state.argv[index:], names=(*state.names, name))


def _command(name: str, state: Unwrapped) -> Unwrapped | None:
    if state.argv[1:2] and re.fullmatch(r"-[pvV]*[vV]", state.argv[1]):
        return state._replace(argv=(), names=(*state.names, name))
    index = _skip(state.argv, 1, frozenset())
    return state._replace(argv=state.argv[index:], names=(*state.names, name))


_CONTAINER_OPTIONS = _options(
    "-e --env -w --workdir -u --user -v --volume -p --publish --name --network --mount -m --memory"
    " --cpus --entrypoint --env-file --platform -h --hostname -l --label -f --file -c --container"
    " -n --namespace --project-name --index"
)


def _container(name: str, state: Unwrapped) -> Unwrapped | None:
    """`docker exec C …`, `docker run IMAGE …`, `docker compose run SERVICE …`, `kubectl exec`."""
    argv = state.argv
    index = _skip(argv, 1, _CONTAINER_OPTIONS)
    if argv[index : index + 1] == ("compose",):
        index = _skip(argv, index + 1, _CONTAINER_OPTIONS)
    if argv[index : index + 1] not in (("exec",), ("run",)):
        return None
    verb = argv[index]
    target = _skip(argv, index + 1, _CONTAINER_OPTIONS)
    rest = argv[target + 1 :]
    if rest[:1] == ("--",):
        rest = rest[1:]
    return state._replace(argv=rest, names=(*state.names, f"{name} {verb}"))


def _cargo(name: str, state: Unwrapped) -> Unwrapped | None:
    """`cargo watch -x test`: what follows `-x` is a cargo command again."""
    if state.argv[1:2] != ("watch",) or "-x" not in state.argv:
        return None
    words = " ".join(state.argv[state.argv.index("-x") + 1 :][:1]).split()
    return state._replace(argv=("cargo", *words), names=(*state.names, f"{name} watch"))


def _find(name: str, state: Unwrapped) -> Unwrapped | None:
    for index, word in enumerate(state.argv):
        if word in ("-exec", "-execdir", "-ok"):
            rest = tuple(word for word in state.argv[index + 1 :] if word not in (";", "+"))
            names = (*state.names, "find -exec")
            return state._replace(argv=rest, names=names, repeated=True)
    return None


def _parallel(name: str, state: Unwrapped) -> Unwrapped | None:
    index = _skip(state.argv, 1, _options("-j --jobs -a --joblog"))
    words = state.argv[index:]
    if ":::" in words:
        words = words[: words.index(":::")]
    script = " ".join(words)
    return state._replace(argv=(), names=(*state.names, name), script=script, repeated=True)


_SPECIAL: dict[str, _Rule] = {
    **dict.fromkeys(_SHELLS, _shell),
    **dict.fromkeys(("docker", "podman", "kubectl", "docker-compose", "nerdctl"), _container),
    **dict.fromkeys(("su", "script", "runuser", "nix-shell", "nodemon"), _with_command_option),
    "npx": _npx,
    "command": _command,
    "cargo": _cargo,
    "find": _find,
    "parallel": _parallel,
    "eval": _joined_words("", 0),
    "watch": _joined_words("-n --interval", 0),
    "ssh": _joined_words("-p -i -o -l -F -J", 1),
}
