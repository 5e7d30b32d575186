"""Interpreters and package scripts: what `python`, `node`, `npm`, `bash` and their like execute.

Pure rules over words that are already unquoted and unwrapped; private to `self_tests_runners`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from arcview.analysis.self_tests_execution import Execution, package_script, suite
from arcview.analysis.self_tests_tables import (
    HELP,
    RUNNERS,
    TEST_MODULES,
    TOOL_MODULES,
    options,
)
from arcview.analysis.shell_command import ShellCommand
from arcview.analysis.shell_wrappers import program_name

_Words = list[str]
_Found = Execution | None
Rule = Callable[[str, _Words, ShellCommand], _Found]
"""(program, the words after it, the command) → what is executed."""

# --- Python --------------------------------------------------------------------------------------

PYTHON = re.compile(r"i?python[\d.]*w?|pypy[\d.]*|py")
_PASSES_ON = frozenset(
    {"coverage", "cProfile", "profile", "pdb", "trace", "memory_profiler", "kernprof", "viztracer"}
)
_NO_SCRIPT = re.compile(r"(?:.*/)?(?:setup|manage|get-pip|conftest|install)\.py")


def python(rest: _Words, command: ShellCommand) -> _Found:
    """What Python executes, by the words after its name."""
    index = 0
    while index < len(rest) and rest[index].startswith("-") and rest[index] != "-":
        flag = rest[index]
        if re.fullmatch(r"-[A-Za-z]*c", flag):
            program = rest[index + 1] if index + 1 < len(rest) else ""
            return Execution("inline", program=program, language="python")
        if re.fullmatch(r"-[A-Za-z]*m", flag):
            return _module(rest[index + 1 :], command)
        if flag in ("-V", "--version", "-h", "--help", "-VV"):
            return None
        index += 2 if flag in ("-W", "-X") else 1
    words = rest[index:]
    if not words or words[0] == "-" or words[0] == "/dev/stdin":
        if command.stdin_text is None and not command.piped_from:
            return None
        return Execution("inline", program=command.stdin_text, language="python")
    return _python_script(words)


def _python_script(words: _Words) -> _Found:
    path, name = words[0], program_name(words[0])
    if name in ("runtests.py", "runtests"):
        return None if HELP & set(words) else suite("django", words[1:])
    if name == "manage.py":
        return suite("django", words[2:]) if words[1:2] == ["test"] else None
    if name == "setup.py":
        return suite("unittest", words[2:]) if "test" in words[1:] else None
    if path.removeprefix("./") == "bin/test":
        return suite("bin/test", words[1:])
    if name in ("pytest", "tox", "nox"):
        return suite(name, words[1:])
    if _NO_SCRIPT.fullmatch(path):
        return None
    return Execution("script", script=path, language="python", targets=(path,))


def _module(words: _Words, command: ShellCommand) -> _Found:
    if not words:
        return None
    module, rest = words[0], words[1:]
    if module in TEST_MODULES or module.startswith("unittest."):
        runner = TEST_MODULES.get(module, "unittest")
        if HELP & set(rest) or (runner in RUNNERS and RUNNERS[runner][1] & set(rest)):
            return None
        if runner == "django":
            return suite("django", rest[1:]) if rest[:1] == ["test"] else None
        return suite(runner, rest[1:] if rest[:1] == ["discover"] else rest)
    if module in _PASSES_ON:
        return _passed_on(module, rest, command)
    if module.partition(".")[0] in TOOL_MODULES or module in TOOL_MODULES:
        return None
    return Execution("module", script=module, language="python", targets=(module,))


def _passed_on(module: str, rest: _Words, command: ShellCommand) -> _Found:
    """`python -m coverage run -m pytest`: Python's own words follow."""
    if module == "coverage":
        if rest[:1] != ["run"]:
            return None
        rest = rest[1:]
    index = 0
    while index < len(rest) and rest[index].startswith("-") and rest[index] != "-m":
        index += 2 if rest[index] in ("-s", "-o", "--source", "-C", "--sort") else 1
    return python(rest[index:], command) if rest[index:] else None


# --- JavaScript ----------------------------------------------------------------------------------


def _node(name: str, rest: _Words, command: ShellCommand) -> _Found:
    if {"-v", "--version", "-h", "--help", "--check", "-c"} & set(rest[:2]):
        return None
    if "--test" in rest:
        return suite("node", rest)
    index = 0
    while index < len(rest) and rest[index].startswith("-") and rest[index] != "-":
        if rest[index] in ("-e", "--eval", "-p", "--print", "-pe"):
            program = rest[index + 1] if index + 1 < len(rest) else ""
            return Execution("inline", program=program, language="js")
        index += 2 if rest[index] in ("-r", "--require", "--loader", "--import", "-C") else 1
    words = rest[index:]
    if not words or words[0] == "-":
        if command.stdin_text is None:
            return None
        return Execution("inline", program=command.stdin_text, language="js")
    base = program_name(words[0]).split(".")[0]
    if base in RUNNERS and ("node_modules" in words[0] or "/" not in words[0]):
        return suite(RUNNERS[base][0], words[1:])
    return Execution("script", script=words[0], language="js", targets=(words[0],))


_PACKAGE_VALUED = options(
    "--filter -F -C --dir --prefix --cwd -w --workspace --loglevel --parallel --concurrency -c"
)


def _packages(name: str, rest: _Words, command: ShellCommand) -> _Found:
    """npm, pnpm and yarn: `test`, `run test:unit`, `--filter x test`, `workspace x test`."""
    words, index = [], 0
    while index < len(rest):
        if rest[index] == "--":
            break
        if rest[index].startswith("-"):
            # `npm test -w pkg`, but pnpm's `-w` and `-r` stand alone.
            alone = name == "pnpm" and rest[index] == "-w"
            index += 2 if rest[index] in _PACKAGE_VALUED and not alone else 1
            continue
        words.append(rest[index])
        index += 1
    while words[:1] in (["workspace"], ["workspaces"]):
        words = words[words.index("foreach") + 1 :] if "foreach" in words else words[2:]
    while words[:1] in (["recursive"], ["multi"]):
        words = words[1:]
    if name == "npm" and words[:1] in (["t"], ["tst"], ["it"], ["cit"], ["install-test"]):
        words = ["test", *words[1:]]
    return package_script(name, words)


def _workspace_tool(name: str, rest: _Words, command: ShellCommand) -> _Found:
    """turbo, nx, lerna, rush: a task name among their words."""
    words = [word for word in rest if not word.startswith("-")]
    targets = re.findall(r"(?:--targets?=|-t=?|--target )(\S+)", " ".join(rest))
    wanted = [part for word in (*words, *targets) for part in re.split(r"[:,]", word)]
    return suite(name, []) if any(part in ("test", "tests", "e2e") for part in wanted) else None


# --- scripts of other languages ------------------------------------------------------------------


_SCRIPT_LANGUAGES = {
    "ruby": "ruby",
    "php": "php",
    "perl": "perl",
    "lua": "lua",
    "luajit": "lua",
    "Rscript": "r",
    "julia": "julia",
    "elixir": "elixir",
    "escript": "erlang",
    "groovy": "groovy",
}
_SHELL_TEST = re.compile(
    r"(?:.*/)?(?:run[-_]?)?(?:all[-_]?)?(?:tests?|check|ci)(?:[-_].*)?(?:\.sh)?"
)


def _shell_script(name: str, rest: _Words, command: ShellCommand) -> _Found:
    path = next((word for word in rest if not word.startswith(("-", "+"))), None)
    if path is None or {"-n", "--version"} & set(rest):
        return None
    return Execution("script", script=path, language="shell", targets=(path,))


def _sourced(name: str, rest: _Words, command: ShellCommand) -> _Found:
    if rest and rest[0].endswith(".sh") and _SHELL_TEST.fullmatch(rest[0]):
        return Execution("script", script=rest[0], language="shell", targets=(rest[0],))
    return None


def _scripting(name: str, rest: _Words, command: ShellCommand) -> _Found:
    language = _SCRIPT_LANGUAGES[name]
    if {"-v", "--version", "-h", "--help", "-l", "-c"} & set(rest[:1]):
        return None
    if name == "perl" and any(re.match(r"-\w*[pin]\w*e?$", word) for word in rest[:3]):
        return None  # a filter over files
    if name == "php" and rest[:2] == ["artisan", "test"]:
        return suite("phpunit", rest[2:])
    for index, word in enumerate(rest):
        if word in ("-e", "-r", "-E", "--eval") and index + 1 < len(rest):
            program = rest[index + 1]
            if re.search(r"Pkg\.test|devtools::test|testthat::", program):
                return suite(name, [])
            return Execution("inline", program=program, language=language)
        if not word.startswith("-"):
            if name == "php" and program_name(word) in ("phpunit", "pest"):
                return suite(program_name(word), rest[index + 1 :])
            return Execution("script", script=word, language=language, targets=(word,))
    if command.stdin_text is not None:
        return Execution("inline", program=command.stdin_text, language=language)
    return None


_LOCAL = re.compile(
    r"(?:https?://|ws://)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::\d+)?(?:[/?].*)?$"
)


def _http(name: str, rest: _Words, command: ShellCommand) -> _Found:
    """A request to the machine itself runs the server under development."""
    urls = tuple(word for word in rest if _LOCAL.match(word) or re.match(r":\d+(?:/|$)", word))
    return Execution("http", targets=urls) if urls else None


INTERPRETERS: dict[str, Rule] = {
    **dict.fromkeys(("node", "tsx", "ts-node", "babel-node", "vite-node", "esr"), _node),
    **dict.fromkeys(("npm", "pnpm", "yarn"), _packages),
    **dict.fromkeys(("turbo", "nx", "lerna", "rushx", "rush"), _workspace_tool),
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh"), _shell_script),
    **dict.fromkeys(("source", "."), _sourced),
    **dict.fromkeys(_SCRIPT_LANGUAGES, _scripting),
    **dict.fromkeys(("curl", "wget", "http", "https", "xh", "websocat", "grpcurl"), _http),
}
