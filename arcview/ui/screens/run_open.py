"""What the run screen opens on top of itself: files, logs, specifications, problems, help."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from arcview.errors import ArcviewError
from arcview.session.address import Address
from arcview.session.commands import Context
from arcview.text import decode
from arcview.ui.editor import open_in_editor
from arcview.ui.rows.lines import ListRows, RowSource
from arcview.ui.rows.sections import Section, SectionRows
from arcview.ui.rows.text_view import TextRows
from arcview.ui.safe import one_line, pieces, plain
from arcview.ui.screens.base import say_on_top
from arcview.ui.screens.text import Follow, TextScreen

if TYPE_CHECKING:
    from arcview.session.run_session_address import Destination
    from arcview.ui.screens.file import FileScreen
    from arcview.ui.screens.run import RunScreen


class RunOpen:
    """Opens texts over one run screen."""

    def __init__(self, screen: RunScreen) -> None:
        self._screen = screen
        self._copies: TemporaryDirectory[str] | None = None
        """A private folder for the copies that an editor is given."""

    def close(self) -> None:
        """Removes what was copied."""
        if self._copies is not None:
            self._copies.cleanup()
            self._copies = None

    def rows(
        self,
        title: str,
        rows: RowSource,
        *,
        follow: Follow | None = None,
        cursor: int = 0,
        context: Context = Context.TEXT,
    ) -> TextScreen:
        """Rows on a screen of their own."""
        content = pieces((one_line(title), "bold"))
        opened = TextScreen(content, rows, follow=follow, cursor=cursor, context=context)
        opened.onward = self._screen.search_onward
        self._screen.app.push_screen(opened)
        return opened

    def file(self, state: str, path: str, line: int = 1) -> None:
        """A whole file of a state, at a line."""
        opened = self.data(state, path, self._screen.opened.store.file(state, path), line)
        if opened is not None:
            rows, parts = opened.rows, tuple(path.split("/"))
            self.annotatable(opened, lambda i: Address("file", state, parts, rows.line_at(i)))
            opened.edit = lambda index: self.in_editor(state, path, rows.line_at(index))

    def data(self, state: str, path: str, data: bytes | None, line: int = 1) -> FileScreen | None:
        """A whole file that is there already; null where the state has none such."""
        if data is None:
            say_on_top(self._screen.app, f"{path} is not in {state}")
            return None
        decoded = decode(data)
        if decoded.binary:
            say_on_top(self._screen.app, f"{path} is not text")
            return None
        from arcview.ui.screens.file import FileScreen  # only who views a file needs it

        opened = FileScreen(self._screen, state, path, decoded, line)
        opened.onward = self._screen.search_onward
        self._screen.app.push_screen(opened)
        return opened

    def annotatable(self, opened: TextScreen, place: Callable[[int], Address | None]) -> None:
        """Lets rows of a text be noted for a case, at the place that each of them is."""

        def annotate(index: int, begins: bool) -> None:
            labels = self._screen.annotating()
            (labels.begin_range if begins else labels.mark)(place(index))

        opened.annotate = annotate
        opened.place = place

    def arrive(self, destination: Destination) -> None:
        """What an address names that no pane shows: a specification, a raw log, a cell."""
        if destination.cell is not None:
            self._screen.rerunning().matrix().open(*destination.cell)
        elif destination.log is not None:
            self.log(destination.log, destination.line)
        else:
            self.spec(destination.line)

    def log(self, path: str, line: int = 1) -> TextScreen | None:
        """A raw log or report of the gate."""
        get = partial(self._screen.opened.text, path)
        parts = ("log", *path.split("/"))
        where = self._screen.gate_where()

        def place(line: int) -> Address:
            return Address("gate", where, parts, line)

        return self._text(path, get, "is not there", numbered=True, line=line, place=place)

    def gate_file(self, gate: str, path: str, line: int) -> None:
        """A file of the gate's own, at a line: what was run in the place of the agent's file."""
        opened = self._screen.opened
        file = next(file for file in opened.run.overlay(gate) if file.path == path)
        name = "the chain gate's own file" if gate == "chain" else f"gate {gate}'s own file"
        get = partial(opened.text, file.text_path)
        self._text(f"{path}: {name}", get, "is not there", numbered=True, line=line, path=path)

    def spec(self, line: int = 1) -> TextScreen | None:
        """What the agent was told at the stage."""
        stage = self._screen.session.stop.stage
        return self._text(
            f"Specification of stage {stage}",
            lambda: self._screen.opened.spec(stage),
            f"no specification of stage {stage} is recorded",
            line=line,
            place=lambda line: Address("spec", str(stage), (), line),
        )

    def contract(self, line: int | None = None) -> TextScreen | None:
        """Names, signatures, constants and messages that the stage promises.

        Args:
            line: Of the contract as it is written, which is then all that is shown.
        """
        from arcview.session.coverage import contract_text  # only who looks at it needs it

        stage, opened = self._screen.session.stop.stage, self._screen.opened
        return self._text(
            f"Contract of stage {stage}",
            lambda: contract_text(opened, stage) if line is None else opened.contract(stage),
            f"no contract of stage {stage} is recorded",
            line=line or 1,
        )

    def coverage(self) -> None:
        """The contract of the stage against the code of every state."""
        from arcview.ui.screens.coverage import CoverageScreen  # only who looks at it needs it

        stage = self._screen.session.stop.stage
        self._screen.app.push_screen(CoverageScreen(self._screen, stage))

    def _text(
        self,
        title: str,
        get: Callable[[], str | None],
        absent: str,
        *,
        numbered: bool = False,
        line: int = 1,
        place: Callable[[int], Address] | None = None,
        path: str | None = None,
    ) -> TextScreen | None:
        try:
            text = get()
        except ArcviewError as error:
            say_on_top(self._screen.app, str(error))
            return None
        if text is None:
            say_on_top(self._screen.app, absent)
            return None
        rows = TextRows(text, numbered=numbered, terminal=path is None, path=path)
        opened = self.rows(title, rows, cursor=rows.row_of(line))
        if place is not None:
            self.annotatable(opened, lambda index: place(rows.line_at(index)))
        return opened

    def problems(self) -> None:
        """Damaged and missing files of the run."""
        problems = self._screen.problems()
        if not problems:
            self._screen.notice("nothing of this run is damaged or missing, as far as it was read")
            return
        sections = tuple(Section(one_line(p.where), f"{p.what}\n") for p in problems)
        self.rows(f"Problems of the run  {len(problems)}", SectionRows(sections))

    def choose_states(self) -> None:
        """Asks for the older and then for the newer of two states."""
        states = [state.id for state in self._screen.opened.run.agent_states()]
        if len(states) < 2:
            self._screen.notice("there are no two states to compare")
            return
        self._choose(
            "Compare: the older state", states, lambda old: self._choose_newer(states, old)
        )

    def _choose_newer(self, states: list[str], old: str) -> None:
        def compare(new: str) -> None:
            self._screen.apply(self._screen.session.compare(old, new))

        self._choose(f"Compare {old} with: the newer state", states, compare)

    def _choose(self, title: str, names: list[str], chosen: Callable[[str], None]) -> None:
        def follow(index: int) -> None:
            self._screen.app.pop_screen()
            chosen(names[index])

        rows = ListRows([plain(one_line(name)) for name in names])
        self.rows(title, rows, follow=follow, context=Context.CHOICE)

    def in_editor(self, state: str, path: str, line: int) -> bool:
        """A copy of a file of a state in the person's editor; false where the state has no such."""
        data = self._screen.opened.store.file(state, path)
        if data is None:
            say_on_top(self._screen.app, f"{path} is not in {state}")
            return False
        if self._copies is None:
            self._copies = TemporaryDirectory(prefix="arcview-")
        folder = Path(self._copies.name)
        said = open_in_editor(self._screen.app, folder, path, data, line)
        say_on_top(self._screen.app, said)
        return True
