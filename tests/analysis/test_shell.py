"""A command line as the simple commands that it runs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcview.analysis.shell import ShellCommand, parse_shell, runs_nothing, written_files


def command(line: str, program: str) -> ShellCommand:
    found = [one for one in parse_shell(line) if one.argv[0] == program]
    assert len(found) == 1, [one.argv for one in parse_shell(line)]
    return found[0]


def programs(line: str) -> list[str]:
    return [one.argv[0] for one in parse_shell(line)]


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("pytest -k 'a or b' \"c d\"", ("pytest", "-k", "a or b", "c d")),
        ('python -c "print(\\"x\\")"', ("python", "-c", 'print("x")')),
        ('echo "\\$HOME $HOME"', ("echo", "$HOME $HOME")),
        ("echo a\\ b", ("echo", "a b")),
        ("echo a'b c'd", ("echo", "ab cd")),
        ("echo $'a\\nb'", ("echo", "a\nb")),
        ("pytest \\\n  -q", ("pytest", "-q")),
        ("pytest tests/{a,b}.py", ("pytest", "tests/{a,b}.py")),
        ("FOO=1 BAR='x y' pytest", ("pytest",)),
        ("pytest 2>&1", ("pytest",)),
    ],
)
def test_words_come_as_the_program_gets_them(line: str, argv: tuple[str, ...]) -> None:
    assert parse_shell(line)[0].argv == argv


def test_assignments_before_a_command_are_its_environment() -> None:
    assert parse_shell("A=1 env -u X B=2 pytest")[0].env == (("A", "1"), ("B", "2"))


@pytest.mark.parametrize(
    ("line", "wrappers"),
    [
        ("timeout -k 5 60 pytest", ("timeout",)),
        ("nice -n 5 time env -i pytest", ("nice", "time", "env")),
        ("sudo -u app -E pytest", ("sudo",)),
        ("uv run --with x pytest", ("uv run",)),
        ("poetry -C sub run pytest", ("poetry run",)),
        ("docker exec -e A=1 -it c pytest", ("docker exec",)),
        ("docker compose -f x.yml exec web pytest", ("docker exec",)),
        ("kubectl exec -n x pod -- pytest", ("kubectl exec",)),
        ("bash -ec 'pytest'", ("bash -c",)),
        ("xargs -n 1 pytest", ("xargs",)),
        ("flock /tmp/l pytest", ("flock",)),
        ("npx --yes -p x pytest", ("npx",)),
        ("nix develop -c pytest", ("nix develop",)),
    ],
)
def test_wrappers_are_taken_off(line: str, wrappers: tuple[str, ...]) -> None:
    found = parse_shell(line)
    assert [(one.argv, one.wrappers) for one in found] == [(("pytest",), wrappers)]


def test_the_limit_of_timeout_is_kept() -> None:
    assert command("timeout -s KILL 2m pytest", "pytest").timeout == "2m"


def test_asking_where_a_program_is_runs_nothing() -> None:
    assert parse_shell("command -v pytest") == ()


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("pytest", None),
        ("cd a && pytest", None),
        ("pytest 2>&1", None),
        ("pytest > out.txt", None),
        ("( cd a; pytest )", None),
        ("pytest || exit 1", None),
        ("set -e; pytest; echo done", None),
        ("set -o pipefail; pytest | tail", None),
        ("pytest | tail -5", "pipe into tail"),
        ("cd a && pytest 2>&1 | tail -5", "pipe into tail"),
        ("pytest || true", "|| true"),
        ("pytest && echo ok || echo bad", "|| echo bad"),
        ("pytest; echo done", "; after it"),
        ("pytest\necho done", "; after it"),
        ("pytest &", "& (in the background)"),
        ("x=$(pytest)", "inside $( )"),
        ("echo $(pytest)", "inside $( )"),
        ("diff <(pytest) a", "inside <( )"),
        ("! pytest", "! before it"),
        ("if pytest; then echo; fi", "a condition"),
        ("while pytest; do :; done", "a condition"),
        ("for i in 1 2; do pytest; done", "in a loop"),
        ("if true; then pytest; echo done; fi", "; after it"),
        ("bash -c 'pytest; echo done'", "; after it"),
    ],
)
def test_why_an_exit_code_is_not_the_commands_own(line: str, masked: str | None) -> None:
    assert command(line, "pytest").masked == masked


def test_a_pipe_behind_a_chain_masks_only_its_last_command() -> None:
    assert command("pytest && python x.py 2>&1 | tail", "pytest").masked is None
    assert command("pytest && python x.py 2>&1 | tail", "python").masked == "pipe into tail"


def test_what_stands_before_and_after_by_and_is_named() -> None:
    found = command("a && b && pytest && d && e", "pytest")
    assert (found.needs, found.then) == (("a", "b"), ("d", "e"))


def test_a_command_under_a_condition_says_so() -> None:
    assert command("a || pytest", "pytest").needs == ("a", "||")
    assert command("if a; then pytest; fi", "pytest").needs == ("if",)


@pytest.mark.parametrize(
    "line",
    [
        'pytest; echo "exit: $?"',
        "pytest\necho exit: $?",
        'pytest; code=$?; echo "exit: $code"',
        'pytest | tail; echo "exit: ${PIPESTATUS[0]}"',
    ],
)
def test_a_line_that_prints_the_exit_code_is_known(line: str) -> None:
    pattern = command(line, "pytest").status_line
    assert pattern is not None
    assert pattern.startswith("^exit:")


def test_the_exit_code_of_a_pipe_is_that_of_its_last_command() -> None:
    assert command('pytest | tail; echo "exit: $?"', "pytest").status_line is None


@pytest.mark.parametrize(
    "line",
    [
        "python - <<'E'\nprint(1)\nE",
        "python <<E | tail\nprint(1)\nE",
        "python3 - x <<E 2>&1 | head -3\nprint(1)\nE".replace("python3 - x", "python"),
        "python <<'E' > out.txt\nprint(1)\nE",
        "python <<'E' && echo ok\nprint(1)\nE",
        "python <<'E'; echo $?\nprint(1)\nE",
        "cd a && python <<-'E'\n\tprint(1)\n\tE",
    ],
)
def test_a_heredoc_feeds_its_command(line: str) -> None:
    assert command(line, "python").stdin_text == "print(1)\n"


def test_what_stands_behind_the_heredoc_mark_is_read() -> None:
    found = command("python <<'E' 2>&1 | head -3\nprint(1)\nE", "python")
    assert (found.masked, found.pipe_to) == ("pipe into head", (("head", "-3"),))
    assert programs("cat > t.py <<'E' && python t.py\nx\nE") == ["cat", "python"]


def test_bodies_of_heredocs_are_no_commands() -> None:
    assert programs("cat > run.sh <<'E'\npytest -q\nE\nls") == ["cat", "ls"]


def test_text_that_a_shell_is_given_to_run_is_read() -> None:
    assert programs("bash <<'E'\ncd x\npytest\nE") == ["cd", "pytest"]
    assert programs("bash -c \"sh -c 'pytest'\"") == ["pytest"]


def test_functions_are_read_where_they_are_called() -> None:
    assert programs("f() { pytest; }") == []
    assert programs("f() { pytest; }; f; f") == ["pytest", "pytest"]


def test_a_function_that_calls_itself_ends() -> None:
    assert len(parse_shell("f() { pytest; f; }; f")) < 10


def test_folders_are_followed() -> None:
    found = parse_shell("cd a; cd b && pytest; (cd /x; python y.py); ls")
    assert [(one.argv[0], one.cwd) for one in found if one.argv[0] != "cd"] == [
        ("pytest", "a/b"),
        ("python", "/x"),
        ("ls", "a/b"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '[ "$(app)" = 1 ]',
        'r=$(app); [[ "$r" == 1 ]]',
        'r=$(app)\ntest "$r" = 1',
        "app | grep -q ok",
        "app | diff - want",
        "diff <(app) want",
        "app > out && diff out want",
    ],
)
def test_output_that_the_line_itself_compares_is_known(line: str) -> None:
    assert command(line, "app").compared


@pytest.mark.parametrize("line", ["app", "app | grep ok", "app > out; cat out", "r=$(app)"])
def test_output_that_is_only_shown_is_not_compared(line: str) -> None:
    assert not command(line, "app").compared


def test_loops_and_xargs_may_run_any_number_of_times() -> None:
    assert command("for i in 1; do pytest; done", "pytest").repeated
    assert command("ls | xargs pytest", "pytest").repeated
    assert not command("pytest", "pytest").repeated


def test_files_whose_text_stands_in_the_line() -> None:
    line = (
        "cd sub && cat > a.py <<'E'\nx = 1\nE\ncat >> /b.py <<'E'\ny\nE\n"
        "tee c.py <<E\nz\nE\necho 'hi there' > d.txt; cat a.py > e.py"
    )
    assert [(one.path, one.text, one.append) for one in written_files(parse_shell(line))] == [
        ("sub/a.py", "x = 1\n", False),
        ("/b.py", "y\n", True),
        ("sub/c.py", "z\n", False),
        ("sub/d.txt", "hi there\n", False),
    ]


@pytest.mark.parametrize("line", ["ls -la", "cat a.py", "grep -rn pytest .", "git status"])
def test_plain_looking_around_needs_no_parse(line: str) -> None:
    assert runs_nothing(line)


@pytest.mark.parametrize(
    "line", ["ls && pytest", "cat a | sh", "echo x > f", "git bisect run pytest", "pytest", "ls\nx"]
)
def test_what_may_run_something_is_parsed(line: str) -> None:
    assert not runs_nothing(line)


@pytest.mark.parametrize(
    "piece", ["(", "$(", "a && ", "a | ", "if a; then ", "<<A\n", '"', "f() { "]
)
def test_nonsense_ends(piece: str) -> None:
    for one in parse_shell(piece * 400):
        assert one.argv


_PIECES = st.sampled_from(
    ["pytest", "&&", "||", "|", ";", "&", "(", ")", "{", "}", "$(", "`", '"', "'", "<<E", "E", ">"]
)
_SPACES = st.sampled_from(["", " ", "\n", "\x00", "\ud800"])


@given(st.lists(st.one_of(_PIECES, _SPACES), max_size=30).map("".join))
def test_any_text_is_read_without_an_error(line: str) -> None:
    for one in parse_shell(line):
        assert one.argv[0]


def test_importing_the_module_loads_no_parser() -> None:
    code = "import sys, arcview.analysis.shell; sys.exit('tree_sitter' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_set_e_makes_a_chain_of_what_follows() -> None:
    found = command("set -e; a; pytest; b", "pytest")
    assert (found.masked, found.needs, found.then) == (None, ("a",), ("b",))
