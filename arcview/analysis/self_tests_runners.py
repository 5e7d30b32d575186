"""The words of one command → what it executes: a test runner, a script, an inline program.

Pure rules over words that are already unquoted and unwrapped; reads no output and no files.
"""

from __future__ import annotations

import re

from arcview.analysis.self_tests_execution import (
    Execution,
    by_subcommand,
    named_files,
    package_script,
    suite,
)
from arcview.analysis.self_tests_scripts import INTERPRETERS, PYTHON, Rule, python
from arcview.analysis.self_tests_tables import (
    BY_SUBCOMMAND,
    HELP,
    LINT_ENV,
    RUNNERS,
    VALUED,
    is_test_target,
    options,
)
from arcview.analysis.shell_command import ShellCommand
from arcview.analysis.shell_wrappers import program_name

_Words = list[str]
_Found = Execution | None


def classify(command: ShellCommand) -> Execution | None:
    """What a command executes; null for everything that neither tests nor runs a program."""
    argv = list(command.argv)
    name = re.sub(r"\.(?:exe|cmd|bat)$", "", program_name(argv[0]))
    rest = argv[1:]
    if PYTHON.fullmatch(name):
        return python(rest, command)
    special = _SPECIAL.get(name)
    if special is not None and not (special is _bare_test and "/" in argv[0]):
        return special(name, rest, command)
    if name in ("py.test", "ptw", "pytest-watch") or re.fullmatch(r"pytest-?[\d.]+", name):
        name = "pytest"
    if name in RUNNERS:
        runner, other = RUNNERS[name]
        if (HELP | other) & set(rest) or (runner in ("tox", "nox") and _lint_only(rest)):
            return None
        targets = rest[1:] if rest[:1] == ["run"] else rest
        return suite(runner, targets)
    if name in BY_SUBCOMMAND:
        return by_subcommand(name, rest) or _runs_project(name, rest)
    if name in _PROJECT_RUNS:
        return _runs_project(name, rest)
    return _program(argv, command)


def _lint_only(rest: _Words) -> bool:
    chosen = " ".join(rest)
    named = re.findall(r"(?:^| )(?:-e|-s|--session|--env|run -e)[ =](\S+)", chosen)
    return bool(named) and all(LINT_ENV.search(env) for env in ",".join(named).split(","))


# --- programs under development ------------------------------------------------------------------

_PROJECT_RUNS: dict[str, frozenset[str]] = {
    "dotnet": options("run exec"),
    "swift": options("run"),
    "stack": options("run exec"),
    "cabal": options("run exec"),
    "zig": options("run"),
    "dart": options("run"),
    "deno": options("run"),
    "bun": options("run"),
    "crystal": options("run"),
    "mix": options("run"),
    "java": options(""),
}
_SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/opt/", "/etc/", "/snap/", "/lib/", "/proc/")
_TOOL_FOLDER = re.compile(
    r"(?:^|/)(?:node_modules/\.bin|\.?v?env[\w.-]*/bin|site-packages|\.local/bin)/"
)
_NOT_THE_PROGRAM = re.compile(
    r"(?:configure|autogen|bootstrap|install|setup|build|make|deploy|lint|format|clean|release|publish"
    r"|gradlew|mvnw|activate|update|upgrade|entrypoint|init|get-pip)(?:[-_.].*)?"
)


def _runs_project(name: str, rest: _Words) -> _Found:
    """`cargo run`, `dotnet run`, `java -jar x.jar`: the program under development, most likely."""
    if name == "java":
        if "org.junit.platform.console" in " ".join(rest) or "JUnitCore" in " ".join(rest):
            return suite("junit", rest)
        if not rest or {"-version", "--version"} & set(rest):
            return None
        return Execution("program", targets=named_files(rest))
    sub = next((word for word in rest if not word.startswith("-")), "")
    if sub not in _PROJECT_RUNS.get(name, ()):
        return None
    words = rest[rest.index(sub) + 1 :]
    if name in ("deno", "bun") and words and "." in words[0]:
        return Execution("script", script=words[0], language="js", targets=(words[0],))
    if name == "bun":
        return package_script("bun", words)
    return Execution("program", targets=named_files(words))


def _program(argv: _Words, command: ShellCommand) -> _Found:
    """A file that is started by its path: `./circopt.py`, `target/debug/app`, `./run_tests.sh`."""
    path, name = argv[0], program_name(argv[0])
    if "/" not in path or path.startswith(_SYSTEM_FOLDERS) or _TOOL_FOLDER.search(path):
        return None
    if name == "test" and path.removeprefix("./") == "bin/test":
        return suite("bin/test", argv[1:])
    if name in ("runtests.py", "runtests", "runtests.sh") and not HELP & set(argv):
        return suite("django" if name.endswith(".py") else "script", argv[1:])
    if name == "manage.py":
        return suite("django", argv[2:]) if argv[1:2] == ["test"] else None
    if _NOT_THE_PROGRAM.fullmatch(name):
        return None
    language = {"py": "python", "sh": "shell", "js": "js", "mjs": "js", "ts": "js", "rb": "ruby"}
    return Execution(
        "script" if "." in name else "program",
        script=path,
        language=language.get(name.rpartition(".")[2], ""),
        targets=(path,),
    )


# --- compiled languages and build tools ----------------------------------------------------------


def _cargo(name: str, rest: _Words, command: ShellCommand) -> _Found:
    words = [word for word in rest if not word.startswith("+")]
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in VALUED | {"--config", "-Z"} else words[1:]
    if {"--no-run", "--list", "--help", "-h"} & set(words):
        return None
    sub = words[:2]
    if sub[:1] in (["test"], ["t"]) or sub in (
        ["hack", "test"],
        ["miri", "test"],
        ["insta", "test"],
    ):
        start = 1 if sub[0] in ("test", "t") else 2
        return suite("cargo", words[start:])
    if sub in (["nextest", "run"], ["nextest", "r"], ["llvm-cov", "nextest"]):
        return suite("nextest", words[2:])
    if sub[:1] in (["tarpaulin"], ["llvm-cov"]):
        return None if sub[1:] in (["report"], ["clean"]) else suite("cargo", words[1:])
    if sub[:1] in (["run"], ["r"]):
        return Execution("program", targets=named_files(words[1:]))
    return None


def _go(name: str, rest: _Words, command: ShellCommand) -> _Found:
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] == "-C" else rest[1:]
    if rest[:1] == ["test"]:
        if {"-list", "-c", "-h", "-n"} & set(rest) or any(w.startswith("-list=") for w in rest):
            return None
        return suite("go", rest[1:])
    if rest[:1] == ["run"]:
        return Execution("program", targets=named_files(rest[1:]))
    if rest[:2] == ["tool", "gotestsum"]:
        return suite("go", rest[2:])
    return None


def _make(name: str, rest: _Words, command: ShellCommand) -> _Found:
    if {"-n", "--dry-run", "--just-print", "-q", "--list", "-l", "--version", "-h"} & set(rest):
        return None
    targets, skip = [], False
    for word in rest:
        if skip or word.startswith("-") or "=" in word:
            skip = not skip and word in ("-C", "-f", "-d", "--directory", "--file", "-t", "-I")
        else:
            targets.append(word)
    tests = [word for word in targets if is_test_target(word)]
    return suite(name, tests) if tests else None


def _cmake(name: str, rest: _Words, command: ShellCommand) -> _Found:
    joined = " ".join(rest)
    wanted = re.search(r"(?:--target|-t)[ =](\S+)", joined)
    return (
        suite("ctest", []) if "--build" in rest and wanted and is_test_target(wanted[1]) else None
    )


def _jvm(name: str, rest: _Words, command: ShellCommand) -> _Found:
    joined = " ".join(rest)
    if re.search(
        r"-DskipTests\b(?!=false)|-Dmaven\.test\.skip\b(?!=false)|(?:-x|--exclude-task) :?test",
        joined,
    ):
        return None
    if {"--dry-run", "-m", "--help", "-v", "--version"} & set(rest):
        return None
    runner = "surefire" if name.startswith("mvn") else name.removesuffix("w")
    words = [word for word in rest if not word.startswith("-")]
    for word in words:
        last = word.rpartition(":")[2]
        if last in ("check", "verify", "integration-test") or re.match(
            r"test(?![a-z])|\w+Test$", last
        ):
            return suite(runner, [])
        if last in ("package", "install", "build"):
            return suite(runner, [], needs_summary=True)
        if last in ("run", "bootRun", "java"):
            return Execution("program")
    return None


def _poe(name: str, rest: _Words, command: ShellCommand) -> _Found:
    """Task runners whose tasks a project names itself: poe, invoke, rake, task, moon."""
    words = [word for word in rest if not word.startswith("-")]
    if words[:1] == ["run"]:
        words = words[1:]
    return suite(name, words[1:]) if words and is_test_target(words[0]) else None


def _bare_test(name: str, rest: _Words, command: ShellCommand) -> _Found:
    """`hatch run test`: a task called `test`, not the shell's own `test`."""
    runs_tasks = {
        "hatch run",
        "pdm run",
        "pixi run",
        "rye run",
        "poetry run",
        "pipenv run",
        "devbox run",
    }
    if command.wrappers and command.wrappers[-1] in runs_tasks:
        return suite(command.wrappers[-1].split()[0], rest)
    return None


_BUILD_TOOLS: dict[str, Rule] = {
    **dict.fromkeys(("cargo", "cross"), _cargo),
    "go": _go,
    **dict.fromkeys(("make", "gmake", "just", "ninja", "task", "mage"), _make),
    "cmake": _cmake,
    **dict.fromkeys(("mvn", "mvnw", "mvnd", "gradle", "gradlew", "sbt"), _jvm),
    **dict.fromkeys(("poe", "inv", "invoke", "rake", "moon", "thor", "doit"), _poe),
    **dict.fromkeys(("test", "tests", "cov", "coverage-test"), _bare_test),
}
_SPECIAL = INTERPRETERS | _BUILD_TOOLS
