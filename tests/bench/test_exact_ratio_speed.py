"""The exact test of an F-score gap against drawing swaps, and what it takes at N = 100,000."""

import numpy as np
import pytest

import sigtext
from sigtext.exact_ratio import entity_counts, ratio_pvalue
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
