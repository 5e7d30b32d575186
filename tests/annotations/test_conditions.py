"""A team's own wordings of broken machinery."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.analysis.infrastructure import CONDITIONS, condition_in
from arcview.annotations.conditions import NAME, team_conditions
from arcview.errors import BadInputError


def test_without_a_file_the_shipped_conditions_hold(tmp_path: Path) -> None:
    assert team_conditions(tmp_path) == CONDITIONS


def test_a_teams_own_condition_comes_first(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(
        "[[condition]]\ntitle = 'our proxy'\npattern = 'proxy-7 refused|no space left'\n"
    )
    conditions = team_conditions(tmp_path)
    for text in ("PROXY-7 refused", "No space left on device"):
        found = condition_in(text, conditions)
        assert found is not None
        assert found[0].title == "our proxy"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("= 3", "not TOML"),
        ("condition = 3", "condition: expected tables"),
        ("[[condition]]\ntitle = 'x'", r"condition\[0\]: expected a title and a pattern"),
        ("[[condition]]\ntitle = 'x'\npattern = '('", "not a regular expression"),
    ],
)
def test_an_unsound_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / NAME).write_text(text)
    with pytest.raises(BadInputError, match=message) as caught:
        team_conditions(tmp_path)
    assert "\n" not in str(caught.value)
