"""Speed of the paired bootstrap against sacreBLEU and SciPy, and the memory it takes."""

import numpy as np
import pytest
from test_speed import peer, sacrebleu

import sigtext
from sigtext.intervals import METHODS, bootstrap_interval


@pytest.mark.parametrize("draws, at_least", [(1_000, 12), (10_000, 15)])
def test_paired_bootstrap_of_bleu(race, bleu_statistics, draws, at_least):
    """Both resample segments and score both systems; they count the outcomes by other rules."""
    a, b = bleu_statistics[:2]

    def ours():
        return sigtext.bootstrap_test(a, b, "bleu", n_resamples=draws, rng=1)

    theirs = peer(sacrebleu._paired_bs_test, a, b, draws)
    name = f"paired bootstrap, BLEU, n = 2,000, {draws:,} draws: sacreBLEU"
    race(name, ours, theirs, at_least, calls=5)


@pytest.mark.parametrize("draws, at_least", [(199, 100), (999, 60), (9_999, 0)])
def test_bca_of_a_mean(race, draws, at_least):
    """SciPy leaves out each unit in turn, n numbers every time; ours adds up influences.

    With its own `batch=None` SciPy needs 80 GB here, so it gets a batch that suits it.
    What the ratio is depends on the draws, which both sides have to make. At the usual
    9,999 it is printed and has no floor. SciPy's calls are long, so there are few of either.
    """
    from scipy.stats import bootstrap

    a, b = np.random.default_rng(5).normal(size=(2, 100_000))

    def ours():
        how = {"method": "bca", "n_resamples": draws, "rng": 1}
        return bootstrap_interval(a, b, "mean", **how)

    def theirs():
        how = {"method": "BCa", "vectorized": True, "batch": 20, "n_resamples": draws}
        return bootstrap((a - b,), np.mean, **how).confidence_interval

    name = f"BCa, a mean, n = 100,000, {draws:,} draws: SciPy, batch=20"
    turns = 2 if draws < 999 else 1
    race(name, ours, theirs, at_least, turns=turns, calls=1, warm=False)


@pytest.mark.parametrize("method", METHODS)
def test_memory_of_many_segments(peak, bleu_statistics, method):
    """100,000 segments and 10,000 draws; as an array of indices they take 8 GB."""
    rng = np.random.default_rng(1)
    many = bleu_statistics[:2, rng.integers(0, 2_000, size=100_000)]
    a, b = many + rng.integers(0, 40, size=(100_000, 1))  # hardly two rows are equal
    draws = 10_000 if method == "percentile" else 1_000  # only the cloud grows
    how = {"method": method, "n_resamples": draws, "rng": 1}
    assert peak(lambda: bootstrap_interval(a, b, "bleu", **how)) < 150
