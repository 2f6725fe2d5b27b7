"""`clusters=` in every test, interval and command, for every kind of metric.

One label a segment is no clusters, names of labels mean nothing, whole clusters are what
is swapped and drawn, and sums over clusters can stand in for their segments.
"""

import json
from itertools import product

import numpy as np
import pytest

from sigtext import cli
from sigtext.bootstrap import RULES, bootstrap_test, exact_bootstrap, rule_counts
from sigtext.clusters import (
    clustered_standard_error,
    design_effect,
    intraclass_correlation,
    outermost,
)
from sigtext.comparison import compare
from sigtext.exact_kinds import exact_null, exact_test
from sigtext.harness import rate_band
from sigtext.intervals import METHODS, bootstrap_interval
from sigtext.linearization import influence
from sigtext.metrics import get
from sigtext.randomization import randomization_test, tie_tolerance
from sigtext.resampling import as_pair, cluster_index
from sigtext.result import InputError
from sigtext.shifts import shift_interval

NAMES = ("mean", "accuracy", "f1", "bleu", "wer", "chrf")
TEXTS = {"bleu", "wer", "chrf"}
N, LABELS = 14, np.array(list("cabcadebceebdd"))  # five clusters, none in one piece
SIDES = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}


def texts(seed):
    """A reference and two systems that get some of its words wrong."""
    rng = np.random.default_rng(seed)
    words = np.array("the price of tea oil and ice rose fell again in may".split())
    reference = [rng.choice(words, rng.integers(6, 12)) for _ in range(N)]

    def written(rate):
        wrong = [np.where(rng.random(len(x)) < rate, "so", x) for x in reference]
        return [" ".join(x) for x in wrong]

    return written(0.1), written(0.25), [" ".join(x) for x in reference]


def numbers(name, seed):
    """Two systems' rows for a metric that takes numbers."""
    rng = np.random.default_rng(seed)
    if name == "accuracy":
        return rng.binomial(1, [[0.7], [0.4]], (2, N)).astype(float)
    if name == "mean":
        return rng.integers(0, 60, (2, N)) / 8
    return rng.integers(0, 6, (2, N, 3)).astype(float)


def rows(name, seed=0):
    """Two systems' statistics for any metric."""
    if name not in TEXTS:
        return numbers(name, seed)
    *systems, reference = texts(seed)
    return [get(name).statistics(x, reference) for x in systems]


DRAWN = {"n_resamples": 199, "rng": 5}
CALLS = {
    "swaps drawn": lambda a, b, m, **c: randomization_test(
        a, b, m, n_resamples=15, rng=5, **c
    ),
    "swaps all": lambda a, b, m, **c: randomization_test(a, b, m, rng=5, **c),
    "swaps studentized": lambda a, b, m, **c: randomization_test(
        a, b, m, rng=5, n_resamples=99, studentize=True, **c
    ),
    "exact": exact_test,
    "exact null": lambda a, b, m, **c: np.stack(
        [(x := exact_null(a, b, m, **c)).effects, x.probabilities]
    ),
    **{
        f"bootstrap {rule}": lambda a, b, m, rule=rule, **c: bootstrap_test(
            a, b, m, rule=rule, **DRAWN, **c
        )
        for rule in RULES
    },
    **{
        f"interval {method}": lambda a, b, m, method=method, **c: bootstrap_interval(
            a, b, m, method=method, **DRAWN, **c
        )
        for method in METHODS
    },
    "influence": influence,
    "standard error": clustered_standard_error,
}
everywhere = pytest.mark.parametrize("name, call", list(product(NAMES, CALLS)))


def same(one, two, digits=0.0):
    """Whether two results, arrays or numbers are equal, or nearly so."""
    if hasattr(one, "to_dict"):
        one, two = one.to_dict(), two.to_dict()
        keys = one.keys() - {"method"}  # McNemar's is the exact test of accuracies
        return all(same(one[key], two[key], digits) for key in keys)
    if isinstance(one, str | None):
        return one == two
    if isinstance(one, list | tuple) and any(isinstance(x, str) for x in one):
        return list(one) == list(two)
    alike = np.shape(one) == np.shape(two)
    return alike and np.allclose(one, two, rtol=digits, atol=digits, equal_nan=True)


@everywhere
def test_one_label_a_segment_is_no_clusters(name, call):
    a, b = rows(name)
    alone = CALLS[call](a, b, name)
    assert same(alone, CALLS[call](a, b, name, clusters=np.arange(N)), 1e-13)
    assert same(alone, CALLS[call](a, b, name, clusters=list("zyxwvutsrqponm")), 1e-13)


@everywhere
def test_names_of_labels_mean_nothing(name, call):
    a, b = rows(name)
    found = CALLS[call](a, b, name, clusters=LABELS)
    numbered = [ord(x) * 7 % 11 for x in LABELS]
    for labels in ([f"document {x}" for x in LABELS], np.array(numbered), numbered):
        assert same(found, CALLS[call](a, b, name, clusters=labels))


@everywhere
def test_clusters_are_what_counts(name, call):
    """A matrix that ignored the labels would pass all tests but this one."""
    a, b = rows(name)
    found = CALLS[call](a, b, name, clusters=LABELS)
    assert not same(found, CALLS[call](a, b, name))
    if hasattr(found, "n_units"):
        assert (found.n_units, found.n_segments) == (5, N)


@pytest.mark.parametrize("call", [c for c in CALLS if c != "influence"])
@pytest.mark.parametrize("name", ["f1", "bleu", "wer", "chrf"])
def test_sums_of_clusters_stand_in_for_segments(name, call):
    """For counts a cluster's sum is a row like any other."""
    a, b = rows(name)
    index, sizes = cluster_index(LABELS, N)
    sums = np.zeros((2, len(sizes), a.shape[1]))
    for system, x in enumerate((a, b)):
        np.add.at(sums[system], index, x)
    one = CALLS[call](a, b, name, clusters=LABELS)
    two = CALLS[call](*sums, name)
    if hasattr(one, "n_segments"):
        assert one.pvalue == two.pvalue and one.n_units == two.n_units
    else:
        assert same(one, two, 1e-12)


def arrangements(name, a, b):
    """Gaps, A better where positive, under all swaps of clusters, segment by segment."""
    metric, (index, sizes) = get(name), cluster_index(LABELS, N)
    a, b = as_pair(a, b, metric).statistics
    gaps = []
    for swap in product((False, True), repeat=len(sizes)):
        turned = np.array(swap)[index][:, None]
        left, right = np.where(turned, b, a), np.where(turned, a, b)
        gaps.append(metric.score(left.sum(axis=0)) - metric.score(right.sum(axis=0)))
    return (1 if metric.higher_is_better else -1) * np.array(gaps)


@pytest.mark.parametrize("name, side", list(product(NAMES, SIDES)))
def test_swaps_are_all_arrangements(name, side):
    for seed in range(4):
        a, b = rows(name, seed)
        gaps = SIDES[side](arrangements(name, a, b))
        share = np.mean(gaps >= gaps[0] - 1e-9)
        how = {"clusters": LABELS, "alternative": side}
        for test in (exact_test, randomization_test):
            assert test(a, b, name, **how).pvalue == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("name, rule", list(product(NAMES, RULES)))
def test_bootstrap_is_near_all_lists_of_clusters(name, rule):
    a, b = rows(name, 1)
    pair, n = as_pair(a, b, name, LABELS), 9_999
    gaps, mass = exact_bootstrap(pair)
    assert len(gaps) <= 126  # tables of counts of five clusters
    sign = 1 if pair.metric.higher_is_better else -1
    effect = sign * float(pair.effect(*pair.rows.sum(axis=1)))
    ask = (rule, "two-sided", tie_tolerance(pair), mass)
    share = float(rule_counts(sign * gaps, effect, *ask))
    how = {"clusters": LABELS, "rule": rule, "rng": 2, "plus_one": False}
    p = bootstrap_test(a, b, name, n_resamples=n, **how).pvalue
    if rule == "percentile":
        share, p = min(share, 0.5), p / 2
    low, high = rate_band(min(share, 1.0), n)
    if rule == "sacrebleu":  # its centre is that of the draws
        low, high = low - 0.1, high + 0.1
    assert low <= p <= high


def test_shift_interval():
    a, b = rows("mean")
    alone = shift_interval(a, b)
    assert same(alone, shift_interval(a, b, clusters=np.arange(N)))
    found = shift_interval(a, b, clusters=LABELS, confidence_level=0.9)
    named = [f"document {x}" for x in LABELS]
    assert same(found, shift_interval(a, b, clusters=named, confidence_level=0.9))
    for end in (found.low, found.high):  # just inside is kept, just outside is not
        for step, kept in ((1e-6, True), (-1e-6, False)):
            at = end + step * (1 if end == found.low else -1)
            p = exact_test(a - at, b, "mean", clusters=LABELS).pvalue
            assert (p > 0.1) == kept


# --- the front door and the command


def asked(name, seed=0):
    """What `compare` takes for a metric."""
    if name in TEXTS:
        a, b, reference = texts(seed)
        return (a, b, reference), {"metric": name}
    return tuple(numbers(name, seed)), {"metric": name}


def told(found):
    """What a comparison says of the gap, without what it says of clusters."""
    ends = found.interval.low, found.interval.high
    return (*found.scores, found.effect, found.pvalue, *ends, found.spread)


@pytest.mark.parametrize("method", ["auto", "randomization", "bootstrap"])
@pytest.mark.parametrize("name", NAMES)
def test_compare(name, method):
    given, how = asked(name)
    how |= {"rng": 4, "n_resamples": 499, "method": method, "interval": "percentile"}
    found = compare(*given, **how, clusters=LABELS)
    assert (found.n_units, found.n_segments, found.cluster_sizes) == (5, N, (2, 3))
    again = compare(*given, **how, clusters=[f"d{x}" for x in LABELS])
    assert told(found) == told(again)
    alone = compare(*given, **how)
    single = compare(*given, **how, clusters=np.arange(N))
    np.testing.assert_allclose(told(alone), told(single), rtol=1e-12)
    assert told(found)[:3] == told(alone)[:3] and told(found)[4:] != told(alone)[4:]


@pytest.mark.parametrize("name", NAMES)
def test_command(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given, how = asked(name)
    line = ["compare", "A", "B", "--metric", name, "--format", "json", "--seed", "4"]
    for file, x in zip("ABR", given, strict=False):
        lines = x if name in TEXTS else [",".join(map(str, np.ravel(r))) for r in x]
        (tmp_path / file).write_text("".join(f"{text}\n" for text in lines))
    line += ["--reference", "R"] if name in TEXTS else []

    def run(labels):
        (tmp_path / "docs").write_text("".join(f"{x}\n" for x in labels))
        assert cli.main([*line, "--clusters", "docs"]) == 0
        return json.loads(capsys.readouterr().out)

    found, other = run(LABELS), compare(*given, **how, rng=4, clusters=LABELS)
    assert (found["n_units"], found["n_segments"]) == (5, N)
    assert found["pvalue"] == other.pvalue and found["effect"] == other.effect
    assert found["interval"]["low"] == other.interval.low
    keys = "pvalue", "effect", "interval", "scores"
    renamed = run([f"d{x}" for x in LABELS])
    assert [found[key] for key in keys] == [renamed[key] for key in keys]
    line += ["--interval", "percentile"]  # auto knows one for right and wrong alone
    single = run(range(N))
    assert cli.main(line) == 0
    alone = json.loads(capsys.readouterr().out)
    for key in ("pvalue", "effect"):
        assert single[key] == pytest.approx(alone[key], rel=1e-12)
    assert single["interval"]["low"] == pytest.approx(alone["interval"]["low"])


# --- what is wrong with labels


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "labels, code",
    [
        (LABELS[:-1], "lengths-differ"),
        (np.stack([LABELS, LABELS], axis=1), "lengths-differ"),
        ([*LABELS[:-1], None], "missing-label"),
        ([*map(float, range(N - 1)), float("nan")], "missing-label"),
        ([*LABELS[:-1], 3], "missing-label"),
    ],
)
def test_wrong_labels(call, labels, code):
    with pytest.raises(InputError) as error:
        CALLS[call](*rows("f1"), "f1", clusters=labels)
    assert error.value.code == code


@pytest.mark.parametrize("name", NAMES)
def test_one_cluster_says_nothing(name):
    a, b = rows(name)
    how = {"clusters": ["all"] * N}
    assert exact_test(a, b, name, **how).pvalue == 1
    assert randomization_test(a, b, name, rng=0, **how).pvalue == 1
    assert bootstrap_test(a, b, name, **DRAWN, **how).pvalue == 1
    for call in (clustered_standard_error, design_effect):
        with pytest.raises(InputError, match="two clusters"):
            call(a, b, name, **how)
    with pytest.raises(InputError, match="two units"):
        bootstrap_interval(a, b, name, **DRAWN, **how)


# --- design effects


@pytest.mark.parametrize("name, one", list(product(NAMES, [True, False])))
def test_design_effect_is_a_ratio_of_squared_errors(name, one):
    a, b = rows(name, 2)
    b = None if one else b
    found = design_effect(a, b, name, clusters=LABELS)
    renamed = design_effect(a, b, name, clusters=[f"d{x}" for x in LABELS])
    assert same(found, renamed, 1e-12)
    errors = [
        clustered_standard_error(a, b, name, clusters=x) ** 2 * (k - 1) / k
        for x, k in ((LABELS, 5), (None, N))
    ]
    assert found.estimate == pytest.approx(errors[0] / errors[1], rel=1e-12)
    sizes = np.unique(LABELS, return_counts=True)[1]
    size = (sizes**2).sum() / N
    assert found.estimate == pytest.approx(1 + (size - 1) * found.correlation, 1e-12)
    assert 0 < found.low < found.estimate < found.high
    alone = design_effect(a, b, name, clusters=np.arange(N))
    assert alone.estimate == pytest.approx(1) and alone.low == pytest.approx(1)
    wide = design_effect(a, b, name, clusters=LABELS, confidence_level=0.99)
    assert wide.low < found.low and found.high <= wide.high <= max(sizes)


@pytest.mark.parametrize("factor", [1e-200, 1e-9, 1 / 3, 7, 1e6, 1e200])
def test_the_unit_and_the_origin_do_not_matter(factor):
    x = numbers("mean", 2)[0]
    one = design_effect(x, clusters=LABELS)
    two = design_effect(factor * x + 1e3 * factor, clusters=LABELS)
    for key in ("estimate", "low", "high", "correlation"):
        assert getattr(two, key) == pytest.approx(getattr(one, key), rel=1e-7)
    for y in (factor * x, factor * x + 1e3 * factor):
        error = clustered_standard_error(y, clusters=LABELS) / factor
        known = clustered_standard_error(x, clusters=LABELS)
        assert error == pytest.approx(known, rel=1e-9)
    rhos = [
        intraclass_correlation(y, LABELS, method=method).estimate
        for method, y in product(("anova", "pairs"), (x, factor * x + 1e3 * factor))
    ]
    assert rhos[0] == pytest.approx(rhos[1]) and rhos[2] == pytest.approx(rhos[3])


def test_effects_and_correlations_that_are_possible():
    """Sparse, near-constant scores in clusters of one to six, where jackknives go astray."""
    rng, beyond = np.random.default_rng(0), 0
    for _ in range(400):
        sizes = rng.choice([1, 1, 1, 2, 6], rng.integers(2, 9))
        labels = np.arange(len(sizes)).repeat(sizes)
        x = rng.normal(size=len(labels)) * rng.choice([0, 1e-9, 1], len(labels))
        if max(sizes) < 2 or np.ptp(x) == 0:
            continue
        effect = design_effect(x, clusters=labels)
        assert effect.estimate <= max(sizes) * (1 + 1e-12)
        assert not effect.high > max(effect.estimate, max(sizes))
        rho = (effect.correlation, effect.correlation_low, effect.correlation_high)
        found = [
            intraclass_correlation(x, labels, method=m) for m in ("pairs", "anova")
        ]
        for result, (estimate, low, high) in (
            (effect, rho),
            *((f, (f.estimate, f.low, f.high)) for f in found),
        ):
            if abs(estimate) > 1 + 1e-9:
                beyond += 1
                assert np.isnan(low) and np.isnan(high)
                assert "o one correlation fits all clusters" in result.report()
            elif not np.isnan(low):
                assert -1 <= low <= estimate + 1e-9 and estimate - 1e-9 <= high <= 1
        assert "nan" not in effect.report() + "".join(f.report() for f in found)
    assert beyond > 20  # with unequal clusters it does happen


@pytest.mark.parametrize("shape", [(6, 2), (6, 1)])
def test_a_correlation_takes_one_score_a_segment(shape):
    with pytest.raises(InputError, match="one score") as error:
        intraclass_correlation(
            np.arange(float(np.prod(shape))).reshape(shape), [0, 1] * 3
        )
    assert error.value.code == "columns"


def test_standard_error_against_statsmodels():
    """OLS on a constant; its second factor is (n - 1)/(n - 1)."""
    api = pytest.importorskip("statsmodels.api", reason="statsmodels is not here")
    x, index = numbers("mean", 1)[0], cluster_index(LABELS, N)[0]
    fit = api.OLS(x, np.ones(N)).fit(cov_type="cluster", cov_kwds={"groups": index})
    ours = clustered_standard_error(x, clusters=LABELS)
    assert ours == pytest.approx(float(fit.bse[0]), rel=1e-12)


def test_correlation_against_statsmodels():
    """Analysis of variance from the fit with a mean for each cluster."""
    api = pytest.importorskip("statsmodels.api", reason="statsmodels is not here")
    x = numbers("mean", 1)[0][:12]
    index = np.arange(4).repeat(3)
    fit = api.OLS(x, (index[:, None] == np.arange(4)).astype(float)).fit()
    within, between = fit.mse_resid, fit.mse_model
    found = intraclass_correlation(x, index)
    assert found.estimate == pytest.approx((between - within) / (between + 2 * within))


# --- levels


def test_outermost():
    tasks, passages = LABELS, np.array([f"{x}{i % 2}" for i, x in enumerate(LABELS)])
    questions = np.arange(N)
    for order in (("t", "p", "q"), ("q", "p", "t"), ("p", "q", "t")):
        given = {"t": tasks, "p": passages, "q": questions}
        level = outermost(**{name: given[name] for name in order})
        assert (level.name, level.inside, level.n_units) == ("t", ("p", "q"), 5)
        assert (level.labels == tasks).all()
    assert "5 t of 14 segments, which hold p, q" in level.report()
    a, b = rows("mean")
    for call in CALLS.values():
        assert same(
            call(a, b, "mean", clusters=level), call(a, b, "mean", clusters=tasks)
        )
    for clusters in (level, list(level), np.asarray(level)):
        assert design_effect(a, clusters=clusters) == design_effect(a, clusters=tasks)
    assert len(level) == N and same(
        shift_interval(a, b, clusters=level), shift_interval(a, b, clusters=tasks)
    )
    assert told(compare(a, b, rng=0, clusters=level)) == told(
        compare(a, b, rng=0, clusters=tasks)
    )
    one = outermost(tasks=["x"] * 40).report()
    assert one == "There is one unit: tasks have one label for 40 segments."


@pytest.mark.parametrize(
    "levels, code",
    [
        ({"tasks": list("aabb"), "languages": list("xyxy")}, "crossed-labels"),
        ({"passages": list("aabb"), "questions": [0, 1, 0, 1]}, "crossed-labels"),
        ({"tasks": list("aabb"), "items": [1, 2, 3]}, "lengths-differ"),
        ({"tasks": ["a", None, "b", "b"]}, "missing-label"),
        ({}, "missing-label"),
        ({"tasks": 5}, "not-a-list"),
        ({"tasks": "aabb"}, "not-a-list"),
        ({"tasks": None}, "not-a-list"),
    ],
)
def test_levels_that_do_not_nest(levels, code):
    with pytest.raises(InputError) as error:
        outermost(**levels)
    assert error.value.code == code and "f'" not in str(error.value)
