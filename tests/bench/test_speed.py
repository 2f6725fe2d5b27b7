"""The table of speeds: resampling tests against sacreBLEU and SciPy.

Statistics are extracted beforehand for both sides. sacreBLEU's tests are its own functions,
called as its command calls them, but for a metric that hands out the statistics it was given.
"""

import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

import sigtext
from sigtext import metrics

sacrebleu = pytest.importorskip("sacrebleu.significance")
N, DRAWS = 2_000, 10_000


class Ready:
    """sacreBLEU's BLEU for a system whose statistics are known already."""

    def __init__(self, statistics):
        from sacrebleu.metrics import BLEU

        self.bleu, self.statistics = BLEU(), statistics.astype(int).tolist()

    def _extract_corpus_statistics(self, hypotheses, references):
        return self.statistics

    def __getattr__(self, name):
        return getattr(self.bleu, name)


def peer(test, a, b, draws):
    """A call of one of sacreBLEU's paired tests, the first system as the baseline."""
    first, second = Ready(a), Ready(b)
    result = sacrebleu.Result(first._aggregate_and_compute(first.statistics).score)
    baseline = {"BLEU": (first.statistics, result)}

    def run():
        given = (baseline, "B", range(len(a)), None, {"BLEU": second}, draws)
        return test(*given, seed=12345)[1]["BLEU"].p_value

    return run


def test_randomization_of_bleu(race, peak, bleu_statistics):
    a, b = bleu_statistics[:2]

    def ours():
        return sigtext.randomization_test(a, b, "bleu", n_resamples=DRAWS, rng=1)

    theirs = peer(sacrebleu._paired_ar_test, a, b, DRAWS)
    assert ours().pvalue == pytest.approx(theirs(), abs=0.02)
    assert peak(ours) < 150
    race("randomization, BLEU, n = 2,000, 10,000 draws: sacreBLEU", ours, theirs, 40)


def test_randomization_of_a_mean(race):
    from scipy.stats import permutation_test

    rng = np.random.default_rng(3)
    a, b = rng.random((2, N))

    def ours():
        return sigtext.randomization_test(a, b, "mean", n_resamples=9_999, rng=1)

    def gap(x, y, axis):
        return np.mean(x, axis=axis) - np.mean(y, axis=axis)

    def theirs():
        how = {"permutation_type": "samples", "vectorized": True, "n_resamples": 9_999}
        return permutation_test((a, b), gap, **how)

    assert ours().pvalue == pytest.approx(theirs().pvalue, abs=0.03)
    name = "randomization, a mean, n = 2,000, 9,999 draws: SciPy"
    race(name, ours, theirs, 60)


def test_all_pairs_of_ten_systems(race, bleu_statistics):
    """The peer is timed on one pair and multiplied by 45, which is what 45 calls cost.

    SIGTEXT_ALL_PAIRS=1 runs all of them instead.
    """
    from sigtext.randomization import pairwise_pvalues

    def ours():
        return pairwise_pvalues(
            bleu_statistics, metrics.get("bleu"), n_resamples=DRAWS, rng=1
        )

    pairs = list(combinations(range(10), 2))
    every = bool(os.environ.get("SIGTEXT_ALL_PAIRS"))
    chosen = pairs if every else pairs[:1]
    calls = [
        peer(sacrebleu._paired_ar_test, *bleu_statistics[[i, j]], DRAWS)
        for i, j in chosen
    ]
    name = "45 pairs of ten systems, BLEU: sacreBLEU" + (" x 45" if not every else "")
    how = {"turns": 1, "times": 45 / len(chosen)} | ({"calls": 1} if every else {})
    race(name, ours, lambda: [call() for call in calls], 200, **how)


def test_help_is_quick(race):
    """Under three times the time that `import numpy` takes: a ratio over 1/3."""

    def command(*arguments):
        return lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)

    code = "import sys; from sigtext.cli import main; sys.exit(main())"
    ours = command(sys.executable, "-c", code, "--help")
    theirs = command(sys.executable, "-c", "import numpy")
    race("sigtext --help: import numpy", ours, theirs, 1 / 3)
