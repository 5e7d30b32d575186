"""The diff pane: loading, folding, jumps, and the header that stays on top."""

from __future__ import annotations

import threading

from arcview.errors import BadInputError
from arcview.model.patch import ChangeKind, FileChange, FilePatch, PathClass
from arcview.states.patch_text import parse_patch
from arcview.ui.rows.lines import ListRows
from arcview.ui.safe import plain
from arcview.ui.widgets.diff import DiffTree, DiffView
from tests.ui.pane_app import PaneApp, screen_lines, settle
from tests.ui.test_rows_diff import PATCH, new_side

KEYS = {
    "J": "next_hunk",
    "K": "previous_hunk",
    "right_curly_bracket": "next_file",
    "left_curly_bracket": "previous_file",
    "s": "switch_mode",
    "space": "toggle_file",
    "minus": "fold_all",
    "plus": "open_all",
}
WHOLE = "\n".join(new_side()).encode()


def patches(*names: str) -> dict[str, FilePatch]:
    return {
        name: parse_patch(PATCH.replace("src/engine.py", name).encode()).files[0] for name in names
    }


def show(view: DiffView, files: dict[str, FilePatch]) -> None:
    view.show(
        [patch.change for patch in files.values()],
        lambda change: files[change.path],
        lambda change: WHOLE,
    )


async def test_files_load_while_their_headers_are_there() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    may_load = threading.Event()
    files = patches("a.py", "b.py")

    def load(change: FileChange) -> FilePatch:
        may_load.wait(10)
        return files[change.path]

    async with app.run_test(size=(80, 30)) as pilot:
        view.show([patch.change for patch in files.values()], load)
        await pilot.pause()
        assert [line.split(" +")[0].rstrip() for line in screen_lines(app)[:4]] == [
            "▾ M a.py",
            "  … loading",
            "",
            "▾ M b.py",
        ]
        may_load.set()
        await settle(app, pilot)
        assert any("total = one(a, b)" in line for line in screen_lines(app))


async def test_the_cursor_stays_on_its_file_while_others_load() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    may_load = threading.Event()
    files = patches("a.py", "b.py")

    def load(change: FileChange) -> FilePatch:
        may_load.wait(10)
        return files[change.path]

    async with app.run_test(size=(80, 30)) as pilot:
        view.show([patch.change for patch in files.values()], load)
        await pilot.press("}")
        may_load.set()
        await settle(app, pilot)
        position = view.position
        assert position is not None
        assert position.change.path == "b.py"
        assert view.cursor == 21


async def test_a_file_that_fails_to_load_says_so_and_the_others_load() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    files = patches("a.py", "b.py")

    def load(change: FileChange) -> FilePatch:
        if change.path == "a.py":
            raise BadInputError("a.py", "expected a tree", "S2")
        return files[change.path]

    async with app.run_test(size=(80, 30)) as pilot:
        view.show([patch.change for patch in files.values()], load)
        await settle(app, pilot)
        assert "  ✗ not readable: a.py: S2: expected a tree" in screen_lines(app)
        assert any("total = one" in line for line in screen_lines(app))


async def test_folded_files_are_not_loaded() -> None:
    view = DiffView()
    app = PaneApp(view, KEYS)
    asked: list[str] = []
    lock = FileChange("x.lock", ChangeKind.ADDED, added=1, path_class=PathClass.LOCK)

    def load(change: FileChange) -> FilePatch:
        asked.append(change.path)
        return FilePatch(change)

    async with app.run_test(size=(80, 30)) as pilot:
        view.show([lock], load)
        await settle(app, pilot)
        assert asked == []
        await pilot.press("enter", "j", "enter")
        await settle(app, pilot)
        assert asked == ["x.lock"]


async def test_what_a_later_diff_replaced_does_not_come_back() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    may_load = threading.Event()
    old, new = patches("old.py"), patches("new.py")

    def load(change: FileChange) -> FilePatch:
        may_load.wait(10)
        return old["old.py"]

    async with app.run_test(size=(80, 30)) as pilot:
        view.show([patch.change for patch in old.values()], load)
        await pilot.pause()
        show(view, new)
        may_load.set()
        await settle(app, pilot)
        assert not any("old.py" in line for line in screen_lines(app))
        assert any("total = one" in line for line in screen_lines(app))


async def test_keys_jump_by_change_and_by_file() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 30)) as pilot:
        show(view, patches("a.py", "b.py"))
        await settle(app, pilot)
        await pilot.press("J")
        assert view.cursor == 5
        await pilot.press("J", "J")
        assert view.cursor == 21 + 5
        await pilot.press("{")
        assert view.cursor == 21
        await pilot.press("{", "K")
        assert view.cursor == 0


async def test_enter_opens_a_gap_and_folds_a_file() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 30)) as pilot:
        show(view, patches("a.py"))
        await settle(app, pilot)
        await pilot.press("j", "enter")
        await settle(app, pilot)
        assert screen_lines(app)[1].split() == ["1", "line", "1"]
        await pilot.press("g", "enter")
        assert len(view.rows) == 1


async def test_enter_on_a_line_picks_it() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 30)) as pilot:
        show(view, patches("a.py"))
        await settle(app, pilot)
        await pilot.press("J", "enter")
        await pilot.pause()
        assert app.picked == [5]


async def test_the_whole_file_opens() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 30)) as pilot:
        show(view, patches("a.py"))
        await settle(app, pilot)
        view.action_whole_file()
        await settle(app, pilot)
        numbers = [p.new_line for i in range(len(view.rows)) if (p := view.rows.position(i))]
        assert [n for n in numbers if n] == list(range(1, 61))


async def test_the_header_of_the_file_stays_on_top() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 10)) as pilot:
        show(view, patches("a.py"))
        await settle(app, pilot)
        await pilot.press("pagedown")
        assert screen_lines(app)[0].startswith("▾ M a.py")
        await pilot.click(DiffView, offset=(5, 0))
        assert view.cursor == 0


async def test_switching_the_mode_keeps_the_line() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(120, 30)) as pilot:
        show(view, patches("a.py"))
        await settle(app, pilot)
        await pilot.press("J", "J")
        text = view.cursor_text
        await pilot.press("s")
        assert view.rows.is_split
        assert view.cursor_text == text


async def test_automatic_mode_follows_the_width() -> None:
    view = DiffView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(120, 30)) as pilot:
        show(view, patches("a.py"))
        await settle(app, pilot)
        assert view.rows.is_split
        await pilot.resize_terminal(80, 30)
        await pilot.pause()
        assert not view.rows.is_split


async def test_a_line_is_gone_to_when_its_file_has_loaded() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 30)) as pilot:
        show(view, patches("a.py", "b.py"))
        assert view.go_to("b.py", 14)
        await settle(app, pilot)
        assert view.cursor_text.strip() == "extra = 1"
        assert view.go_to("a.py", 43, old_side=True)
        assert view.cursor_text.strip() == "gone()"
        assert not view.go_to("nowhere.py")


async def test_all_files_fold_and_open() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 30)) as pilot:
        show(view, patches("a.py", "b.py"))
        await settle(app, pilot)
        await pilot.press("minus")
        assert len(view.rows) == 2
        await pilot.press("plus")
        assert len(view.rows) == 42


async def test_a_message_takes_the_place_of_a_diff() -> None:
    view = DiffView(mode="unified")
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 30)) as pilot:
        show(view, patches("a.py"))
        await settle(app, pilot)
        view.set_source(ListRows([plain("not known")]))
        await pilot.press("enter", "J", "}", "space", "s", "minus")
        await pilot.pause()
        assert screen_lines(app)[0] == "not known"
        assert view.position is None


async def test_the_tree_knows_the_file_under_the_cursor() -> None:
    tree = DiffTree()
    app = PaneApp(tree)
    async with app.run_test(size=(30, 10)) as pilot:
        tree.show([patch.change for patch in patches("src/a.py", "src/b.py").values()])
        await pilot.pause()
        assert tree.change is None
        tree.move_to(2)
        assert tree.change is not None
        assert tree.change.path == "src/b.py"
