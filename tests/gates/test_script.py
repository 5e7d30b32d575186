from __future__ import annotations

from pathlib import Path

from arcview.gates.definition import Limits
from arcview.gates.engine import Image, Job, JobStep
from arcview.gates.script import read_said
from arcview.gates.tested_tree import Origin, TestedTree, TreeFiles
from arcview.model.run import PathRules


def job(tmp_path: Path) -> Job:
    files = TreeFiles((), {})
    tree = TestedTree("t", Origin.AGENT, (), PathRules(), lambda _: iter(()), lambda: files)
    step = JobStep("tests", ("true",), (), 60, is_build=False)
    image = Image("image", "id", "digest")
    return Job("1", "S1", image, "/repo", None, (step,), tree, (), Limits(), tmp_path)


def test_what_the_tested_code_writes_among_the_steps_is_read_without_trust(tmp_path: Path) -> None:
    digits = b"9" * 5000
    said = b"".join(
        [
            b"begin 0 %s\nend 0 %s 1\noom %s\nbegin %s 1\n" % ((digits,) * 4),
            b"\xff\0\x1b[31m\nbegin\nend 7 0 0\nbegin 5 1\n",
            b"end 0 3 9\n",
        ]
    )
    found = read_said(job(tmp_path), said)
    assert [step.exit_code for step in found.steps] == [3]
    assert (found.unprepared, found.is_done, found.memory_kills) == (None, False, 0)
