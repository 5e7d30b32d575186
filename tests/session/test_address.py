from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcview.errors import BadInputError
from arcview.session.address import Address, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("gate:3", Address("gate", "3")),
        ("gate:3/f2p/t.py%3A%3Atest%5Ba%2Fb%5D", Address("gate", "3", ("f2p", "t.py::test[a/b]"))),
        ("gate:chain/p2p/x", Address("gate", "chain", ("p2p", "x"))),
        ("gate:3/log/log.txt#L9", Address("gate", "3", ("log", "log.txt"), 9)),
        ("step:3/call_1", Address("step", "3", ("call_1",))),
        ("step:S2.refactor/call_1", Address("step", "S2.refactor", ("call_1",))),
        ("file:S3/src/a.py#L10-L22", Address("file", "S3", ("src", "a.py"), 10, 22)),
        ("diff:3/src/a.py#h2", Address("diff", "3", ("src", "a.py"), hunk=2)),
        ("spec:2", Address("spec", "2")),
        (
            "step:3/msg_1/call_1/result#c120-c340",
            Address("step", "3", ("msg_1", "call_1", "result"), span=(120, 340)),
        ),
        ("self:3/call_1", Address("self", "3", ("call_1",))),
        ("cell:1@S3", Address("cell", "1@S3")),
    ],
)
def test_the_grammar_reads_and_writes_the_same(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert str(address) == text


@pytest.mark.parametrize(
    "text", ["", "gate", "gate:", "nope:3", "file:S3/a.py#x", "file:S3/a.py#L0", "Gate:3", "3"]
)
def test_what_is_no_address_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(BadInputError, match="an address such as"):
        parse_address(text)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.integers(1, 9999))
def test_whatever_names_hold_they_come_back(parts: list[str], line: int) -> None:
    address = Address("file", "S1", tuple(parts), line)
    text = str(address)
    assert text.isascii()
    assert parse_address(text) == address


def test_names_of_bytes_that_are_no_text_come_back() -> None:
    address = Address("file", "S1", ("bad\udcff.py",))
    assert str(address) == "file:S1/bad%FF.py"
    assert parse_address(str(address)) == address


def test_half_a_character_is_written_down() -> None:
    assert str(Address("gate", "1", ("f2p", "t[\ud800]"))) == "gate:1/f2p/t%5B%ED%A0%80%5D"
