"""Properties that hold for every paired set, tried on sets that hypothesis makes up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigtext.comparison import compare
from sigtext.randomization import pairwise_pvalues, randomization_test
from sigtext.resampling import as_pair, as_parts, resample_effects, swap_effects
from sigtext.result import InputError

COLUMNS = {"accuracy": 1, "mean": 1, "f1": 3, "precision": 2, "wer": 2, "bleu": 10}
slowly = settings(deadline=None, max_examples=60)


@st.composite
def paired_sets(draw, names=tuple(COLUMNS), least=1, most=30):
    """A metric's name and two systems' statistics, small counts with many ties."""
    name = draw(st.sampled_from(names))
    n, k = draw(st.integers(least, most)), COLUMNS[name]
    top = 1 if name == "accuracy" else draw(st.sampled_from([1, 3, 40]))
    cells = st.integers(0, top)
    rows = draw(
        st.lists(
            st.lists(cells, min_size=2 * k, max_size=2 * k), min_size=n, max_size=n
        )
    )
    both = np.array(rows, dtype=float).reshape(n, 2, k).swapaxes(0, 1)
    if name == "mean":
        both = both * draw(st.sampled_from([1.0, 0.1, 1 / 3, 1e-9, 1e9])) - draw(
            st.sampled_from([0.0, 0.5])
        )
    if name == "bleu":  # lengths, then matches that are no more than totals
        order = np.arange(4)
        both[..., 6:] = np.maximum(both[..., :1] - order, 0)
        both[..., 2:6] = np.minimum(both[..., 2:6], both[..., 6:])
    if name == "wer":
        both[:, 0, 1] += 1  # one reference word at least
    return name, both[0], both[1]


def run(name, a, b, **how):
    return randomization_test(a, b, name, **{"n_resamples": 199, "rng": 3} | how)


@slowly
@given(paired_sets())
def test_swapping_the_systems_mirrors(case):
    name, a, b = case
    one, two = run(name, a, b), run(name, b, a)
    assert one.pvalue == two.pvalue and one.effect == -two.effect
    up, down = (run(name, a, b, alternative=s).pvalue for s in ("greater", "less"))
    assert up == run(name, b, a, alternative="less").pvalue
    assert down == run(name, b, a, alternative="greater").pvalue
    assert up + down > 1 - 1e-12  # the observed arrangement is in both


@slowly
@given(
    paired_sets(),
    st.sampled_from(["two-sided", "greater", "less"]),
    st.sampled_from([1, 6, 30, 199, 9_999]),
)
def test_pvalue_is_a_probability(case, alternative, draws):
    name, a, b = case
    found = run(name, a, b, alternative=alternative, n_resamples=draws)
    low, high = found.pvalue_interval
    assert 0 < found.smallest_pvalue <= found.pvalue <= 1
    assert 0 <= low <= found.pvalue <= high <= 1
    if (a == b).all():
        assert found.pvalue == 1 and found.effect == 0


@slowly
@given(paired_sets(), st.booleans())
def test_studentized_pvalue_is_a_probability(case, exact):
    name, a, b = case
    how = {"studentize": True, "n_resamples": 2_000 if exact else 99}
    try:
        p = run(name, a, b, **how).pvalue
    except InputError as error:  # BLEU without a match has no spread
        assert error.code == "undefined-score"
        return
    assert 0 < p <= 1
    assert p == run(name, b, a, **how).pvalue


@slowly
@given(paired_sets(("mean",)), st.sampled_from([0.001, 0.1, 1 / 3, 7.0, 1e6]))
def test_the_unit_does_not_matter(case, factor):
    name, a, b = case
    assert run(name, a, b).pvalue == run(name, a * factor, b * factor).pvalue


@slowly
@given(paired_sets(("f1", "precision", "bleu")), st.sampled_from([2.0, 10.0]))
def test_counts_in_other_units(case, factor):
    name, a, b = case
    if name == "bleu":  # the default smoothing is not of degree zero
        from sigtext import metrics

        name = metrics.bleu(smooth_method="none")
    assert run(name, a, b).pvalue == run(name, a * factor, b * factor).pvalue


@slowly
@given(paired_sets(most=9), st.randoms(use_true_random=False), st.integers(0, 9))
def test_enumeration_ignores_order_and_tied_segments(case, random, copies):
    name, a, b = case
    every = {"n_resamples": 2**9}
    p = run(name, a, b, **every).pvalue
    order = random.sample(range(len(a)), len(a))
    assert run(name, a[order], b[order], **every).pvalue == p
    if name in ("accuracy", "mean"):  # ties change the scale of a mean, and no order
        tied = np.repeat(a[:1], copies, axis=0)
        longer = np.concatenate([a, tied]), np.concatenate([b, tied])
        assert run(name, *longer, **every).pvalue == p


@slowly
@given(paired_sets(least=12), st.sampled_from([500, 10_000, 1_000_000]))
def test_the_memory_budget_changes_nothing(case, memory):
    pair = as_pair(case[1], case[2], case[0])
    for draws in (swap_effects, resample_effects):
        small = np.concatenate(list(draws(pair, 150, 7, memory)))
        assert np.array_equal(
            small, np.concatenate(list(draws(pair, 150, 7))), equal_nan=True
        )


@slowly
@given(paired_sets(least=2), st.integers(1, 4))
def test_singleton_clusters_are_segments(case, size):
    name, a, b = case
    alone = run(name, a, b, clusters=np.arange(len(a)))
    assert (alone.pvalue, alone.n_units) == (run(name, a, b).pvalue, len(a))
    labels = np.arange(len(a)) // size
    together = run(name, a, b, clusters=[f"d{x}" for x in labels])
    assert together.n_units == labels[-1] + 1
    assert together.effect == run(name, a, b).effect


@slowly
@given(paired_sets(("mean",), least=2, most=12))
def test_totals_are_exact(case):
    from fractions import Fraction

    a = case[1]
    parts = as_parts(a[None], reach=len(a))
    total = parts.assemble(parts.integers.sum(axis=1))[0, 0]
    truth = sum(map(Fraction, a[:, 0].tolist()))
    rounding = Fraction(float(np.spacing(np.abs(a).max()))) * len(a)  # of the inputs
    assert abs(Fraction(float(total)) - truth) <= rounding


@settings(deadline=None, max_examples=25)
@given(paired_sets(least=1, most=15))
def test_compare_answers_or_refuses(case):
    name, a, b = case
    try:
        c = compare(a, b, metric=name, n_resamples=99, rng=0)
    except InputError as error:
        assert error.code == "undefined-score"
        return
    assert all(text in str(c) for text in ("test ", "units ", "again "))
    assert max(map(len, str(c).split("\n"))) <= 80 and str(c).isascii()
    assert c.report().endswith(".") and c.to_dict()["pvalue"] == c.pvalue


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**70])
def test_seeds(seed):
    a, b = np.random.default_rng(0).integers(0, 9, (2, 40, 3)).astype(float)
    one, two = (run("f1", a, b, rng=seed) for _ in range(2))
    assert one == two and one.seed == seed
    table = pairwise_pvalues(np.stack([a, b]), "f1", n_resamples=199, rng=seed)
    assert table[0, 1] == pytest.approx(one.pvalue, abs=0.2)


def test_million_segments_stay_in_memory():
    import tracemalloc

    a, b = np.random.default_rng(0).normal(size=(2, 1_000_000))
    pair = as_pair(a, b, "mean")
    tracemalloc.start()
    for draws in (swap_effects, resample_effects):
        for _ in draws(pair, 3, 1):
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * 2**20  # the moves of a million units, and one block of draws
