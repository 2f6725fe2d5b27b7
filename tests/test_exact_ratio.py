"""Exact tails of quotients, on data that nobody chose, and what is refused unseen."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigtext import exact_ratio
from sigtext.exact_ratio import (
    as_coins,
    counted_tail,
    expected_factors,
    grouped,
    ratio_pvalue,
    ratio_region,
    support_of,
)
from sigtext.resampling import MEMORY
from sigtext.result import InputError

row = st.tuples(*[st.integers(-4, 4)] * 2, *[st.integers(1, 5)] * 2)
quick = settings(max_examples=100, deadline=None)


def by_definition(rows, side):
    """Share of the swaps whose gap of quotients is as large, in fractions."""
    (a, b), hits, n = rows.astype(int).tolist(), 0, rows.shape[1]

    def gap(swap):
        one = [y if s else x for x, y, s in zip(a, b, swap, strict=True)]
        two = [x if s else y for x, y, s in zip(a, b, swap, strict=True)]
        over = [Fraction(*map(sum, zip(*r, strict=True))) for r in (one, two)]
        return {"two-sided": abs, "greater": lambda g: g, "less": lambda g: -g}[side](
            over[0] - over[1]
        )

    edge = gap([0] * n)
    for swap in product((0, 1), repeat=n):
        hits += gap(swap) >= edge
    return Fraction(hits, 2**n)


@quick
@given(st.lists(row, min_size=1, max_size=7), st.sampled_from(("two-sided", "less")))
def test_small_quotients_equal_their_definition(data, side):
    rows = np.array([[(x, v) for x, _, v, _ in data], [(y, w) for _, y, _, w in data]])
    truth = by_definition(rows, side)
    assert ratio_pvalue(rows, (1, 0), (0, 1), side)[0] == pytest.approx(float(truth))
    moves, region, gap = ratio_region(rows, (1, 0), (0, 1), side)
    moves = moves[moves.any(axis=1)]
    if len(moves) and (gap or side != "two-sided"):
        coins = as_coins(*grouped(moves))
        found = counted_tail(coins, region, support_of(coins))
        assert Fraction(found.p) == truth and found.low == found.p == found.high


def spread(step, n):
    rng = np.random.default_rng(step)
    return rng.integers(1, step, size=(2, n, 2)).astype(float)


@pytest.mark.parametrize("step, n", [(1_000, 60), (10_000, 300), (100_000, 3_000)])
def test_fine_lattices_are_refused_before_any_work(monkeypatch, step, n):
    def no_work(*args):
        raise AssertionError("work was begun")

    monkeypatch.setattr(exact_ratio, "survivors", no_work)
    monkeypatch.setattr(exact_ratio, "plane_law", no_work)
    with pytest.raises(InputError, match=r"a grid of .* would"):
        ratio_pvalue(spread(step, n), (1, 0), (0, 1), memory=8 * MEMORY)


@pytest.mark.parametrize("step, n", [(20, 100), (200, 300), (30, 1_000)])
def test_work_is_foreseen(monkeypatch, step, n):
    """The estimate from a few blocks a round is near what the rounds look at."""
    moves = ratio_region(spread(step, n), (1, 0), (0, 1))[0]
    coins, done = as_coins(*grouped(moves)), []
    sides = [int(x) + 1 for x in np.ptp(exact_ratio.window(coins)[0], axis=1)]
    sizes = exact_ratio.fft_size(sides[0]), sides[1]
    foreseen = expected_factors(coins, sizes)[0]
    inner = exact_ratio.may_matter

    def counted(*args):
        found = inner(*args)
        done.append(found[1])
        return found

    monkeypatch.setattr(exact_ratio, "may_matter", counted)
    j, _ = exact_ratio.survivors(coins, sizes, 8 * MEMORY)
    truth = sum(done) + 3 * len(j) * len(coins.n)
    assert truth / 3 < foreseen < 3 * truth
