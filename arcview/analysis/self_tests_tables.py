"""Which programs, subcommands, modules and targets run tests: tables and rules over single words.

Pure; imports nothing of arcview.
"""

from __future__ import annotations

import re


def options(words: str) -> frozenset[str]:
    """Words given as one text, for tables that are easy to read."""
    return frozenset(words.split())


HELP = options("--version --help -h help -help")
"""With one of these every program only speaks of itself."""
VALUED = options(
    "-k -m -c -p -n -o -W -t -e -s -r -j -C -f -I -x -w -i --maxfail --tb --durations --timeout"
    " --cov --ignore --deselect --rootdir --junitxml --config --reporter --testNamePattern"
    " --project --root --workspace --filter --package --manifest-path --features --test-threads"
    " --color --target"
    " --directory --grep --dir --env --run --require --import --loader -run -timeout -count -bench"
    " --pattern --settings --parallel --retries --cov-report -coverprofile -tags"
)
"""Options of test runners whose value is a word of its own."""
LISTS_ONLY = options(
    "--list --list-tests --dry-run --no-run --listTests --list-cases -list -t:list"
)

# Programs that are test runners: what they are called here, and the words with which they run none.
RUNNERS: dict[str, tuple[str, frozenset[str]]] = {
    "pytest": (
        "pytest",
        options("--collect-only --co --fixtures --fixtures-per-test --markers --setup-plan -V"),
    ),
    "nosetests": ("nose", options("--collect-only")),
    "nose2": ("nose2", options("")),
    "tox": ("tox", options("-l --listenvs -a --listenvs-all --showconfig list config devenv")),
    "nox": ("nox", options("-l --list")),
    "trial": ("trial", options("-n --dry-run")),
    "green": ("green", options("")),
    "ward": ("ward", options("fixtures")),
    "behave": ("behave", options("--dry-run -d")),
    "robot": ("robot", options("--dryrun")),
    "jest": ("jest", options("--listTests --showConfig --init --clearCache")),
    "vitest": ("vitest", options("list init bench")),
    "mocha": ("mocha", options("--dry-run init")),
    "_mocha": ("mocha", options("--dry-run")),
    "ava": ("ava", options("")),
    "tap": ("tap", options("")),
    "tape": ("tape", options("")),
    "uvu": ("uvu", options("")),
    "jasmine": ("jasmine", options("init examples")),
    "qunit": ("qunit", options("")),
    "wtr": ("web-test-runner", options("")),
    "web-test-runner": ("web-test-runner", options("")),
    "cucumber-js": ("cucumber", options("--dry-run")),
    "cucumber": ("cucumber", options("--dry-run")),
    "ctest": ("ctest", options("-N --show-only")),
    "bats": ("bats", options("--count -c")),
    "prove": ("prove", options("--dry -D")),
    "rspec": ("rspec", options("--dry-run --init")),
    "phpunit": ("phpunit", options("--list-tests --list-suites --list-groups")),
    "pest": ("pest", options("--list-tests")),
    "busted": ("busted", options("--list")),
    "ginkgo": ("ginkgo", options("bootstrap generate build")),
    "gotestsum": ("go", options("")),
    "shellspec": ("shellspec", options("--list --count")),
    "elm-test": ("elm-test", options("init install")),
}
# Programs that run tests by a subcommand, given by its first words.
BY_SUBCOMMAND: dict[str, dict[str, str]] = {
    "bazel": {"test": "bazel"},
    "bazelisk": {"test": "bazel"},
    "buck2": {"test": "buck2"},
    "bun": {"test": "bun"},
    "cabal": {"test": "cabal"},
    "composer": {"test": "composer"},
    "crystal": {"spec": "crystal"},
    "cypress": {"run": "cypress"},
    "dart": {"test": "dart"},
    "deno": {"test": "deno"},
    "django-admin": {"test": "django"},
    "dotnet": {"test": "dotnet", "vstest": "dotnet"},
    "flutter": {"test": "flutter"},
    "forge": {"test": "forge"},
    "hardhat": {"test": "hardhat"},
    "hatch": {"test": "hatch"},
    "karma": {"start": "karma", "run": "karma"},
    "lein": {"test": "lein"},
    "meson": {"test": "meson"},
    "mix": {"test": "exunit"},
    "ng": {"test": "ng"},
    "pants": {"test": "pants"},
    "pdm": {"test": "pdm"},
    "playwright": {"test": "playwright"},
    "rails": {"test": "minitest"},
    "react-scripts": {"test": "jest"},
    "rebar3": {"eunit": "eunit", "ct": "common-test"},
    "richgo": {"test": "go"},
    "rye": {"test": "pytest"},
    "stack": {"test": "stack"},
    "stestr": {"run": "stestr"},
    "swift": {"test": "swift"},
    "xcodebuild": {"test": "xcodebuild"},
    "zig": {"test": "zig", "build test": "zig"},
}

TEST_MODULES = {
    "pytest": "pytest",
    "py.test": "pytest",
    "unittest": "unittest",
    "tox": "tox",
    "nox": "nox",
    "nose": "nose",
    "nose2": "nose2",
    "doctest": "doctest",
    "twisted.trial": "trial",
    "trial": "trial",
    "stestr": "stestr",
    "green": "green",
    "behave": "behave",
    "robot": "robot",
    "ward": "ward",
    "zope.testrunner": "zope",
    "test": "unittest",
    "django": "django",
}
TOOL_MODULES = options(
    "pip venv virtualenv ensurepip json.tool http.server py_compile compileall mypy ruff"
    " black isort flake8 pylint pyright bandit build twine site sysconfig dis ast tokenize"
    " tabnanny zipfile tarfile pydoc pipx uv poetry pdm hatch pre_commit jupyter notebook"
    " IPython flask uvicorn gunicorn hypercorn alembic celery sphinx mkdocs grpc_tools.protoc"
    " platform pyflakes pycodestyle autopep8 yapf radon vulture semgrep nbconvert PyInstaller"
    " cython setuptools wheel pkg_resources this gzip base64 calendar webbrowser timeit"
    " inspect pickle pickletools symtable code ipykernel debugpy autoflake pyupgrade"
    " docformatter pydocstyle xenon mccabe safety pip_audit pipdeptree piptools streamlit"
)

_TEST_TARGET = re.compile(
    r"(?:[\w.-]+[-_:/.])?(?:tests?|specs?|unittests?|e2e|check-?tests?|ci)(?:[-_:/.][\w.:-]+)?"
    r"|check|unit|integration|(?:unit|integration)[-_:]\w+|run[-_]tests?"
)
_NO_TEST_TARGET = re.compile(
    r"(?:build|lint|fix|format|fmt|clean|install|compile|typecheck|types|docs?|watch|deploy|setup"
    r"|pre|post|generate|gen|create|list|help|update|check-?(?:format|fmt|types?|lint))(?:[-_:/.]|$)"
    r"|.*[-_:](?:deps|data|fixtures?|setup|clean|build|install|image|env|lint|report)$"
)
LINT_ENV = re.compile(
    r"\b(?:lint|docs?|format|fmt|style|mypy|types?|typing|flake8|ruff|black|build|pre-commit|release)\b"
)


def is_test_target(word: str) -> bool:
    """Whether a make target or a package script is one that runs tests, by its name alone."""
    return _TEST_TARGET.fullmatch(word) is not None and _NO_TEST_TARGET.match(word) is None
