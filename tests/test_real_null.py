"""Size on real data: the null is exact where labels are exchanged or runs are halved.

The figures stand on the page of Theorem 1 too, and are compared with it here.
"""

import csv
import re
from itertools import combinations

import numpy as np
import pytest

from sigtext import metrics
from sigtext.harness import rate_band
from sigtext.randomization import randomization_test
from tools.notebooks import read, root, source

LEVEL = 0.05
PAGE = root / "nbs" / "theorems" / "10_randomization.ipynb"


def stated(what):
    """The rate that the page's table of real data gives for `what`."""
    text = "\n".join(source(cell) for cell in read(PAGE)["cells"])
    return float(re.search(rf"^\| {re.escape(what)} \|.* (0\.\d+) \|$", text, re.M)[1])


def rejection_rate(pvalues):
    return float(np.mean(np.array(pvalues) <= LEVEL))


# --- translation: the labels of two systems exchanged at random


@pytest.fixture(scope="module")
def translations(data):
    """BLEU counts of every two different systems of WMT24, and the document labels."""
    folder = data / "wmt24_ende"
    lines = {
        p: p.read_text(encoding="utf-8").split("\n")[1:-1] for p in folder.iterdir()
    }
    systems = sorted(p for p in lines if p.name.startswith("sys."))
    outputs = list({tuple(lines[p]): lines[p] for p in systems}.values())
    rows = metrics.bleu().statistics_many(outputs, lines[folder / "refA.txt"])
    _, documents = np.unique(lines[folder / "docs.tsv"], return_inverse=True)
    return list(combinations(rows, 2)), documents


def exchanged_rate(translations, exchange_documents, swap_documents, rng, n=100):
    """Share of tests that reject after each pair's labels were exchanged n times."""
    pairs, documents = translations
    units = documents if exchange_documents else np.arange(len(documents))
    how = {"clusters": documents if swap_documents else None, "n_resamples": 99}
    pvalues = []
    for a, b in pairs:
        for _ in range(n):
            flip = rng.integers(2, size=units.max() + 1)[units][:, None] == 1
            pair = np.where(flip, b, a), np.where(flip, a, b)
            test = randomization_test(*pair, metrics.bleu(), rng=rng, **how)
            pvalues.append(test.pvalue)
    return rejection_rate(pvalues), len(pvalues)


@pytest.mark.parametrize("documents", [False, True])
def test_size_where_labels_are_exchanged(translations, documents):
    rng = np.random.default_rng(documents)
    rate, n = exchanged_rate(translations, documents, documents, rng)
    assert rate <= rate_band(LEVEL, n, side="at_most")[1]
    unit = "documents" if documents else "segments"
    assert stated(f"WMT24, {unit} exchanged, {unit} swapped") == round(rate, 3)


def test_documents_exchanged_and_segments_swapped_is_not_valid(translations):
    rate, n = exchanged_rate(translations, True, False, np.random.default_rng(2))
    assert rate > rate_band(LEVEL, n, side="at_most")[1]
    assert stated("WMT24, documents exchanged, segments swapped") == round(rate, 3)


# --- reinforcement learning: random halves of ten runs of one program


@pytest.fixture(scope="module")
def returns(data):
    """Returns of TD3: 7 environments, 10 seeds, 201 evaluations during training."""
    path = data / "td3_seeds" / "learning_curves_td3.csv"
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    return np.array([float(r["return"]) for r in rows]).reshape(7, 10, 201)


def halved_rate(runs, rng, n, **how):
    """Share of tests that reject between the means of five runs and of the others.

    `runs` is (environments, seeds, units): each environment is halved by itself.
    """
    pvalues = []
    for _ in range(n):
        mixed = rng.permuted(np.arange(10)[None].repeat(len(runs), 0), axis=1)
        halves = np.take_along_axis(runs, mixed[..., None], axis=1)
        a, b = halves[:, :5].mean(axis=1), halves[:, 5:].mean(axis=1)
        test = randomization_test(a.ravel(), b.ravel(), "mean", rng=rng, **how)
        pvalues.append(test.pvalue)
    return rejection_rate(pvalues), n


def test_size_between_halves_of_runs(returns):
    """All ten runs end at 1,000 in one environment of seven, so 64 arrangements are left.

    The observed gap and its mirror are 2 of them, the next two make 4 of 64: over 0.05.
    """
    last = returns[:, :, -1:]
    assert (np.ptp(last, axis=1) == 0).sum() == 1
    rate, n = halved_rate(last, np.random.default_rng(3), 2_000)
    low, high = rate_band(2 / 64, n)
    assert low <= rate <= high
    assert stated("TD3, environments swapped") == round(rate, 3)


def test_evaluations_of_one_run_are_no_segments(returns):
    how = {"n_resamples": 99}
    rate, n = halved_rate(returns, np.random.default_rng(4), 400, **how)
    assert rate > rate_band(LEVEL, n, side="at_most")[1]
    assert stated("TD3, evaluations swapped") == round(rate, 3)
