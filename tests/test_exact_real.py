"""Real scores against other ways to the same number."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from sigtext.exact_real import brute_share, exact_sum, meet_in_the_middle, real_tail

floats = st.floats(allow_nan=False, allow_infinity=False)
rows = st.lists(floats | st.sampled_from([0.1, 0.2, 0.3, 1.0]), min_size=1, max_size=9)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(rows, st.booleans(), floats)
def test_any_floats(x, attained, other):
    t = exact_sum(np.array(x)) if attained else Fraction(other)
    truth = brute_share(np.array(x), t)
    assert Fraction(meet_in_the_middle(x, t), 2 ** np.count_nonzero(x)) == truth
    for meet in (0, 40):
        found = real_tail(x, t=t, meet=meet, budget=2**12)
        assert found.low <= truth <= found.high


@pytest.mark.parametrize("n", [45, 90, 200, 1_000])
@pytest.mark.parametrize("law", ["normal", "heavy", "uniform"])
def test_against_whole_numbers(n, law):
    """Sizes that are whole numbers of 1/512, for which another page has the tail."""
    sum_tail = pytest.importorskip("sigtext.exact").sum_tail
    rng = np.random.default_rng([n, len(law)])
    draw = {"normal": rng.normal, "heavy": rng.standard_cauchy, "uniform": rng.random}
    size = np.rint(np.abs(draw[law](size=n)) * 512) + 1
    size = np.minimum(size, 512 * 50)
    sizes, counts = np.unique(size.astype(np.int64), return_counts=True)
    for lean in (0, 1, 5):
        up = rng.random(n) < 1 / (1 + np.exp(-2 * lean * size / np.sqrt(size @ size)))
        x = np.where(up, size, -size)
        truth = sum_tail(sizes, counts, int(x.sum())).log_p
        found = real_tail(x / 512)
        assert found.log_low - 1e-9 <= truth <= found.log_high + 1e-9
        assert found.reason in ("narrow", "tie")


@pytest.mark.parametrize("n", [7, 20, 48])
def test_signed_ranks(n):
    wilcoxon = pytest.importorskip("scipy.stats").wilcoxon
    rng = np.random.default_rng(n)
    d = rng.normal(0.3, 1, n)
    ranks = np.sign(d) * (np.argsort(np.argsort(np.abs(d))) + 1.0)
    truth = wilcoxon(d, alternative="greater", method="exact").pvalue
    found = real_tail(ranks)
    assert found.low * (1 - 1e-12) <= truth <= found.high * (1 + 1e-12)


def test_many_segments():
    x = np.random.default_rng(1).normal(0.002, 1, 300_000)
    found = real_tail(x)
    z = x.sum() / np.sqrt(x @ x)
    assert found.reason == "narrow"
    assert abs(found.high / ndtr(-z) - 1) < 0.01
