"""The exact test of an F-score gap against drawing swaps, and what it takes at N = 100,000."""

import numpy as np
import pytest

import sigtext
from sigtext.exact_ratio import entity_counts, fourier_tail, ratio_pvalue, ratio_region
from sigtext.metrics import f_score


def table(n):
    return entity_counts(np.random.default_rng(3), n).astype(float)


def exact(rows):
    return ratio_pvalue(rows, *f_score().quotient, empty=0.0)


def test_f_score_of_10_000_segments(race, benchmark):
    rows = table(10_000)

    def theirs():
        how = {"n_resamples": 20_000, "rng": 1}
        return sigtext.randomization_test(*rows, f_score(), **how)

    p, (low, high) = exact(rows)
    assert high - low < 1e-9
    assert theirs().pvalue == pytest.approx(p, abs=0.02)
    name = "exact F1, n = 10,000: 20,000 of our own draws"
    race(name, lambda: exact(rows), theirs, 1)
    assert benchmark.stats.stats.min < 0.3


def test_f_score_of_100_000_segments(race, peak):
    """The peer is our own test of a tenth of the segments; ten times its time is allowed."""
    rows, tenth = table(100_000), table(10_000)
    assert peak(lambda: exact(rows)) < 1_000
    name = "exact F1, n = 100,000: n = 10,000"
    race(name, lambda: exact(rows), lambda: exact(tenth), 1 / 10)


def test_f_half_of_60_segments(race):
    """Counted point by point, against our own Fourier sum."""
    rows, how = table(60), f_score(0.5).quotient
    moves, region, _ = ratio_region(rows, *how, empty=0.0)
    moves = moves[moves.any(axis=1)]

    def ours():
        return ratio_pvalue(rows, *how, empty=0.0)

    assert ours()[0] == pytest.approx(fourier_tail(moves, region).p, rel=1e-10)
    name = "exact F0.5, n = 60: our own Fourier sum"
    race(name, ours, lambda: fourier_tail(moves, region), 10)
