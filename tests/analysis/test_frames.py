from __future__ import annotations

from pathlib import Path

import pytest

from arcview.analysis.frames import (
    Frame,
    FrameKind,
    PathMapper,
    classify_frames,
    enclosing_function,
    leading_frame,
    parse_frames,
)

NATIVE = """\
Traceback (most recent call last):
  File "/app/tests/test_fix.py", line 9, in test_overlap
    apply(rules)
  File "/app/src/engine.py", line 412, in apply
    raise ValueError("overlap")
  File "/usr/lib/python3.12/json/decoder.py", line 355, in raw_decode
    raise JSONDecodeError
ValueError: overlap
"""
PYTEST_LONG = """\
    def test_overlap():
>       assert apply(rules) == 3

tests/test_fix.py:9: in test_overlap
_ _ _ _ _ _ _ _ _ _ _ _ _

    def apply(rules):
>       raise ValueError("overlap: see x.py:3")
E       ValueError: overlap

src/engine.py:412: ValueError
"""
PYTEST_SHORT = """\
tests/test_fix.py:9: in test_overlap
    apply(rules)
src/engine.py:412: in apply
    raise ValueError("overlap")
E   ValueError: overlap
"""
PYTEST_LINE = "/app/src/engine.py:412: ValueError: overlap\n"
NODE = """\
AssertionError [ERR_ASSERTION]: Expected values to be strictly equal
    at TestContext.<anonymous> (/repo/m.test.js:5:40)
    at apply (file:///repo/src/engine.js:412:7)
    at /repo/src/other.js:3:1
    at Test.run (node:internal/test_runner/test:796:25)
"""
VITEST = """\
AssertionError: expected 1 to be 2
 ❯ apply src/engine.ts:412:7
 ❯ m.test.ts:5:40
"""
RUST = """\
thread 'tests::fails' (150) panicked at src/engine.rs:412:64:
assertion `left == right` failed
   4: crate::engine::apply
             at ./src/engine.rs:99:5
"""
RUST_OLD = "thread 'main' panicked at 'boom: a.rs', src/engine.rs:412:5\n"
GO_PANIC = """\
goroutine 4 [running]:
panic({0x6b7650?, 0x6ef0c0?})
	/usr/local/go/src/runtime/panic.go:859 +0x125
ex.com/p/a.Apply(0x15f50f310488?)
	/repo/a/engine.go:412 +0x28
"""
GO_TEST = "--- FAIL: TestFail (0.00s)\n    engine_test.go:9: bad - value\n"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (NATIVE, [("/app/tests/test_fix.py", 9), ("/app/src/engine.py", 412)]),
        (PYTEST_LONG, [("tests/test_fix.py", 9), ("src/engine.py", 412)]),
        (PYTEST_SHORT, [("tests/test_fix.py", 9), ("src/engine.py", 412)]),
        (PYTEST_LINE, [("/app/src/engine.py", 412)]),
        (
            NODE,
            [
                ("/repo/src/other.js", 3),
                ("/repo/src/engine.js", 412),
                ("/repo/m.test.js", 5),
            ],
        ),
        (VITEST, [("m.test.ts", 5), ("src/engine.ts", 412)]),
        (RUST, [("./src/engine.rs", 99), ("src/engine.rs", 412)]),
        (RUST_OLD, [("src/engine.rs", 412)]),
        (GO_PANIC, [("/repo/a/engine.go", 412)]),
        (GO_TEST, [("engine_test.go", 9)]),
    ],
)
def test_frames_of_each_runner_are_read_with_the_deepest_last(
    text: str, places: list[tuple[str, int]]
) -> None:
    found = [(frame.path, frame.line) for frame in parse_frames(text)]

    assert [place for place in found if place in places] == places


@pytest.mark.parametrize(
    ("text", "function"),
    [
        (NATIVE, "apply"),
        (PYTEST_SHORT, "apply"),
        (NODE, "apply"),
        (VITEST, "apply"),
        (GO_PANIC, "ex.com/p/a.Apply"),
    ],
)
def test_the_function_of_a_frame_is_kept(text: str, function: str) -> None:
    assert function in {frame.function for frame in parse_frames(text) if frame.line == 412}


def test_text_without_places_has_no_frames() -> None:
    assert parse_frames("assert 3 == 2\n +  where 3 = CompletedProcess(args=['a.py'])") == ()


@pytest.mark.parametrize(
    ("path", "workdir", "expected"),
    [
        ("/workspace/src/a.py", "/workspace", "src/a.py"),
        ("/workspace/gone.py", "/workspace", None),
        ("/anything/src/a.py", None, "src/a.py"),
        ("./src/a.py", None, "src/a.py"),
        ("/x/util.py", None, None),
        ("/x/lib/util.py", None, "lib/util.py"),
        ("/x/nowhere.py", None, None),
        ("lib/a.py", None, None),
        ("/x/lib/a.py", None, None),
        ("a.py", None, "src/a.py"),
        ("../src/a.py", None, "src/a.py"),
        ("", None, None),
    ],
)
def test_a_container_path_maps_only_when_it_is_certain(
    path: str, workdir: str | None, expected: str | None
) -> None:
    mapper = PathMapper(["src/a.py", "lib/util.py", "src/util.py"], workdir)

    assert mapper.resolve(path) == expected


def test_the_deepest_project_frame_leads_and_libraries_are_told_apart() -> None:
    frames = classify_frames(parse_frames(NATIVE), PathMapper(["src/engine.py"], "/app"))

    assert [frame.kind for frame in frames] == [
        FrameKind.TEST,
        FrameKind.PROJECT,
        FrameKind.STDLIB,
    ]
    assert leading_frame(frames) == Frame(
        "/app/src/engine.py", 412, "apply", FrameKind.PROJECT, "src/engine.py"
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("gate_tests/test_export.py", None),
        ("test_export.py", None),
        ("/tmp/gate/tests/test_export.py", None),
        ("tests/test_export.py", "tests/test_export.py"),
        ("/app/tests/test_export.py", "tests/test_export.py"),
    ],
)
def test_a_hidden_test_is_no_test_of_the_agent_with_the_same_name(
    path: str, expected: str | None
) -> None:
    mapper = PathMapper(["tests/test_export.py"], "/app")
    (frame,) = classify_frames([Frame(path, 48)], mapper)

    assert (frame.kind, frame.workspace_path) == (FrameKind.TEST, expected)


def test_a_failure_in_the_test_alone_has_no_leading_frame() -> None:
    frames = classify_frames(parse_frames(GO_TEST), PathMapper(["engine.go"]))

    assert leading_frame(frames) is None


CODE = """\
import os

class Engine:
    def apply(self):
        if x:
            return 1

    y = 2
z = 3
"""


@pytest.mark.parametrize(
    ("line", "name"), [(1, None), (4, "apply"), (6, "apply"), (8, "Engine"), (9, None), (99, None)]
)
def test_the_function_around_a_line_is_read_from_the_code(line: int, name: str | None) -> None:
    assert enclosing_function("a.py", CODE, line) == name


def test_the_function_is_not_guessed_in_other_languages() -> None:
    assert enclosing_function("a.js", CODE, 6) is None


LOGS = [
    ("python/mixed/stdout.txt", "test_mixed.py", 22, FrameKind.TEST),
    ("python/mixed-color/stdout.txt", "test_mixed.py", 22, FrameKind.TEST),
    ("python/collection-error/stdout.txt", "test_imp.py", 1, FrameKind.TEST),
    ("python/crash-segv/stderr.txt", "/repo/test_crash.py", 4, FrameKind.TEST),
    ("python/internalerror/stdout.txt", "/repo/conftest.py", 2, FrameKind.TEST),
    ("python/unittest-runner/stderr.txt", "/repo/test_u.py", 6, FrameKind.TEST),
    ("nodetest/mixed/stdout.txt", "/repo/m.test.js", 5, FrameKind.TEST),
    ("vitest/color/stderr.txt", "m.test.ts", 19, FrameKind.TEST),
    ("vitest/default-reporter/stderr.txt", "m.test.ts", 19, FrameKind.TEST),
    ("vitest/tap/stdout.txt", "/repo/m.test.ts", 5, FrameKind.TEST),
    ("vitest/collect/stderr.txt", "/repo/syn.test.ts", 3, FrameKind.TEST),
    ("jest/mixed/stderr.txt", "m.test.js", 5, FrameKind.TEST),
    ("mocha/collect-json/stderr.txt", "/repo/test/bad.js", 1, FrameKind.TEST),
    ("rust/mixed-text/stdout.txt", "src/lib.rs", 19, FrameKind.PROJECT),
    ("rust/mixed-color/stdout.txt", "src/lib.rs", 22, FrameKind.PROJECT),
    ("rust/mixed-nextest/stderr.txt", "src/lib.rs", 19, FrameKind.PROJECT),
    ("rust/compile-nextest/stderr.txt", "tests/bad.rs", 1, FrameKind.TEST),
    ("go/mixed-plain/stdout.txt", "a_test.go", 8, FrameKind.TEST),
    ("go/panic-v/stdout.txt", "/repo/a/a_test.go", 4, FrameKind.TEST),
    ("go/build-fail-v/stderr.txt", "a/a_test.go", 3, FrameKind.TEST),
]


@pytest.mark.parametrize(("log", "path", "line", "kind"), LOGS)
def test_the_places_in_recorded_logs_are_read(
    cases: Path, log: str, path: str, line: int, kind: FrameKind
) -> None:
    text = (cases / "logs" / log).read_text(encoding="utf-8", errors="replace")
    mapper = PathMapper(["src/lib.rs", "tests/bad.rs"])
    frames = classify_frames(parse_frames(text), mapper)

    assert (path, line, kind) in {(frame.path, frame.line, frame.kind) for frame in frames}


def test_libraries_in_recorded_logs_are_told_apart(cases: Path) -> None:
    for log in sorted((cases / "logs").glob("*/*/std*.txt")):
        text = log.read_text(encoding="utf-8", errors="replace")
        for frame in classify_frames(parse_frames(text), PathMapper([])):
            inside = "node_modules/" in frame.path or "dist-packages/" in frame.path
            assert inside == (frame.kind is FrameKind.VENDORED), (log, frame)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("src/a.ts(12,5): error TS2304: Cannot find name 'x'.", ("src/a.ts", 12)),
        ("lib/a.c:4:2: error: expected ';'", ("lib/a.c", 4)),
        ("\x1b[31msrc/a.ts\x1b[0m:3:0: ERROR: Unexpected end", ("src/a.ts", 3)),
        ("note: test did not panic as expected at src/lib.rs:22:32", ("src/lib.rs", 22)),
    ],
)
def test_what_does_not_build_has_its_place(text: str, place: tuple[str, int]) -> None:
    assert [(frame.path, frame.line) for frame in parse_frames(text)] == [place]


@pytest.mark.parametrize(
    "text",
    [
        "SKIPPED [1] test_mixed.py:12: no reason",
        "at 12:30:05: started",
        "see https://example.com:8080/a.html",
        "ratio 3.14:2",
    ],
)
def test_what_only_looks_like_a_place_is_none(text: str) -> None:
    assert parse_frames(text) == ()


def test_a_crash_of_the_interpreter_names_the_deepest_call_first() -> None:
    text = (
        "Fatal Python error: Segmentation fault\n\n"
        "Current thread 0x1 (most recent call first):\n"
        '  File "/repo/deep.py", line 9 in inner\n'
        '  File "/repo/top.py", line 2 in outer\n'
    )
    assert [frame.function for frame in parse_frames(text)] == ["outer", "inner"]


def test_a_file_that_the_gate_laid_over_the_workspace_is_the_gate_s_own() -> None:
    mapper = PathMapper(
        ["tests/test_a.py", "src/a.py"], "/app", overlay=["tests/test_a.py", "run.py"]
    )
    frames = classify_frames(
        [
            Frame("/app/tests/test_a.py", 3),
            Frame("tests/test_a.py", 4),
            Frame("/app/run.py", 5),
            Frame("/app/src/a.py", 6),
        ],
        mapper,
    )

    assert [(f.kind, f.workspace_path, f.overlay_path) for f in frames] == [
        (FrameKind.TEST, None, "tests/test_a.py"),
        (FrameKind.TEST, None, "tests/test_a.py"),
        (FrameKind.TEST, None, "run.py"),
        (FrameKind.PROJECT, "src/a.py", None),
    ]


def test_a_longer_path_of_the_workspace_is_not_an_overlay_of_the_same_name() -> None:
    (frame,) = classify_frames(
        [Frame("/somewhere/src/app.py", 1)], PathMapper(["src/app.py"], overlay=["app.py"])
    )

    assert (frame.kind, frame.workspace_path) == (FrameKind.PROJECT, "src/app.py")


def test_a_hidden_test_is_found_among_the_gate_s_own_files_by_its_whole_path() -> None:
    mapper = PathMapper(["tests/test_a.py"], overlay=["gate_tests/test_a.py"])
    ours, other = classify_frames(
        [Frame("/gate/gate_tests/test_a.py", 1), Frame("/gate/test_a.py", 1)], mapper
    )

    assert ours.overlay_path == "gate_tests/test_a.py"
    assert (other.overlay_path, other.workspace_path) == (None, None)
