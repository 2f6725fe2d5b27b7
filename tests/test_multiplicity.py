"""Adjusted p-values against SciPy, statsmodels and published cases; edges; common swaps."""

import csv
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigtext.mcnemar import mcnemar_test
from sigtext.multiplicity import METHODS, adjust, common_swap_test, shaffer_factors
from sigtext.result import InputError

families = st.lists(st.floats(0, 1), max_size=30)
PEERS = {"holm": "holm", "bh": "fdr_bh", "by": "fdr_by"}


# --- peers


@pytest.mark.parametrize("method", PEERS)
@given(families.filter(bool))
@settings(max_examples=60, deadline=None)
def test_statsmodels(method, p):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    peer = multitest.multipletests(p, method=PEERS[method])[1]
    np.testing.assert_allclose(adjust(p, method), peer, rtol=1e-12, atol=0)


@pytest.mark.parametrize("method", ["bh", "by"])
def test_scipy(method):
    from scipy.stats import false_discovery_control

    p = np.random.default_rng(0).beta(0.3, 1, 200)
    peer = false_discovery_control(p, method=method)
    np.testing.assert_array_equal(adjust(p, method), peer)


@pytest.mark.parametrize(
    "pvalues, adjusted",
    [
        ((0.04, 0.01, 0.03), (0.06, 0.03, 0.06)),
        ((0.01, 0.02, 0.03, 0.04), (0.04, 0.06, 0.06, 0.06)),
    ],
)
def test_holm_of_the_cases(pvalues, adjusted):
    np.testing.assert_allclose(adjust(pvalues), adjusted, rtol=1e-12)


def test_shaffer_of_five_and_of_many_systems():
    assert shaffer_factors(10).tolist() == [10, 6, 6, 6, 6, 4, 4, 3, 2, 1]
    many = shaffer_factors(100 * 99 // 2)
    assert (many[:2] == [4_950, 4_851]).all() and (np.diff(many) <= 0).all()


def test_llm_accuracies(data):
    folder = data / "gsm8k_llm"
    gold = json.loads((folder / "gold.json").read_text())["results"]
    found = next(x["value"] for x in gold if x["label"].startswith("all pairs"))
    with (folder / "correct.csv").open() as file:
        rows = list(csv.DictReader(file))
    right = {
        s: np.array([int(r[s]) for r in rows]) for s in set(np.ravel(found["pairs"]))
    }
    raw = [mcnemar_test(right[a], right[b]).pvalue for a, b in found["pairs"]]
    np.testing.assert_allclose(raw, found["p"], rtol=1e-9)
    np.testing.assert_allclose(adjust(raw), found["holm"], rtol=1e-9)
    np.testing.assert_allclose(adjust(raw, "bh"), found["fdr_bh"], rtol=1e-9)
    assert (adjust(raw, "shaffer") <= adjust(raw)).all()


# --- edges


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(2, 6).flatmap(lambda s: st.permutations(range(s * (s - 1) // 2))))
@settings(max_examples=40, deadline=None)
def test_order_does_not_matter_and_none_is_below_raw(method, order):
    p = np.random.default_rng(len(order)).beta(0.3, 1, len(order)).round(2)
    found = adjust(p, method)
    assert (found >= p).all() and (found <= 1).all()
    np.testing.assert_array_equal(adjust(p[order], method), found[order])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("p", [[], [0.2], [0.0] * 6, [1.0] * 6, [0.0, 1.0, 1.0]])
def test_edges(method, p):
    assert adjust(p, method).tolist() == p


@pytest.mark.parametrize(
    "wrong", [[np.nan, 0.1], [1.1], [-1e-9], [np.inf], [[0.1]], 0.1]
)
def test_no_pvalues(wrong):
    with pytest.raises(InputError):
        adjust(wrong)


# --- common swaps


@pytest.mark.parametrize("statistic", ["max-t", "min-p"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_none_is_below_raw(statistic, alternative):
    how = {"statistic": statistic, "alternative": alternative, "rng": 3}
    for digits in (0, 1, 12):  # many ties, some, none
        x = np.random.default_rng(digits).normal(size=(5, 30)).round(digits)
        found = common_swap_test([x, -x], ["mean", "mean"], n_resamples=499, **how)
        assert (found.adjusted >= found.pvalues).all()
        assert found.pvalues.min() >= 1 / 500 and found.adjusted.max() <= 1


def test_one_question_asked_twice_costs_nothing():
    x = np.random.default_rng(1).normal(size=(2, 40))
    for statistic in ("max-t", "min-p"):
        how = {"statistic": statistic, "rng": 3, "n_resamples": 999}
        one = common_swap_test(x, "mean", **how)
        two = common_swap_test([x, 8 * x], ["mean", "mean"], **how)
        assert (one.adjusted == one.pvalues).all() and (
            two.adjusted == one.pvalues
        ).all()


@pytest.mark.parametrize("memory", [10_000, 10**9])
def test_memory_changes_nothing(memory):
    x = np.random.default_rng(2).integers(0, 9, (6, 300, 3)).astype(float)
    how = {"n_resamples": 599, "rng": 7}
    one = common_swap_test(x, "f1", **how)
    two = common_swap_test(x, "f1", memory=memory, **how)
    assert (one.pvalues == two.pvalues).all() and (one.adjusted == two.adjusted).all()


def test_nothing_differs():
    same = np.ones((3, 5))
    found = common_swap_test(same, "accuracy")
    assert (found.pvalues == 1).all() and (found.adjusted == 1).all()
