"""Answers of what-if in the sidecar of a run: a file an answer, written once and never changed.

`<run sidecar>/what-if/<key>/<number>.json`, schema `arcview/whatif/1`, with its key
and a checksum of itself.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.analysis.what_if import MergeMode, Transplant, WhatIfLabel
from arcview.errors import ArcviewError, BadInputError
from arcview.files import in_words, read_file
from arcview.gates.sealed import Json, sealed, unsealed
from arcview.model.problem import Problem
from arcview.model.results import Verdict
from arcview.readers.fields import Fields
from arcview.session.what_if_answer import ArmResult, WhatIf

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = "arcview/whatif/1"


class WhatIfStore:
    """The answers of one run.

    Args:
        run_sidecar: The run's folder in the sidecar; nothing is made before something is stored.

    Attributes:
        problems: Stored answers that are damaged or belong elsewhere, and are not used.
    """

    def __init__(self, run_sidecar: Path) -> None:
        self.folder = run_sidecar / "what-if"
        self.problems: tuple[Problem, ...] = ()

    def find(self, key: str) -> WhatIf | None:
        """The last answer to one question, or null."""
        for number in sorted(_numbers(self.folder / key), reverse=True):
            found = self._read(key, number)
            if found is not None:
                return found
        return None

    def add(self, key: str, answer: WhatIf) -> WhatIf:
        """Stores an answer beside earlier ones to the same question.

        Raises:
            ArcviewError: the sidecar cannot be written.
        """
        folder = self.folder / key
        temporary = folder / f".new-{os.urandom(6).hex()}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary.write_bytes(sealed({**what_if_json(answer), "key": key}))
            temporary.chmod(0o400)
            while True:
                path = folder / f"{max(_numbers(folder), default=0) + 1}.json"
                try:
                    path.hardlink_to(temporary)  # fails where another process was quicker
                except FileExistsError:
                    continue
                break
        except OSError as error:
            why = error.strerror or str(error)
            raise ArcviewError(f"{folder}: the answer cannot be stored: {why}") from error
        finally:
            with suppress(OSError):  # there is none where the folder could not be made
                temporary.unlink()
        return answer

    def _read(self, key: str, number: int) -> WhatIf | None:
        shown = f"what-if/{key}/{number}.json"
        try:
            data = read_file(self.folder / key / f"{number}.json")
            values = unsealed(data, shown)
            if values.get("key") != key:
                raise BadInputError(shown, "copied or moved from another question")
            return read_what_if(values, shown)
        except BadInputError as error:
            self._note(Problem(shown, f"{error.expected}; not used"))
        except (OSError, KeyError, ValueError, TypeError) as error:
            self._note(Problem(shown, f"not a stored answer ({in_words(error)}); not used"))
        return None

    def _note(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems = (*self.problems, problem)


def what_if_json(answer: WhatIf) -> Json:
    """An answer as it is stored and printed; unknown is null."""
    return {
        "schema": SCHEMA,
        "run_id": answer.run_id,
        "gate": answer.gate,
        "label": answer.label.value,
        "reason": answer.reason,
        "states": {
            "base": answer.base,
            "end": answer.end,
            "reference_base": answer.reference_base,
            "reference": answer.reference,
        },
        "tests": {test: label.value for test, label in answer.tests.items()},
        "control": answer.control,
        "recorded": _arm(answer.recorded),
        "x": _arm(answer.x) if answer.x is not None else None,
        "y": _arm(answer.y) if answer.y is not None else None,
        "x_merge": _made(answer.x_made),
        "y_merge": _made(answer.y_made),
        "times": answer.times,
        "steady": answer.is_steady,
        "final": answer.is_final,
        "engine": answer.engine,
        "graded_on_host": answer.graded_on_host,
        "created": answer.created,
        "arcview_version": answer.arcview_version,
    }


def _arm(arm: ArmResult | None) -> Json | None:
    if arm is None:
        return None
    return {
        "label": arm.label,
        "tree": arm.tree,
        "verdicts": [verdict.value for verdict in arm.verdicts],
        "reason": arm.reason,
        "failing": [list(tests) for tests in arm.failing],
        "results": list(arm.results),
        "duration_s": round(arm.duration_s, 3),
        "unrun": list(arm.unrun),
    }


def _made(made: Transplant | None) -> Json | None:
    if made is None:
        return None
    return {
        "tree": made.tree,
        "mode": made.mode,
        "conflicts": list(made.conflicts),
        "reason": made.reason,
        "copied": list(made.copied),
        "doubts": list(made.doubts),
        "build_doubts": list(made.build_doubts),
    }


def read_what_if(values: Json, shown: str) -> WhatIf:
    """A stored answer.

    Raises:
        BadInputError: it is of another schema, or a field is missing.
        ValueError: a word in it is none of ours.
    """
    found = Fields.of(values, shown, [])
    if found.text("schema") != SCHEMA:
        raise BadInputError(shown, f"expected schema {SCHEMA}")
    states = found.sub("states")
    tests = found.sub("tests").values
    return WhatIf(
        run_id=found.need_text("run_id"),
        gate=found.need_text("gate"),
        label=WhatIfLabel(found.need_text("label")),
        reason=found.need_text("reason"),
        base=states.text("base"),
        end=states.text("end"),
        reference_base=states.need_text("reference_base"),
        reference=states.need_text("reference"),
        tests={test: WhatIfLabel(str(label)) for test, label in tests.items()},
        control=found.text("control"),
        recorded=_read_arm(found, "recorded"),
        x=_read_arm(found, "x"),
        y=_read_arm(found, "y"),
        x_made=_read_made(found, "x_merge"),
        y_made=_read_made(found, "y_merge"),
        times=found.count("times") or 1,
        is_steady=bool(found.flag("steady")),
        is_final=bool(found.flag("final")),
        engine=found.text("engine"),
        graded_on_host=bool(found.flag("graded_on_host")),
        created=found.need_text("created"),
        arcview_version=found.text("arcview_version") or "",
    )


def _read_arm(found: Fields, key: str) -> ArmResult | None:
    arm = found.sub(key)
    if not arm.values:
        return None
    failing = arm.values["failing"]
    if not isinstance(failing, list):
        raise BadInputError(arm.place("failing"), "expected lists of tests")
    return ArmResult(
        arm.need_text("label"),
        arm.need_text("tree"),
        tuple(Verdict(word) for word in arm.texts("verdicts")),
        tuple(_strings(tests) for tests in failing),
        arm.text("reason"),
        tuple(arm.texts("results")),
        arm.number("duration_s") or 0.0,
        tuple(arm.texts("unrun")),
    )


def _strings(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))


_MODES: dict[str, MergeMode] = {"lines": "lines", "blocks": "blocks", "none": "none"}


def _read_made(found: Fields, key: str) -> Transplant | None:
    made = found.sub(key)
    if not made.values:
        return None
    return Transplant(
        made.text("tree"),
        _MODES[made.need_text("mode")],
        tuple(made.texts("conflicts")),
        made.text("reason"),
        tuple(made.texts("copied")),
        tuple(made.texts("doubts")),
        tuple(made.texts("build_doubts")),
    )


def _numbers(folder: Path) -> list[int]:
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:  # what cannot be listed holds nothing that could be used
        return []
    stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
    return [int(stem) for stem in stems if stem.isdecimal()]
