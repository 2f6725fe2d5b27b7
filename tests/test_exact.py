"""Exact tails of sums of whole numbers, on data that nobody chose."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigtext import exact
from sigtext.result import InputError

small = st.lists(st.integers(-6, 6), min_size=1, max_size=40)
wide = st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=14)
quick = settings(max_examples=150, deadline=None)


def tail(x, t):
    steps = exact.lattice_steps(x)
    return exact.sum_tail(steps.sizes, steps.counts, -(-t // steps.unit))


def assert_right(found, truth):
    if truth == 0:
        assert found.p == 0
    else:
        assert abs(float(Fraction(found.p) / truth - 1)) <= found.error < 1e-10


@quick
@given(small, st.floats(-1.1, 1.1))
def test_tail_equals_integers(x, share):
    t = round(share * sum(map(abs, x)))
    if any(x):
        assert_right(tail(x, t), exact.tail_by_integers(x, t))


@quick
@given(wide, st.floats(-1.1, 1.1))
def test_tail_of_wide_steps_equals_enumeration(x, share):
    t = round(share * sum(map(abs, x)))
    if any(x):
        assert_right(tail(x, t), exact.tail_of_few(np.array(x), t))


@quick
@given(small, st.integers(1, 3))
def test_circle_alone_equals_integers(x, times):
    """The same without the shortcuts for few steps."""
    steps = exact.lattice_steps(x * times)
    total = int(steps.sizes @ steps.counts)
    for low in {total // 2, total // 3, total // 5}:
        if len(steps.sizes) and low >= steps.sizes[0]:
            found = exact.circle_tail(steps.sizes, steps.counts, low)
            data = np.repeat(steps.sizes, steps.counts)
            assert_right(found, exact.tail_by_integers(data, total - 2 * low))


@quick
@given(small)
def test_both_sides_add_up(x):
    upper, lower = (exact.sum_pvalue(x, side)[0] for side in ("greater", "less"))
    at = exact.tail_by_integers(x, sum(x)) - exact.tail_by_integers(x, sum(x) + 1)
    if any(x):
        assert upper + lower == pytest.approx(1 + float(at), abs=1e-12)
    two = exact.sum_pvalue(x)[0]
    assert two == pytest.approx(min(1, 2 * min(upper, lower)), abs=1e-12)


@quick
@given(st.lists(st.integers(-999, 999), min_size=1, max_size=30), st.integers(1, 31))
def test_fractions_are_found(numerators, q):
    found = exact.as_whole(np.array(numerators) / q)
    assert found is not None
    whole, step = found
    assert [Fraction(int(k), step) for k in whole] == [
        Fraction(k, q) for k in numerators
    ]


@pytest.mark.parametrize("digits", [0, 3, 6])
def test_real_numbers_are_not_fractions(digits):
    rng = np.random.default_rng(digits)
    assert all(exact.as_whole(rng.random(3) * 10.0**digits) is None for _ in range(50))


def test_same_steps_as_binomial():
    binom = pytest.importorskip("scipy.stats").binom
    for n, t in [(10_000, 700), (10**6, 4_000), (10**6, 20_000)]:
        found = exact.sum_tail([1], [n], t)
        truth = binom.cdf((n - t) // 2, n, 0.5)
        assert found.p == pytest.approx(truth, rel=1e-10)


def test_a_wide_support_is_refused():
    x = np.random.default_rng(1).integers(-(10**12), 10**12, size=400)
    with pytest.raises(InputError, match="memory budget"):
        exact.sum_pvalue(x)
    steps = exact.lattice_steps(x)
    with pytest.raises(InputError, match="memory budget"):
        exact.sum_pmf(steps.sizes, steps.counts)


def test_sizes_and_times():
    """One step, huge counts, a hundred thousand sizes."""
    assert exact.sum_tail([7], [1], 7).p == 0.5
    many = exact.sum_tail([1, 2], [10**9, 10**9], 10**6)
    assert math.isclose(many.log_p, -101.96, abs_tol=5) and many.error < 1e-10
    sizes = np.arange(1, 2_001)
    found = exact.sum_tail(sizes, np.ones_like(sizes), int(sizes.sum()) // 20)
    assert 0 < found.p < 0.5 and found.error < 1e-11
