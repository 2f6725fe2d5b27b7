"""Exact tests of sums of whole numbers: against the published algorithms and against draws.

The data are the simulated taggers of the published experiment. "By halves, as published"
has every law of a level as wide as G allows; "narrowed" is the same with our trimming,
the fastest form that we could write.
"""

import numpy as np
import pytest

from sigtext import exact
from sigtext.randomization import randomization_test

SENTENCES = 10_000


def taggers(n):
    return exact.simulated_taggers(np.random.default_rng(8), n)


def steps(n):
    a, b = taggers(n)
    return (a - b)[:, 0].astype(np.int64)


@pytest.mark.parametrize(
    "name, trim, at_least",
    [("as published", False, 100), ("narrowed", True, 10)],
    ids=["published", "narrowed"],
)
def test_sum_against_halves(race, name, trim, at_least):
    x = steps(SENTENCES)
    title = f"exact sum, N = {SENTENCES:,}: by halves, {name}"
    ours, peer = lambda: exact.sum_pvalue(x), lambda: exact.pmf_by_fft(x, trim=trim)
    race(title, ours, peer, at_least, calls=40)


def test_sum_against_program(race):
    x = steps(SENTENCES)
    title = f"exact sum, N = {SENTENCES:,}: dynamic program"
    race(title, lambda: exact.sum_pvalue(x), lambda: exact.pmf_by_dp(x), 100, calls=40)


def test_sum_against_draws(race):
    (a, b), x = taggers(SENTENCES), steps(SENTENCES)
    title = f"exact sum, N = {SENTENCES:,}: 20,000 of our own swap draws"

    def drawn():
        return randomization_test(a, b, "ratio", n_resamples=20_000, rng=1)

    race(title, lambda: exact.sum_pvalue(x), drawn, 200, calls=40)


def test_a_million_sentences(race):
    """Under 100 times the time at N = 10,000: a ratio over 1/100."""
    few, many = steps(SENTENCES), steps(10**6)
    title = "exact sum, N = 1,000,000: N = 10,000"
    ours, peer = lambda: exact.sum_pvalue(many), lambda: exact.sum_pvalue(few)
    race(title, ours, peer, 1 / 100)


def test_memory_of_the_law(peak):
    """O(GN): a few numbers of eight bytes for each value of the sum."""
    x = steps(SENTENCES)
    values = int(np.abs(x).sum()) + 1
    assert peak(lambda: exact.pmf_by_dp(x)) * 1e6 <= 8 * 8 * values
    assert exact.pmf_by_dp(x)[1].size == values
