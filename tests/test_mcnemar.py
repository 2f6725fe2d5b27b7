"""McNemar's test and its intervals against SciPy, statsmodels, published tables, real data."""

import csv
import json
from math import isclose

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigtext.harness import rate_band
from sigtext.mcnemar import (
    binomial_tail,
    chi_square_pvalue,
    discordant_pvalue,
    mcnemar_test,
    paired_proportions_interval,
    score_statistic,
)
from sigtext.metrics import accuracy
from sigtext.result import InputError

SIDES = ("two-sided", "greater", "less")
counts = st.integers(0, 10**6)


# --- peers


def test_binomtest_on_large_tables():
    from scipy.stats import binomtest

    rng = np.random.default_rng(11)
    for d in (50, 500, 5_000, 50_000):
        for x in rng.binomial(d, rng.uniform(0.4, 0.6, 8)).tolist():
            for side in SIDES:
                peer = binomtest(x, d, alternative=side).pvalue
                ours = discordant_pvalue(x, d - x, side)
                assert isclose(ours, peer, rel_tol=1e-10), (x, d, side)


def test_statsmodels_exact():
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    for x, y in [(295, 88), (82, 33), (108, 101), (119, 33), (1, 6), (5, 5), (3, 0)]:
        peer = tables.mcnemar([[9, x], [y, 9]], exact=True).pvalue
        assert isclose(discordant_pvalue(x, y), peer, rel_tol=1e-12)
        for correction in (False, True):
            peer = tables.mcnemar([[9, x], [y, 9]], exact=False, correction=correction)
            if x != y:
                ours = chi_square_pvalue(x, y, int(correction))
                assert isclose(ours, peer.pvalue, rel_tol=1e-9)


def test_statsmodels_correction_at_equal_counts_is_no_p_of_ours():
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    peer = tables.mcnemar([[9, 5], [5, 9]], exact=False, correction=True).pvalue
    assert isclose(peer, 0.7518, abs_tol=1e-4)
    assert discordant_pvalue(5, 5) == 1


def test_table_of_fagerland_lydersen_and_laake():
    """21 children before and after a transplantation, 1 against 7 (printed figures)."""
    table = {"n_segments": 21}
    interval = paired_proportions_interval(1, 7, **table)
    assert (round(interval.low, 3), round(interval.high, 3)) == (-0.517, -0.026)
    assert round(mcnemar_test(1, 7, **table).pvalue, 4) == 0.0703
    assert round(mcnemar_test(1, 7, midp=True, **table).pvalue, 4) == 0.0391
    assert round(chi_square_pvalue(1, 7), 3) == 0.034


# --- any counts


@given(counts, counts)
@settings(deadline=None, max_examples=60)
def test_systems_exchanged(x, y):
    p = {side: discordant_pvalue(x, y, side) for side in SIDES}
    assert p["two-sided"] == discordant_pvalue(y, x)
    assert p["greater"] == discordant_pvalue(y, x, "less")
    assert all(0 <= q <= 1 for q in p.values())
    two = min(1, 2 * min(p["greater"], p["less"]))
    assert isclose(p["two-sided"], two, rel_tol=1e-12, abs_tol=1e-12)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 2_000))
@settings(deadline=None, max_examples=60)
def test_intervals_hold_the_gap_and_agree(x, y, others):
    n = x + y + others
    if n == 0:
        return
    gap = (x - y) / n
    for method in ("tango", "conditional"):
        interval = paired_proportions_interval(x, y, method=method, n_segments=n)
        other = paired_proportions_interval(y, x, method=method, n_segments=n)
        assert -1 <= interval.low <= gap + 1e-12
        assert gap - 1e-12 <= interval.high <= 1
        assert isclose(interval.low, -other.high, abs_tol=1e-12)
        inside = interval.low < 0 < interval.high
        if x + y:
            by = {"tango": chi_square_pvalue, "conditional": discordant_pvalue}[method]
            assert inside == (by(x, y) > 1 - 0.95)


def test_wide_range_of_counts():
    for d in (10**6, 10**9, 10**12):
        few = d // 2 - int(3 * d**0.5)
        assert isclose(binomial_tail(few, d), 0.98659e-9, rel_tol=0.05)
    with pytest.raises(InputError, match="1,000,000,000,000"):
        mcnemar_test(10**12, 1)
    huge = mcnemar_test(10**12, 0)
    assert 0 < huge.pvalue < 1e-300 and huge.pvalue_interval[0] == 0
    assert np.isfinite(json.loads(json.dumps(huge.to_dict()))["pvalue"])


# --- real outcomes


def gold(folder):
    results = json.loads((folder / "gold.json").read_text(encoding="utf-8"))["results"]
    return {r["label"]: r["value"] for r in results}


def judge(right_a, right_b, told, pair):
    """Counts and p as told, and the drawn p of SciPy inside its error around ours."""
    a, b = (np.asarray(x).astype(int) for x in (right_a, right_b))
    table, drawn = told[f"mcnemar {pair}"], told.get(f"perm9999 {pair}")
    (_, n10), (n01, _) = table["table_[A_right/wrong]x[B_right/wrong]"]
    test = mcnemar_test(a, b)
    assert (int((a > b).sum()), int((b > a).sum())) == (n10, n01)
    assert test == mcnemar_test(n10, n01, n_segments=len(a))
    assert isclose(test.pvalue, table["exact"]["pvalue"], rel_tol=1e-11)
    assert isclose(
        chi_square_pvalue(n10, n01), table["chi2_nocc"]["pvalue"], rel_tol=1e-9
    )
    if drawn:
        assert isclose(test.effect, drawn["mean_diff"], rel_tol=1e-12)
        m = drawn["n_resamples"]  # SciPy doubles the smaller side, (c + 1) / (m + 1)
        count = round(drawn["pvalue"] / 2 * (m + 1)) - 1
        low, high = rate_band(test.pvalue / 2, m)
        assert low <= count / m <= high
    interval = paired_proportions_interval(a, b)
    assert interval.low < test.effect < interval.high
    assert "points" in test.report(accuracy().unit)
    return test


def test_sst2(data):
    folder = data / "sst2_labels"
    words = {
        x: (folder / f"{x}.txt").read_text().split() for x in ("gold", "cnn", "lstm")
    }
    true, *systems = (np.array(words[x]) for x in ("gold", "cnn", "lstm"))
    judge(*(s == true for s in systems), gold(folder), "cnn vs lstm")


def test_gsm8k(data):
    told = gold(data / "gsm8k_llm")
    with open(data / "gsm8k_llm" / "correct.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    pairs = [x.removeprefix("mcnemar ") for x in told if x.startswith("mcnemar ")]
    assert len(pairs) == 3
    for pair in pairs:
        a, b = ([int(r[name]) for r in rows] for name in pair.split(" vs "))
        judge(a, b, told, pair)


def test_hans(data):
    folder = data / "hans_nli"

    def right(name):
        with open(folder / f"{name}_preds.csv", newline="", encoding="utf-8") as file:
            said = {int(r["pairID"][2:]): r["gold_label"] for r in csv.DictReader(file)}
        ids = sorted(said)
        return [(said[i] == "entailment") == (i // 1_000 % 10 >= 5) for i in ids]

    test = judge(right("bert"), right("spinn"), gold(folder), "bert vs spinn")
    assert test.n_segments == 30_000
    assert float(score_statistic(0.0, 2_358, 1_073, 30_000)) > 480
