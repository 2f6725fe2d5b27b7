"""Intervals: SciPy as a peer on the same clouds, and the stored study run again in part."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from sigtext import intervals
from sigtext.bootstrap import bootstrap_cloud
from sigtext.intervals import METHODS, bootstrap_interval, coverage_counts
from sigtext.metrics import bleu
from sigtext.resampling import as_pair
from tools.notebooks import root

STUDY = json.loads((root / "nbs" / "theorems" / "coverage.json").read_text())


# --- SciPy


@pytest.mark.parametrize("method", ["percentile", "basic", "BCa"])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("seed", range(5))
def test_scipy_agrees_up_to_one_order_statistic(method, level, seed):
    """SciPy gets our cloud and interpolates between its values, which we do not."""
    from scipy.stats import bootstrap

    rng = np.random.default_rng(seed)
    x, y = rng.gamma(0.5, size=(2, 40))
    found = bootstrap_interval(
        x, y, "mean", method=method.lower(), confidence_level=level, rng=seed
    )
    cloud = bootstrap_cloud(as_pair(x, y, "mean"), 9_999, seed)
    how = {"method": method, "confidence_level": level, "n_resamples": 0}
    given = SimpleNamespace(bootstrap_distribution=cloud)
    peer = bootstrap(
        (x - y,), np.mean, bootstrap_result=given, vectorized=True, **how
    ).confidence_interval
    gap = x.mean() - y.mean()
    values = np.sort(2 * gap - cloud if method == "basic" else cloud)
    for ours, theirs in ((found.low, peer.low), (found.high, peer.high)):
        rank = int(np.argmin(np.abs(values - ours)))
        eps = 1e-12
        assert values[rank - 2] - eps <= theirs <= values[rank + 2] + eps


# --- contracts


def test_bits_do_not_depend_on_memory():
    rng = np.random.default_rng(2)
    rows = rng.integers(1, 9, size=(2, 70, 10)).astype(float)
    reals = rng.normal(size=(2, 70))
    for data, metric in ((rows, bleu()), (rows[..., :3], "f1"), (reals, "mean")):
        for clusters in (None, np.arange(70) // 3):
            for method in METHODS:
                how = {"method": method, "clusters": clusters, "n_resamples": 199}
                one = bootstrap_interval(*data, metric, rng=4, **how)
                assert bootstrap_interval(*data, metric, rng=4, memory=1, **how) == one


def test_a_function_has_all_but_the_studentized_interval():
    x, y = np.random.default_rng(3).normal(size=(2, 30))

    def plain(totals):
        return totals[..., 0] / 30

    for method in METHODS[:-1]:
        own = bootstrap_interval(x, y, plain, method=method, rng=1)
        mean = bootstrap_interval(x, y, "mean", method=method, rng=1)
        assert own.method == mean.method == method
        assert (own.low, own.high) == pytest.approx((mean.low, mean.high), abs=1e-12)
    with pytest.raises(ValueError, match="no gradient"):
        bootstrap_interval(x, y, plain, method="studentized", rng=1)


def test_bleu_without_a_match_is_named():
    """A score of 0 has no gradient: BCa and the studentized interval stand aside."""
    rows = np.tile([9.0, 9, 5, 3, 1, 0, 9, 8, 7, 6], (12, 1))
    other = rows + np.eye(12, 10, -2) * 2  # matches of four orders, on three segments
    metric = bleu(smooth_method="none")
    for method in METHODS:
        found = bootstrap_interval(other, rows, metric, method=method, rng=1)
        assert np.isfinite([found.low, found.high]).all()
        named = method in ("bca", "studentized")
        assert found.method.startswith("percentile (" if named else method)


# --- the stored study


def test_study_is_of_this_code():
    assert STUDY["code"] == intervals.code_hash(), (
        "run sigtext.intervals.coverage_study() and store it in coverage.json"
    )
    assert STUDY["data sets"] >= 2_000 and STUDY["level"] == 0.95
    assert len(STUDY["cells"]) == 12
    for cell in STUDY["cells"].values():
        rows = [row for row in cell["all"]["counts"] if sum(row)]
        assert all(sum(row[:3]) == STUDY["data sets"] for row in rows)


@pytest.mark.parametrize("cell", ["right 10", "right 300", "f1 30", "bleu 10"])
def test_first_batch_again(cell):
    world, n = cell.split()
    table, stored = coverage_counts(world, int(n), 0), STUDY["cells"][cell]["first"]
    assert table[:, :4].astype(int).tolist() == stored["counts"]
    assert table[:, 4] == pytest.approx(stored["lengths"], abs=1e-5)
