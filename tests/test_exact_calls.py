"""What users call: exact_test, exact_null, shift_interval and mcnemar_test on odd data.

Truths are whole numbers or fractions of the floats that were given, by enumeration.
"""

import time
from fractions import Fraction
from itertools import product
from math import comb, lcm

import numpy as np
import pytest

from sigtext.exact import sum_pvalue
from sigtext.exact_kinds import cells_of, exact_null, exact_test
from sigtext.mcnemar import LEAST, mcnemar_test, paired_proportions_interval
from sigtext.metrics import precision
from sigtext.resampling import as_pair
from sigtext.result import InputError, InputTypeError
from sigtext.shifts import shift_interval

SIDES = ("two-sided", "greater", "less")


def truth(a, b, side="two-sided", index=None):
    """Share of all swaps that count, with the floats as the fractions that they are."""
    gaps = {}
    for i, (v, w) in enumerate(zip(a, b, strict=True)):
        key = i if index is None else index[i]
        gaps[key] = gaps.get(key, 0) + Fraction(float(v)) - Fraction(float(w))
    unit = lcm(*(v.denominator for v in gaps.values()))
    gaps = [int(v * unit) for v in gaps.values()]
    sums, t = np.array([0], dtype=object), sum(gaps)
    for g in gaps:
        sums = np.concatenate([sums + g, sums - g])
    kept = {"two-sided": abs(sums) >= abs(t), "greater": sums >= t, "less": sums <= t}
    return Fraction(int(kept[side].sum()), len(sums))


def holds(found, p):
    """Whether the bounds hold a fraction, up to the last digit of either."""
    low, high = map(Fraction, found.pvalue_interval)
    return low * (1 - Fraction(1, 10**14)) <= p <= high * (1 + Fraction(1, 10**14))


def width(found):
    low, high = found.pvalue_interval
    return (high - low) / high


# --- wide ranges: the bounds hold the truth


WIDE = {
    "normal": lambda rng, n: rng.normal(size=n),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "cauchy^5": lambda rng, n: rng.standard_cauchy(n) ** 5,
    "all scales": lambda rng, n: (
        np.exp(8 * rng.normal(size=n)) * rng.choice([-1, 1], n)
    ),
    "tiny": lambda rng, n: 1e-300 * rng.normal(size=n),
}


@pytest.mark.parametrize("law", WIDE)
def test_wide_ranges_hold_the_truth(law):
    rng = np.random.default_rng(1)
    for n in (2, 3, 5, 8, 11, 13):
        for b in (np.zeros(n), WIDE[law](rng, n)):
            a = WIDE[law](rng, n)
            for side in SIDES:
                found = exact_test(a, b, "mean", alternative=side)
                assert holds(found, truth(a, b, side)), (n, side)


@pytest.mark.parametrize("power", range(6, 17))
def test_one_enormous_score_lends_nothing_to_the_others(power):
    rng = np.random.default_rng(power)
    for n, sign in ((4, 1), (9, 1), (12, -1)):
        a = rng.normal(size=n)
        a[0] = sign * 10.0**power * rng.uniform(1, 9)
        for side in SIDES:
            found = exact_test(a, np.zeros(n), "mean", alternative=side)
            assert holds(found, truth(a, np.zeros(n), side)), (n, side)
            assert width(found) < 1e-3 or found.notes


def test_sixteen_normals_with_one_enormous_value():
    rng = np.random.default_rng(0)
    for law in (
        lambda: np.append(1e9, rng.normal(size=15)),
        lambda: rng.normal(size=16),
    ):
        a = law()
        assert holds(exact_test(a, 0 * a, "mean"), truth(a, 0 * a))


def test_reported_cases():
    x = np.array([1e14, 0.3, -0.2, 0.5, 0.11, 0.37, 0.41, -0.13, 0.29, 0.53])
    found = exact_test(x, 0 * x, "mean")
    assert found.pvalue == 0.017578125
    assert found.pvalue_interval == (0.017578125, 0.017578125)
    large = np.array([2**62, 2**62, 3]), np.array([1, -(2**62), 2])
    assert exact_test(*large, "mean").pvalue == 0.25
    small = np.random.default_rng(0).integers(-3, 5, 100)
    x = np.append(1e14, small)
    found, rest = exact_test(x, 0 * x, "mean"), sum_pvalue(small, "greater")[0]
    assert np.isclose(found.pvalue, rest, rtol=1e-12) and width(found) < 1e-10


def test_documents_of_wide_range_hold_the_truth():
    rng = np.random.default_rng(2)
    for _ in range(12):
        a, b = rng.standard_cauchy((2, 14)) ** 3
        index = rng.integers(0, 6, 14)
        for side in SIDES:
            how = {"clusters": index, "alternative": side}
            assert holds(exact_test(a, b, "mean", **how), truth(a, b, side, index))


def test_scores_that_rounding_kept_apart_are_ties_above_and_not_below():
    a = np.sqrt(2) + np.array([0, 3, 1, 2, 5, 1]) / 10
    b = np.sqrt(2) + np.array([1, 1, 2, 0, 2, 1]) / 10
    found = exact_test(a, b, "mean")
    p = truth([0, 3, 1, 2, 5, 1], [1, 1, 2, 0, 2, 1])
    assert found.pvalue == p and holds(found, truth(a, b))
    if width(found) > 1e-3:
        assert "rounding may have kept apart" in found.notes[0]


# --- whole numbers and decimals: exact wherever it costs little


def test_one_large_value_among_small_ones_is_exact():
    x = np.random.default_rng(3).integers(-3, 5, 300).astype(float)
    for big in (1e4, 6e4, 1e6, 1e11, 1e14):
        x[0] = big
        found = exact_test(x, 0 * x, "mean")
        assert found.method == "exact (sum)" and width(found) < 1e-10
        rest = sum_pvalue(x[1:], "greater")[0]
        assert np.isclose(found.pvalue, rest, rtol=1e-10)
        less = exact_test(x, 0 * x, "mean", alternative="less").pvalue
        assert np.isclose(less, 1 - rest / 2 + below(x), rtol=1e-10)


def below(x):
    """P(S = t), by the two tails that share it."""
    rest = x[1:]
    return (sum_pvalue(rest, "greater")[0] + sum_pvalue(rest, "less")[0] - 1) / 2


def test_many_decimals_are_exact_where_many_units_share_a_size():
    rng = np.random.default_rng(4)
    a, b = np.round(rng.random((2, 50_000)), 3)
    start = time.perf_counter()
    found = exact_test(a, b, "mean")
    assert found.method == "exact (sum)" and width(found) < 1e-10 and not found.notes
    assert time.perf_counter() - start < 2


def test_sums_that_would_take_long_are_bracketed_and_say_so():
    rng = np.random.default_rng(5)
    a, b = np.round(rng.normal(size=(2, 400)), 6)
    found = exact_test(a, b, "mean")
    assert found.method == "exact (sum, bounded)"
    assert 1e-10 < width(found) <= 1e-3


def test_cost_is_estimated_before_it_is_paid():
    sizes = np.arange(1, 1_001) * 97
    assert cells_of(sizes, np.ones(1_000, int), int(sizes.sum()) // 2) > 1e7
    assert cells_of(np.arange(1, 10), np.full(9, 100), 2_000) < 1e4


# --- ties and notes


def three_sizes(n):
    rng = np.random.default_rng(n)
    return rng.choice([np.pi, np.e, 1.1], n) * rng.choice([-1, 1, 1], n)


@pytest.mark.parametrize("n", [41, 60, 80])
def test_known_ties_keep_a_bracket_narrow(n):
    x = three_sizes(n)
    found = exact_test(x, 0 * x, "mean")
    sizes = (np.pi, np.e, 1.1)
    values = [int(Fraction(v) * 2**60) for v in sizes]
    counts = [int((np.abs(x) == v).sum()) for v in sizes]
    edge, total = abs(sum(map(Fraction, x.tolist()))) * 2**60, 0
    for plus in product(*(range(c + 1) for c in counts)):
        signed = [v * (2 * k - c) for v, k, c in zip(values, plus, counts, strict=True)]
        if sum(signed) >= edge:
            total += np.prod(
                [comb(c, k) for c, k in zip(counts, plus, strict=True)], dtype=object
            )
    assert holds(found, Fraction(2 * int(total), 2**n)) and width(found) <= 1e-3


def test_every_bracket_wider_than_a_thousandth_has_a_note():
    rng, seen = np.random.default_rng(6), 0
    for n in (12, 45):
        for _ in range(3):
            x = rng.choice([0.1, 0.2, 0.3], n) * np.sqrt(2) * rng.choice([-1, 1, 1], n)
            found = exact_test(x, 0 * x, "mean")
            wide = width(found) > 1e-3
            assert bool(found.notes) == wide
            seen += wide
            for note in found.notes:
                assert "p is an upper bound" in note and "round the scores" in note
    assert seen


# --- the distribution itself


def null_cases():
    rng = np.random.default_rng(7)
    yield [1, 0, 0], [1, 1, 1], "accuracy"
    yield [1, 1, 0], [0, 0, 1], "accuracy"
    yield *rng.integers(0, 9, size=(2, 300)) / 10, "mean"
    yield *rng.integers(0, 9, size=(2, 40)) / 3, "mean"
    yield *rng.normal(size=(2, 10)), "mean"
    yield *rng.integers(0, 4, size=(2, 9, 3)), "f1"
    yield *rng.integers(1, 4, size=(2, 9, 2)), "wer"
    for n in range(2, 40, 5):
        a, b = np.zeros((2, n))
        a[: n // 2 + 1] = b[n // 2 :] = 1
        yield a, b, "accuracy"


@pytest.mark.parametrize("case", range(15))
def test_the_observed_gap_is_in_the_support_and_its_tail_is_p(case):
    *systems, metric = list(null_cases())[case]
    null = exact_null(*systems, metric)
    assert (null.effects == null.effect).any() and (np.diff(null.effects) > 0).all()
    assert (null.effects == -null.effects[::-1]).all()
    tail = null.probabilities[np.abs(null.effects) >= abs(null.effect)].sum()
    p = exact_test(*systems, metric).pvalue
    assert np.isclose(tail + null.undefined, p, rtol=1e-9, atol=1e-12)
    for side in SIDES:
        asked = exact_test(*systems, metric, alternative=side).pvalue
        assert null.pvalue(side) == asked


def test_a_gap_beyond_the_circle_has_its_entry():
    null = exact_null(np.ones(200), np.zeros(200), "accuracy")
    assert null.effect == null.effects[-1] == 1
    assert null.pvalue() == 2.0**-199
    assert null.probabilities[[0, -1]].sum() == 2.0**-199


def test_units_that_trade_errors_move_nothing():
    for n in (3, 30):
        null = exact_null([[2, 1, 0]] * n, [[2, 0, 1]] * n, "f1")
        assert null.effects.tolist() == [0] and null.pvalue() == 1
        found = exact_test([[2, 1, 0]] * n, [[2, 0, 1]] * n, "f1")
        assert (found.pvalue, found.smallest_pvalue) == (1, 1)


def test_a_support_beyond_the_memory_names_the_way_out():
    a, b = np.random.default_rng(8).normal(size=(2, 60)).round(7)
    with pytest.raises(InputError, match="memory"):
        exact_null(a, b, "mean")
    assert exact_test(a, b, "mean").pvalue <= 1


# --- one convention


def test_floors_are_those_of_the_units_that_move():
    one = exact_test([[2, 1, 1], [2, 0, 2]], [[2, 0, 2], [2, 1, 1]], "f1")
    assert (one.smallest_pvalue, one.pvalue) == (1, 1)
    few, many = ([[2, 1, 1]] * n + [[1, 1, 1]] * 3 for n in (5, 25))
    other, others = ([[2, 0, 2]] * n + [[2, 1, 1]] * 3 for n in (5, 25))
    assert exact_test(few, other, "f1").smallest_pvalue == 0.25
    assert exact_test(many, others, "f1").smallest_pvalue == 0.25


def test_an_enumeration_draws_nothing_and_speaks_of_arrangements():
    found = exact_test([[0, 0], [1, 1]], [[1, 1], [0, 0]], precision(np.nan))
    assert (found.n_resamples, found.seed) == (0, None)
    assert found.notes == (
        "2 of 4 arrangements have no value and count as exceedances",
    )


def test_one_floor_for_what_no_float_holds():
    found = exact_test(np.ones(1_200), np.zeros(1_200), "accuracy")
    same = mcnemar_test(1_200, 0, n_segments=1_200)
    assert found.pvalue == same.pvalue == LEAST and found.notes == same.notes
    assert found.pvalue_interval == same.pvalue_interval == (0, LEAST)
    steps = exact_test(np.full(1_200, 3), np.zeros(1_200), "mean")
    assert steps.pvalue == LEAST and steps.notes == same.notes


# --- shifts


def agree(x, **how):
    found = shift_interval(x, 0 * x, **how)
    p = exact_test(x, 0 * x, "mean", **how).pvalue
    return (p <= 0.05) == (not found.low <= 0 <= found.high)


def test_shifts_answer_wherever_the_test_does():
    rng = np.random.default_rng(9)
    assert agree(np.round(rng.normal(0.3, 1, 50), 6))
    assert agree(np.append(np.rint(3 * rng.normal(0.5, 1, 40)), 1e9))
    for _ in range(10):
        x = rng.normal(0.6, 1, 12)
        x[0] = 10.0 ** rng.integers(9, 14)
        assert agree(x)
    assert agree(rng.normal(0.3, 1, 60), clusters=np.arange(60) // 2)


@pytest.mark.parametrize(
    "x",
    [
        np.append(np.random.default_rng(10).normal(0.5, 1, 60), 1e9),
        np.round(np.random.default_rng(11).normal(0.05, 1, 1_000), 5),
    ],
    ids=["one enormous", "five decimals"],
)
def test_shifts_take_no_ten_seconds(x):
    start = time.process_time()
    shift_interval(x, 0 * x)
    assert time.process_time() - start < 6


def test_too_few_units_are_told_how_many_it_takes():
    found = shift_interval([1.0, 2, 3], [0.5, 1, 1])
    assert found.low == -np.inf and "6 units are needed at 0.95" in found.report()


def test_right_and_wrong_in_documents_is_not_sent_where_documents_are_ignored():
    for metric in ("accuracy", "mean"):
        with pytest.raises(InputError) as caught:
            shift_interval([1, 0, 1], [0, 0, 1], metric, clusters=[1, 1, 2])
        assert "paired_proportions" not in str(caught.value)
        assert "bootstrap_interval" in str(caught.value)


# --- McNemar's call


def test_counts_alone_speak_of_discordant_segments():
    said = mcnemar_test(82, 33).report()
    assert "+49 segments" in said and "115 discordant segments" in said
    assert "discordant" not in mcnemar_test(82, 33, n_segments=1_500).report()


def test_counts_of_every_kind_of_whole_number():
    assert mcnemar_test(np.array(6), np.int64(1)) == mcnemar_test(6, 1)
    with pytest.raises(InputTypeError, match="n_segments needs to be a whole number"):
        mcnemar_test(6, 1, n_segments="10")
    with pytest.raises(InputTypeError, match="two whole numbers"):
        mcnemar_test(6.5, 1)
    assert paired_proportions_interval(np.array(6), np.array(1), n_segments=9).high < 1


# --- what a call costs besides its tail


def test_a_call_costs_little_more_than_its_tail():
    rng = np.random.default_rng(12)
    words = rng.integers(1, 30, 10_000)
    a, b = (np.stack([rng.binomial(words, x), words], 1) for x in (0.95, 0.94))
    x = (a - b)[:, 0]
    as_pair(a, b, "ratio")

    def best(work):
        times = []
        for _ in range(40):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        return min(times)

    alone, call = best(lambda: sum_pvalue(x)), best(lambda: exact_test(a, b, "ratio"))
    assert call < 12 * alone
