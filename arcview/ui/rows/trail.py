"""Where a failing test leads: frames and candidate lines, and the steps that wrote them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arcview.analysis.symptoms import Symptom
from arcview.session.trail import LineSource, StepShare, TracedFrame, Trail
from arcview.ui.rows.figures import plural
from arcview.ui.rows.sections import Section

_CONTEXT_LINES = 2
_MAX_CANDIDATES = 5
_MAX_SYMPTOMS = 8
_MAX_STEPS = 3


@dataclass(frozen=True, slots=True)
class StepLink:
    """A step that wrote a part of the change to a state."""

    state: str
    share: StepShare


def trail_sections(
    trail: Trail, files: Mapping[str, str], stage: int | None = None
) -> tuple[Section, ...]:
    """The sections that stand between a test's facts and its texts.

    Args:
        trail: What leads on.
        files: Path → text of the state that the gate ran on, for the lines of code.
        stage: Whose gate it is: steps of others are marked.
    """
    writer = _Writer(files)
    if trail.nothing is not None:
        writer.line(trail.nothing)
    if trail.leading is not None:
        writer.frame(trail.leading)
    began_with = trail.candidates[0].source if trail.candidates else None
    if began_with is None or began_with.state != trail.began:
        # What the change of the test's first bad state holds comes before older code.
        writer.change(trail)
        writer.candidates(trail)
    else:
        writer.candidates(trail)
        writer.change(trail)
    sections = [writer.section("Where it comes from")]
    if trail.symptoms:
        seen = _Writer(files)
        for symptom in trail.symptoms[:_MAX_SYMPTOMS]:
            seen.line(f"{_step_seen(symptom, stage):<8}{symptom.line.strip()}", symptom)
        seen.more(len(trail.symptoms) - _MAX_SYMPTOMS)
        sections.append(seen.section("The agent had it on its screen"))
    return tuple(sections)


def _step_seen(symptom: Symptom, stage: int | None) -> str:
    """`#14`; `2#14` for a step of another stage, `2p#14` for one of a pass."""
    step = f"#{symptom.number}" if symptom.number is not None else "note"
    if symptom.state is not None:
        return f"{symptom.stage}p{step}"
    return f"{symptom.stage}{step}" if symptom.stage != stage else step


class _Writer:
    """Lines of one section, some of them links."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._lines: list[str] = []
        self._links: dict[int, object] = {}

    def line(self, text: str, link: object = None) -> None:
        self._lines.append(text.replace("\n", "␊"))
        if link is not None:
            self._links[len(self._lines)] = link

    def section(self, title: str) -> Section:
        return Section(title, "\n".join(self._lines) + "\n", self._links)

    def frame(self, traced: TracedFrame) -> None:
        frame = traced.frame
        function = f" in {frame.function}" if frame.function else ""
        path = frame.workspace_path or frame.path
        self.line(f"{path}:{frame.line}{function}", frame)
        self._source(traced.source)
        self._code(path, frame.line)

    def candidates(self, trail: Trail) -> None:
        if trail.leading is None and trail.candidates:
            self.line("The failure names no line of the agent's code. Candidates, best first:")
        elif trail.candidates:
            self.line("Candidates besides, best first:")
        for traced in trail.candidates[:_MAX_CANDIDATES]:
            candidate = traced.candidate
            self.line(f"{candidate.path}:{candidate.line}  {candidate.text.strip()}", candidate)
            self.line(f"    {candidate.reason}")
            self._source(traced.source)
        self.more(len(trail.candidates) - _MAX_CANDIDATES)

    def change(self, trail: Trail) -> None:
        if not trail.suspect_change:
            return
        began = f" of {trail.began}" if trail.began else ""
        self.line(f"It began to fail with the change{began}:")
        for change in trail.suspect_change[:_MAX_CANDIDATES]:
            self.line(f"{change.path}  +{change.added or 0} −{change.removed or 0}", change)
        self.more(len(trail.suspect_change) - _MAX_CANDIDATES)
        for share in trail.suspect_steps[:_MAX_STEPS] if trail.began else ():
            step = f"step {share.step}" if share.step is not None else "a step"
            said = f"    ← {step} wrote {plural(share.lines, 'line')} of it"
            self.line(said, StepLink(trail.began or "", share))

    def more(self, hidden: int) -> None:
        if hidden > 0:
            self.line(f"… {hidden} more")

    def _source(self, source: LineSource | None) -> None:
        if source is not None:
            self.line(f"    ← {written_by(source)}", source if source.step_key else None)

    def _code(self, path: str, line: int) -> None:
        text = self._files.get(path)
        if text is None:
            return
        lines = text.split("\n")
        for number in range(max(1, line - _CONTEXT_LINES), line + _CONTEXT_LINES + 1):
            if number <= len(lines):
                mark = "▸" if number == line else " "
                self.line(f"  {mark} {number:>4}  {lines[number - 1]}")


def author_label(source: LineSource) -> str:
    """`3#14`, `3#14?` for a candidate, `3` for no known step; a pass has a `p`: `2p#7`.

    Empty for a line that stood there before the first stage.
    """
    if not source.stage:
        return ""
    stage = f"{source.stage}{'p' if source.is_pass else ''}"
    if source.step_key is None:
        return stage
    step = f"#{source.step}" if source.step is not None else "#·"
    return f"{stage}{step}{'?' if source.certainty == 'candidate' else ''}"


def written_by(source: LineSource) -> str:
    """`stage 2 · step 33 (exact)`."""
    where = f"the pass to {source.state}" if source.is_pass else f"stage {source.stage}"
    if source.step is None and source.step_key is None:
        return f"{where}, step not known"
    step = f"step {source.step}" if source.step is not None else "a step"
    return f"{where} · {step} ({source.certainty})"
