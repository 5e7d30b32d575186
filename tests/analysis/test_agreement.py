from __future__ import annotations

import pytest

from arcview.analysis.agreement import (
    NO_PAIRS,
    NO_VARIATION,
    Label,
    Pairs,
    Ratings,
    StepRange,
    cohen_kappa,
    jaccard,
    krippendorff_alpha,
    masi,
    raw_agreement,
    step_agreement,
)

# Krippendorff's data "C": four observers, twelve units, blanks for missing (Content Analysis,
# 4th ed.; also the example of R's irr::kripp.alpha).
DATA_C = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def units(*rows: str) -> list[Ratings]:
    """Units from one row of labels a rater; a dot is a missing one."""
    columns = zip(*(row.split() for row in rows), strict=True)
    return [
        {f"r{rater}": label for rater, label in enumerate(column) if label != "."}
        for column in columns
    ]


def table(pairs: dict[tuple[str, str], int]) -> list[Ratings]:
    """Units from a table of counts: labels of raters a and b → how often."""
    return [{"a": a, "b": b} for (a, b), count in pairs.items() for _ in range(count)]


def sets(*labels: tuple[str, str]) -> list[Ratings]:
    return [{"a": frozenset(a), "b": frozenset(b)} for a, b in labels]


def test_alpha_equals_the_published_values_of_data_c() -> None:
    nominal = krippendorff_alpha(units(*DATA_C))
    ordinal = krippendorff_alpha(units(*DATA_C), "ordinal", ["1", "2", "3", "4", "5"])
    assert nominal.value == pytest.approx(0.743, abs=5e-4)
    assert ordinal.value == pytest.approx(0.815, abs=5e-4)
    assert nominal.units == 11  # the last unit has one rating and forms no pair


def test_nominal_alpha_of_two_raters_is_what_the_formula_gives_by_hand() -> None:
    # a: 0 0 0 1 1, b: 0 0 1 1 1. n = 10, n_0 = n_1 = 5, o_01 + o_10 = 2.
    # α = 1 - 9 · 2 / (2 · 5 · 5)
    assert krippendorff_alpha(units("0 0 0 1 1", "0 0 1 1 1")).value == pytest.approx(0.64)


def test_ordinal_alpha_is_what_the_formula_gives_by_hand() -> None:
    # a: 1 2 3, b: 1 2 2. n_1 = 2, n_2 = 3, n_3 = 1.
    # δ²(1,2) = 2.5² = 6.25, δ²(2,3) = 2² = 4, δ²(1,3) = (2 + 3 + 1 - 1.5)² = 20.25.
    # D_o: o_23 + o_32 = 2 → 8. D_e: 2 (2·3·6.25 + 3·1·4 + 2·1·20.25) = 180. α = 1 - 5·8/180
    found = krippendorff_alpha(units("1 2 3", "1 2 2"), "ordinal", ["1", "2", "3"])
    assert found.value == pytest.approx(1 - 40 / 180)


def test_systematic_disagreement_is_below_chance() -> None:
    assert (krippendorff_alpha(units("0 1 0 1", "1 0 1 0")).value or 0) < 0


def test_alpha_takes_as_many_raters_as_a_unit_has() -> None:
    # Units (x, x, y) and (x, x): coincidences x-x 1+2, x-y 1, y-x 1; n = 5, n_x = 4, n_y = 1.
    # α = 1 - 4 · 2 / (2 · 4 · 1)
    assert krippendorff_alpha(units("x x", "x x", "y .")).value == pytest.approx(0)


def test_kappa_equals_a_hand_computed_table() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: p_o = 0.7, p_e = 0.5·0.6 + 0.5·0.4 = 0.5.
    counts = {("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}
    found = cohen_kappa(table(counts), "a", "b")
    assert found.value == pytest.approx(0.4)
    assert found.interval is not None
    # The asymptotic standard error of this table is 0.127; the jackknife is close to it.
    assert found.interval.low == pytest.approx(0.4 - 2 * 0.127, abs=0.02)
    assert found.interval.high == pytest.approx(0.4 + 2 * 0.127, abs=0.02)


def test_kappa_of_three_categories_equals_a_hand_computed_table() -> None:
    # p_o = 25 / 30; margins a 10 10 10, b 9 12 9: p_e = (90 + 120 + 90) / 900 = 1 / 3.
    counts = {
        ("1", "1"): 8, ("1", "2"): 2, ("2", "2"): 9, ("2", "3"): 1,
        ("3", "3"): 8, ("3", "1"): 1, ("3", "2"): 1,
    }  # fmt: skip
    found = cohen_kappa(table(counts), "a", "b")
    assert found.value == pytest.approx((25 / 30 - 1 / 3) / (2 / 3))


def test_kappa_looks_at_units_that_both_rated() -> None:
    ratings: list[Ratings] = [{"a": "x", "b": "x"}, {"a": "y", "b": "y"}, {"a": "x"}, {"c": "y"}]
    assert cohen_kappa(ratings, "a", "b").units == 2


@pytest.mark.parametrize("measure", [krippendorff_alpha, lambda u: cohen_kappa(u, "r0", "r1")])
def test_one_category_alone_is_undefined_and_never_1(measure: object) -> None:
    assert callable(measure)
    found = measure(units("x x x x x x", "x x x x x x"))
    assert (found.value, found.undefined) == (None, NO_VARIATION)


def test_without_a_pair_nothing_is_measured() -> None:
    lonely: list[Ratings] = [{"a": "x"}, {"a": "y"}]
    assert krippendorff_alpha(lonely).undefined == NO_PAIRS
    assert cohen_kappa(lonely, "a", "b").undefined == NO_PAIRS
    assert raw_agreement(lonely) == Pairs(0, 0)


def test_an_interval_that_hangs_on_one_unit_is_not_given() -> None:
    # Without the only unit that varies the coefficient is undefined.
    found = krippendorff_alpha(units("x x x x y", "x x x x y"))
    assert found.value == 1
    assert found.interval is None


def test_intervals_stay_within_the_range_of_the_coefficient() -> None:
    interval = krippendorff_alpha(units(*DATA_C)).interval
    assert interval is not None
    assert (0.3 < interval.low < 0.6, interval.high) == (True, 1.0)


def test_a_label_off_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="N9"):
        krippendorff_alpha(units("N1 N2", "N1 N9"), "ordinal", ["N1", "N2"])


def test_an_explicit_none_is_a_label() -> None:
    ratings: list[Ratings] = [{"a": None, "b": None}, {"a": None, "b": 2}, {"a": 2, "b": 2}]
    assert raw_agreement(ratings) == Pairs(2, 3)
    assert krippendorff_alpha(ratings).value is not None


def test_raw_agreement_counts_every_pair_of_raters() -> None:
    assert raw_agreement(units("x", "x", "y")) == Pairs(1, 3)


def test_jaccard_is_the_mean_share_of_common_labels() -> None:
    found = jaccard(sets(("m1 ", "m1 "), ("ab", "abcd"), ("a", "b")))
    assert found.value == pytest.approx((1 + 0.5 + 0) / 3)


def test_masi_also_weighs_how_the_sets_lie_to_each_other() -> None:
    # 1; 2/4 of a subset: 1/3; 1/3 of an overlap: 1/9; 0.
    found = masi(sets(("m1", "m1"), ("ab", "abcd"), ("ab", "bc"), ("a", "b")))
    assert found.value == pytest.approx((1 + 1 / 3 + 1 / 9 + 0) / 4)


def test_alpha_of_sets_is_what_the_formula_gives_by_hand() -> None:
    # Distances: {a} {a,b} 2/3, {a} {b} 1, {a,b} {b} 2/3. Units a-ab, a-a, b-b: n = 6, of which
    # a 3, ab 1, b 2. Observed 2 · 2/3; expected 2 · (3·1·2/3 + 3·2·1 + 1·2·2/3) = 56/3.
    found = krippendorff_alpha(sets(("a", "ab"), ("a", "a"), ("b", "b")), "masi")
    assert found.value == pytest.approx(1 - 5 * (4 / 3) / (56 / 3))


def test_a_none_and_a_set_have_nothing_in_common() -> None:
    assert masi(sets(("", "a"))).value == 0
    assert masi(sets(("", ""))).value == 1


def test_two_empty_sets_agree() -> None:
    assert jaccard(sets(("", ""))).value == 1


def test_jaccard_of_no_pair_is_undefined() -> None:
    assert jaccard([{"a": frozenset("x")}]).undefined == NO_PAIRS


@pytest.mark.parametrize(
    ("a", "b", "within", "agree"),
    [
        (StepRange(2, 14, 14), StepRange(2, 17, 17), 0, 0),
        (StepRange(2, 14, 14), StepRange(2, 17, 17), 2, 0),
        (StepRange(2, 14, 14), StepRange(2, 17, 17), 3, 1),
        (StepRange(2, 10, 20), StepRange(2, 15, 15), 0, 1),
        (StepRange(2, 10, 12), StepRange(2, 15, 18), 3, 1),
        (StepRange(2, 14, 14), StepRange(3, 14, 14), 99, 0),
    ],
)
def test_steps_agree_within_a_distance(a: StepRange, b: StepRange, within: int, agree: int) -> None:
    for first, second in ((a, b), (b, a)):
        ratings: dict[str, Label] = {"x": first, "y": second}
        assert step_agreement([ratings], within) == Pairs(agree, 1)


def test_a_pair_without_a_step_has_no_distance() -> None:
    assert step_agreement([{"x": None, "y": StepRange(1, 4, 4)}], 3) == Pairs(0, 0)
