"""The sanitiser: what may reach a terminal, and that nothing else does."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from arcview.text import (
    MARK,
    AnsiSpan,
    AnsiStyle,
    ansi_plain,
    ansi_spans,
    cells,
    clean,
    clip,
    decode,
    expand_tabs,
)

ESC = "\x1b"
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
UNSAFE_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def unsafe_in(text: str) -> set[str]:
    return {c for c in text if c != "\n" and unicodedata.category(c) in UNSAFE_CATEGORIES} | (
        BIDI & set(text)
    )


any_text = st.text(alphabet=st.characters(codec=None, exclude_categories=()))
nasty = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            "\x00\x07\x08\t\n\r\x1b\x7f\x9b\x9d\u202e\u200b\u200d\ufe0f\u0301a1 ;[]m日"
        ),
        st.characters(codec=None, exclude_categories=()),
    )
)


# clean


@given(st.one_of(any_text, nasty))
def test_clean_output_has_no_control_bidi_or_surrogate(text: str) -> None:
    assert unsafe_in(clean(text)) == set()


@given(st.one_of(any_text, nasty))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.one_of(any_text, nasty))
def test_clean_keeps_the_lines(text: str) -> None:
    assert clean(text).count("\n") == text.count("\n")


@given(nasty)
def test_ansi_output_is_clean(line: str) -> None:
    text, spans = ansi_spans(line.replace("\n", ""))
    assert unsafe_in(text) == set()
    assert all(0 <= span.start < span.end <= len(text) for span in spans)


def test_every_character_becomes_something_safe_and_of_the_width_that_the_screen_counts() -> None:
    unsafe, wrong_width = [], []
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if char == "\n":
            continue
        shown = clean(f"a{char}")
        if unsafe_in(shown):
            unsafe.append(hex(code))
        # Newer Unicode tables than Python's own widen a few symbols; those are not ours to know.
        if cells(shown) != cell_len(shown) and unicodedata.category(char) not in ("Cn", "So", "No"):
            wrong_width.append(hex(code))
    assert unsafe == []
    assert wrong_width == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred", "␛[31mred"),
        ("a\0b", "a␀b"),
        ("bell\a", "bell␇"),
        ("\x7f", "␡"),
        ("a\rb", "a␍b"),
        ("\x9b31m", f"{MARK}31m"),
        ("\u202eevil", f"{MARK}evil"),
        ("\ud83d", MARK),
        ("\ue0b0", MARK),
        ("\u0301first", f"{MARK}first"),
        ("e\u0301", "e\u0301"),
        ("e" + "\u0301" * 9, "e" + "\u0301" * 3 + MARK * 6),
        ("\u26a0\ufe0f careful", "\u26a0 careful"),
        ("\ufe0f alone", f"{MARK} alone"),
        ("\U0001f468\u200d\U0001f469", f"\U0001f468{MARK}\U0001f469"),
        ("[red]x[/red] [@click='app.quit']q[/]", "[red]x[/red] [@click='app.quit']q[/]"),
    ],
)
def test_clean_draws_what_it_must_not_pass_on(text: str, shown: str) -> None:
    assert clean(text) == shown


# tabs, clipping


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("a\tb\t\tc", "a       b               c"),
        ("日\tcol", "日      col"),
        ("\tlead", "        lead"),
        ("1234567\t8", "1234567 8"),
        ("12345678\t9", "12345678        9"),
        ("x\n\ty", "x\n        y"),
        ("e\u0301\t.", "e\u0301       ."),
        ("\x1b\t.", "\x1b       ."),
    ],
)
def test_tabs_go_to_the_next_multiple_of_eight_columns(text: str, expanded: str) -> None:
    assert expand_tabs(text) == expanded


@given(st.text(alphabet=st.sampled_from("ab\t日é ")))
def test_text_behind_a_tab_stands_on_a_tab_stop(line: str) -> None:
    expanded = expand_tabs(f"{line}\t")
    assert cells(expanded) % 8 == 0


def test_a_short_text_is_not_clipped() -> None:
    assert clip("x" * 4_000) == "x" * 4_000


def test_a_clipped_text_says_how_much_is_left_out() -> None:
    assert clip("x" * 5_234) == "x" * 4_000 + " … 1,234 more characters"


# decode


@pytest.mark.parametrize(
    ("data", "text", "encoding", "damaged", "binary"),
    [
        (b"plain", "plain", "utf-8", False, False),
        (b"\xef\xbb\xbfbom", "bom", "utf-8-sig", False, False),
        ("hé".encode("utf-16"), "hé", "utf-16-le", False, False),
        (b"\xfe\xff\0h", "h", "utf-16-be", False, False),
        (b"na\xefve", f"na{MARK}ve", "utf-8", True, False),
        (b"\xff\xfeh", MARK, "utf-16-le", True, False),
        (b"a\0b", "a\0b", "utf-8", False, True),
        (b"", "", "utf-8", False, False),
    ],
)
def test_bytes_are_read_by_their_mark_else_as_utf8(
    data: bytes, text: str, encoding: str, damaged: bool, binary: bool
) -> None:
    decoded = decode(data)
    assert decoded.text == text
    assert (decoded.encoding, decoded.damaged, decoded.binary) == (encoding, damaged, binary)


@given(st.binary())
def test_decode_takes_any_bytes(data: bytes) -> None:
    assert isinstance(decode(data).text, str)


# terminal output


def test_colours_become_spans_of_the_clean_text() -> None:
    text, spans = ansi_spans("ok \x1b[1;31mred\x1b[0m \x1b[32mgreen")
    assert text == "ok red green"
    assert spans == (
        AnsiSpan(3, 6, AnsiStyle(foreground=1, bold=True)),
        AnsiSpan(7, 12, AnsiStyle(foreground=2)),
    )


@pytest.mark.parametrize(
    ("code", "style"),
    [
        ("38;5;196", AnsiStyle(foreground="#ff0000")),
        ("38;5;9", AnsiStyle(foreground=9)),
        ("38;5;244", AnsiStyle(foreground="#808080")),
        ("48;2;0;0;128", AnsiStyle(background="#000080")),
        ("38:2::1:2:3", AnsiStyle(foreground="#010203")),
        ("38:5:21", AnsiStyle(foreground="#0000ff")),
        ("4:3", AnsiStyle(underline=True)),
        ("97;100", AnsiStyle(foreground=15, background=8)),
        ("1;3;7;9", AnsiStyle(bold=True, italic=True, reverse=True, strike=True)),
        ("31;39;1", AnsiStyle(bold=True)),
    ],
)
def test_a_colour_code_means_what_terminals_draw(code: str, style: AnsiStyle) -> None:
    assert ansi_spans(f"\x1b[{code}mx")[1] == (AnsiSpan(0, 1, style),)


@pytest.mark.parametrize(
    "code", ["38;5", "38", "38;2;999;0;0", "38;5;256", "999", "38;2;1;2", ":::"]
)
def test_malformed_colours_are_ignored(code: str) -> None:
    assert ansi_spans(f"\x1b[{code}mx") == ("x", ())


def test_what_follows_a_malformed_colour_still_counts() -> None:
    assert ansi_spans("\x1b[38;2;999;0;0;1mx")[1] == (AnsiSpan(0, 1, AnsiStyle(bold=True)),)


def test_of_a_progress_line_the_last_drawing_is_shown() -> None:
    assert ansi_spans(" 10%\r 50%\r100% done\r")[0] == "100% done"


def test_overstruck_text_is_read_as_bold_and_underlined() -> None:
    text, spans = ansi_spans("N\bNA\bA _\bu")
    assert text == "NA u"
    assert spans == (
        AnsiSpan(0, 2, AnsiStyle(bold=True)),
        AnsiSpan(3, 4, AnsiStyle(underline=True)),
    )


def test_a_link_keeps_its_text_only() -> None:
    assert ansi_spans("\x1b]8;;http://x\x1b\\here\x1b]8;;\x1b\\")[0] == "here"


def test_spans_fit_the_text_behind_tabs_and_marks() -> None:
    text, spans = ansi_spans("a\t\x1b[31mb\x1b[0m\x00\x1b[32mc")
    assert [text[span.start : span.end] for span in spans] == ["b", "c"]


# the hostile files


def hostile(cases: Path, name: str) -> str:
    (path,) = (cases / "hostile" / "term").glob(f"{name}*")
    return decode(path.read_bytes()).text.removesuffix("\n")


HOSTILE_SHOWN = {
    "x01": "before␛]52;c;Y3VybCB4IHwgc2g=␇after",
    "x02": "a␛[?1049h␛[2J␛[Hb␛[6nc",
    "x04": "start ␛]0;never closed and the rest of the text\nline two must still show",
    "x05": f"c1 csi {MARK}31mred{MARK}0m osc {MARK}0;t{MARK} end",
    "x08": r"[/] [/b] [red]x [link=http://e]y[/link] [[escaped]] \[ [@click='app.quit']q[/] arr[0]"
    " [ ] [x] [INFO]",
    "x11": f"abc {MARK}gnihton{MARK} {MARK}rtl{MARK} אבג الع 123",
    "x13": "a       b               c\n日      col\n        lead",
    "x14": r"␛(0lqqk␛(B plain ␛P1$r0m␛\ dcs ␛_apc␛\ ␛^pm␛\ ␛7␛8␛c end",
    "x16": f"na{MARK}ve caf{MARK}",
    "x17": "hello\nworld",
    "x19": " ".join([MARK] * 6) + " inner bom",
    "x22": f"␛[31mred first\n{MARK}combining first\n{MARK}selector first\n{MARK}joiner first\n"
    f"{MARK}zero width space first",
}


@pytest.mark.parametrize("name", sorted(HOSTILE_SHOWN))
def test_hostile_text_is_drawn(cases: Path, name: str) -> None:
    assert clean(hostile(cases, name)) == HOSTILE_SHOWN[name]


def test_hostile_overstrike_is_readable(cases: Path) -> None:
    assert ansi_plain(hostile(cases, "x07")) == "NAME u"


def test_hostile_colours_are_right_and_malformed_ones_ignored(cases: Path) -> None:
    text, spans = ansi_spans(hostile(cases, "x20"))
    assert text == "fgbgall  bad bad2 curly"
    everything = AnsiStyle("#ff0000", "#000080", True, False, True, True, True, True)
    assert spans == (
        AnsiSpan(0, 2, AnsiStyle(foreground="#ff0000")),
        AnsiSpan(2, 4, AnsiStyle("#ff0000", "#000080")),
        AnsiSpan(4, 7, everything),
        AnsiSpan(18, 23, AnsiStyle(underline=True)),
    )


def test_wide_characters_at_the_edge_are_untouched(cases: Path) -> None:
    text = hostile(cases, "x10")
    assert clean(text) == text


def test_no_hostile_file_leaves_anything_unsafe(cases: Path) -> None:
    for path in sorted((cases / "hostile").rglob("*")):
        if path.is_file():
            text = decode(path.read_bytes()).text
            assert unsafe_in(clean(text)) == set(), path.name
            assert unsafe_in(ansi_plain(text)) == set(), path.name
