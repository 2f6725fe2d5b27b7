"""Procedures compared by runs: other tools on equal inputs, bad input, real runs."""

import csv
import json
import math
from collections import defaultdict
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from sigtext import metrics
from sigtext.exact_kinds import exact_test
from sigtext.linearization import linear_spread
from sigtext.procedures import five_by_two
from sigtext.resampling import as_pair
from sigtext.result import InputError
from sigtext.runs import (
    average_repeats,
    compare_runs,
    exchange_test,
    mean_squares,
    unit_scores,
)

sides = pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])


def arrays(seed=0, first=4, second=3, n=7):
    """Crossed runs: a level a run, an effect a segment, and noise."""
    rng = np.random.default_rng(seed)
    segments = rng.normal(size=(2, n))
    made = (
        0.3 * rng.normal(size=(r, 1)) + segments[i] + rng.normal(size=(r, n))
        for i, r in enumerate((first, second))
    )
    return tuple(made)


# --- peers


@sides
def test_new_runs_are_welch(alternative):
    a, b = arrays()
    ours = compare_runs(a, b, population="runs", alternative=alternative)
    how = {"equal_var": False, "alternative": alternative}
    theirs = stats.ttest_ind(a.mean(axis=1), b.mean(axis=1), **how)
    assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-10)
    assert ours.df == pytest.approx(theirs.df, rel=1e-10)
    if alternative == "two-sided":
        ends = theirs.confidence_interval(0.95)
        found = ours.interval.low, ours.interval.high
        assert found == pytest.approx((ends.low, ends.high), rel=1e-10)
    scores = compare_runs(a.mean(axis=1), b.mean(axis=1), alternative=alternative)
    assert scores.pvalue == pytest.approx(ours.pvalue, rel=1e-10)
    assert scores.test.pvalue == ours.test.pvalue


@sides
def test_matched_runs_are_paired_t(alternative):
    a, b = arrays(1, 5, 5)
    how = {"population": "runs", "alternative": alternative}
    ours = compare_runs(a, b, matched=True, **how)
    theirs = stats.ttest_rel(
        a.mean(axis=1), b.mean(axis=1), alternative=alternative
    ).pvalue
    assert ours.pvalue == pytest.approx(theirs, rel=1e-10)


@sides
@pytest.mark.parametrize("matched", [True, False])
def test_new_segments_are_paired_t_of_averages(alternative, matched):
    a, b = arrays(2, 4, 4)
    how = {"population": "segments", "alternative": alternative}
    ours = compare_runs(a, b, matched=matched, **how)
    theirs = stats.ttest_rel(a.mean(axis=0), b.mean(axis=0), alternative=alternative)
    assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-10)
    assert ours.test is None


@sides
@pytest.mark.parametrize("runs", [(3, 3), (2, 5), (4, 4)])
def test_exchange_is_scipys_permutation_test(alternative, runs):
    a, b = (x.mean(axis=1) for x in arrays(3, *runs))
    ours = compare_runs(a, b, alternative=alternative).test
    count = math.comb(sum(runs), runs[0])
    gaps = []
    everyone = np.concatenate([a, b])
    for chosen in combinations(range(sum(runs)), runs[0]):
        picked = np.isin(np.arange(sum(runs)), chosen)
        gaps.append(everyone[picked].mean() - everyone[~picked].mean())
    turn = {"two-sided": np.abs, "greater": np.array, "less": np.negative}[alternative]
    by_hand = np.mean(turn(np.array(gaps)) >= turn(gaps[0]) - 1e-12)
    assert ours.pvalue == pytest.approx(by_hand, abs=1e-12)
    if alternative != "two-sided" or runs[0] == runs[1]:
        theirs = stats.permutation_test(
            (a, b),
            lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
            alternative=alternative,
            n_resamples=np.inf,
            vectorized=True,
        )
        assert ours.pvalue == pytest.approx(theirs.pvalue, abs=1e-12)
    assert ours.method == f"exact ({count} arrangements)"
    assert ours.pvalue >= ours.smallest_pvalue - 1e-12


@sides
def test_swaps_of_matched_runs_are_scipys(alternative):
    a, b = (x.mean(axis=1) for x in arrays(4, 6, 6))
    ours = compare_runs(a, b, matched=True, alternative=alternative).test
    theirs = stats.permutation_test(
        (a - b,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        alternative=alternative,
        n_resamples=np.inf,
        vectorized=True,
    )
    assert ours.pvalue == pytest.approx(theirs.pvalue, abs=1e-12)


def test_mean_squares_are_those_of_an_analysis_of_variance():
    pd = pytest.importorskip("pandas")
    ols = pytest.importorskip("statsmodels.formula.api").ols
    anova_lm = pytest.importorskip("statsmodels.stats.anova").anova_lm
    x = arrays(5, 4, 4)[0]
    runs, segments = (i.ravel() for i in np.indices(x.shape))
    table = pd.DataFrame({"y": x.ravel(), "run": runs, "segment": segments})
    found = anova_lm(ols("y ~ C(run) + C(segment)", table).fit())["mean_sq"]
    between, left, units = mean_squares([x])
    ours = between[0], units * len(x), left[0]
    assert ours == pytest.approx(tuple(found), rel=1e-10)


@pytest.mark.parametrize("name", ["f1", "wer", "ratio", "mean"])
@pytest.mark.parametrize("clustered", [False, True])
def test_one_run_a_side_has_the_linearized_error(name, clustered):
    metric = metrics.get(name)
    rows = np.random.default_rng(6).integers(1, 9, size=(2, 12, len(metric.columns)))
    clusters = np.repeat([0, 1, 2, 3, 4], [1, 3, 3, 3, 2]) if clustered else None
    pair = as_pair(*rows, metric, clusters)
    ours = compare_runs(
        rows[:1], rows[1:], metric, population="segments", clusters=clusters
    )
    u = pair.rows.shape[1]
    wanted = linear_spread(pair) * math.sqrt(u / (u - 1))
    assert ours.standard_error == pytest.approx(wanted, rel=1e-10)
    assert ours.effect == pytest.approx(pair.effect(*pair.rows.sum(axis=1)), rel=1e-10)
    assert (ours.n_segments, ours.n_units) == (12, u)


def test_corpus_metric_over_runs():
    metric = metrics.bleu(smooth_method="none")
    rng = np.random.default_rng(7)
    rows = rng.integers(1, 9, size=(2, 3, 10, 10)).astype(float)
    rows[..., 6:] += 9
    ours = compare_runs(*rows, metric, rng=0)
    scores = metric.score(rows.sum(axis=2))
    assert ours.effect == pytest.approx(np.subtract(*scores.mean(axis=1)), rel=1e-10)
    alone = compare_runs(*scores, metric, rng=0)
    again = compare_runs(*rows, metric, population="runs", rng=0)
    assert alone.interval.low == pytest.approx(again.interval.low, rel=1e-9)
    own = compare_runs(*rows, lambda totals: metric.score(totals))
    assert own.population == "new runs on these segments"
    assert own.pvalue == pytest.approx(alone.pvalue, rel=1e-9)


# --- what must not change


def test_systems_swapped():
    a, b = arrays(8)
    ours, theirs = compare_runs(a, b), compare_runs(b, a)
    assert ours.effect == pytest.approx(-theirs.effect)
    assert ours.interval.low == pytest.approx(-theirs.interval.high)
    assert ours.pvalue == pytest.approx(theirs.pvalue)
    assert ours.test.pvalue == pytest.approx(theirs.test.pvalue)


def test_order_of_runs_and_segments():
    a, b = arrays(9)
    ours, theirs = (
        compare_runs(a, b),
        compare_runs(a[::-1, ::-1], b[[2, 0, 1]][:, ::-1]),
    )
    assert ours.interval.high == pytest.approx(theirs.interval.high)
    assert ours.test.pvalue == theirs.test.pvalue


def test_lower_is_better():
    up, down = np.array([0.4, 0.5, 0.6]), np.array([0.2, 0.3, 0.25])
    ours = compare_runs(down, up, "wer", alternative="greater")
    assert ours.effect < 0 and ours.pvalue < 0.05
    assert ours.test.pvalue == pytest.approx(1 / 20)
    assert ours.test.effect == ours.effect
    assert "lower is better" in ours.report()
    matched = compare_runs(down, up, "wer", alternative="greater", matched=True)
    assert matched.test.pvalue == pytest.approx(1 / 8)


def test_draws_are_repeatable_and_near_the_exact_p():
    a, b = (x.mean(axis=1) for x in arrays(10, 6, 6))
    exact = compare_runs(a, b).test
    drawn = compare_runs(a, b, n_resamples=900, rng=0).test
    assert exact.exact and not drawn.exact
    assert drawn == compare_runs(a, b, n_resamples=900, rng=0).test
    assert drawn.seed == 0
    tail = stats.binom(900, exact.pvalue)
    count = round(drawn.pvalue * 901) - 1
    assert min(tail.cdf(count), tail.sf(count - 1)) > 5e-7


def test_more_draws_begin_with_the_same():
    a = [np.arange(15.0), np.arange(15.0)[::-1] / 3]
    few, many = (exchange_test(a, 0, False, "greater", m, 0) for m in (1_024, 3_000))
    assert few.method == many.method == "permutation"
    assert few.pvalue * 1_025 <= many.pvalue * 3_001


def test_result_is_ready_for_json_and_tables():
    a, b = arrays(11)
    ours = compare_runs(a, b)
    told = json.loads(json.dumps(ours.to_dict()))
    assert told["population"] == "new runs and new segments"
    assert told["test"]["smallest_pvalue"] == pytest.approx(1 / 35)
    assert set(told["components"]) >= {"segments", "runs of A", "left in runs of B"}
    assert "95% interval" in ours._repr_html_()
    assert ours._repr_markdown_().count("\n") == 2
    assert max(map(len, repr(ours).split("\n"))) <= 80
    assert "unequal numbers of runs" in repr(ours)


def test_data_frame():
    pd = pytest.importorskip("pandas")
    a, b = arrays(12)
    ours = compare_runs(pd.DataFrame(a), pd.DataFrame(b))
    assert ours.effect == compare_runs(a, b).effect


# --- samples of an item


def test_three_samples_of_six_items():
    a = np.array([[1, 1, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1], [1, 1, 0, 1, 0, 1]])
    b = np.array([[0, 1, 0, 0, 1, 0], [0, 0, 0, 1, 1, 0], [1, 0, 0, 0, 1, 0]])
    items = np.tile(np.arange(6), 3)
    averages = [average_repeats(x.ravel(), items)[1] for x in (a, b)]
    assert exact_test(*averages, "mean").pvalue == pytest.approx(0.1875)
    nested = compare_runs(a, b, population="segments")
    theirs = stats.ttest_rel(*averages)
    assert nested.pvalue == pytest.approx(theirs.pvalue)


def test_unequal_numbers_of_samples():
    items, averages = average_repeats([1, 0, 1, 0.5], ["x", "y", "x", "y"])
    assert list(items) == ["x", "y"] and list(averages) == [1, 0.25]


# --- bad input


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("too-few-runs", lambda a, b: compare_runs(a[:1], b)),
        ("too-few-runs", lambda a, b: compare_runs([], b)),
        (
            "needs-segments",
            lambda a, b: compare_runs(a[:, 0], b[:, 0], population="both"),
        ),
        (
            "needs-segments",
            lambda a, b: compare_runs(a[:, :1], b[:, :1], population="segments"),
        ),
        ("lengths-differ", lambda a, b: compare_runs(a[:, :5], b)),
        ("lengths-differ", lambda a, b: compare_runs([[1, 2], [1]], b)),
        ("lengths-differ", lambda a, b: compare_runs(a, b, matched=True)),
        ("lengths-differ", lambda a, b: compare_runs(a, b[:, 0])),
        ("lengths-differ", lambda a, b: compare_runs(a, b, clusters=[1, 2])),
        ("not-a-number", lambda a, b: compare_runs(a + np.nan, b)),
        ("not-a-number", lambda a, b: compare_runs(a[:, 0] * np.inf, b[:, 0])),
        ("not-a-number", lambda a, b: compare_runs(["x", "y"], ["x", "y"])),
        ("texts", lambda a, b: compare_runs([["x"], ["y"]], [["x"], ["y"]])),
        ("not-zero-one", lambda a, b: compare_runs(a, b, "accuracy")),
        ("columns", lambda a, b: compare_runs(a, b, "f1")),
        ("unknown-metric", lambda a, b: compare_runs(a, b, "men")),
        ("unknown-population", lambda a, b: compare_runs(a, b, population="all")),
        ("unknown-alternative", lambda a, b: compare_runs(a, b, alternative="more")),
        ("out-of-range", lambda a, b: compare_runs(a, b, confidence_level=95)),
        ("out-of-range", lambda a, b: compare_runs(a, b, n_resamples=0)),
        (
            "needs-segments",
            lambda a, b: compare_runs(a[:, 0], b[:, 0], clusters=[1, 2]),
        ),
        ("no-spread", lambda a, b: compare_runs([1, 1], [2, 2])),
        ("rng", lambda a, b: compare_runs(a, b, rng="x")),
        ("not-a-list", lambda a, b: compare_runs(None, b)),
        ("not-a-list", lambda a, b: compare_runs(a, 0.5)),
        ("not-a-list", lambda a, b: compare_runs(a, np.float64(0.5))),
        ("not-a-list", lambda a, b: compare_runs({1: 0.5, 2: 0.6}, b)),
        ("not-a-list", lambda a, b: compare_runs("ab", b)),
        ("not-a-number", lambda a, b: compare_runs(a + 0j, b)),
        ("not-a-number", lambda a, b: compare_runs(a[:, 0] + 0j, b[:, 0])),
        ("not-a-number", lambda a, b: compare_runs((a + 0j).tolist(), b)),
        ("columns", lambda a, b: compare_runs(np.stack([a, a**2], -1), b)),
        ("out-of-range", lambda a, b: compare_runs(a, b, matched="yes")),
        ("out-of-range", lambda a, b: compare_runs(a, b, matched=1)),
        ("lengths-differ", lambda a, b: average_repeats([1, 2], ["x"])),
        ("missing-label", lambda a, b: average_repeats([1, 2], [1, np.nan])),
        ("missing-label", lambda a, b: average_repeats([1, 2], np.array([1, np.nan]))),
        ("missing-label", lambda a, b: average_repeats([1, 2], [1, "1"])),
        ("not-a-list", lambda a, b: average_repeats([1, 2], None)),
        ("not-a-list", lambda a, b: average_repeats([1, 2], 7)),
        ("not-a-number", lambda a, b: average_repeats(np.array([1, 2j]), [1, 2])),
        ("not-a-list", lambda a, b: five_by_two(None)),
        ("not-a-list", lambda a, b: five_by_two(0.5)),
        ("not-a-number", lambda a, b: five_by_two(np.ones((5, 2)) * 1j)),
        ("not-a-number", lambda a, b: average_repeats([1, None], ["x", "x"])),
        ("missing-label", lambda a, b: average_repeats([1, 2], ["x", None])),
        ("columns", lambda a, b: five_by_two(a)),
        ("columns", lambda a, b: five_by_two(np.full((5, 2), np.nan))),
        ("no-spread", lambda a, b: five_by_two(np.zeros((5, 2)))),
        ("unknown-method", lambda a, b: five_by_two(np.ones((5, 2)), method="z")),
    ],
)
def test_bad_input(code, call):
    with pytest.raises(InputError) as error:
        call(*arrays(13))
    assert error.value.code == code


def test_an_undefined_score_names_the_run():
    rows = np.ones((2, 3, 2))
    rows[1, :, 1] = 0
    with pytest.raises(InputError, match="run 1"):
        compare_runs(rows, rows, "wer")
    with pytest.raises(InputError, match="no gradient"):
        unit_scores(np.zeros((2, 3, 3)), metrics.f_score())
    bare = unit_scores(np.zeros((2, 3, 3)), metrics.f_score(), needed=False)
    assert bare.tolist() == [[0], [0]]


TYPES = {
    "a": lambda: compare_runs(None, [1, 2]),
    "matched": lambda: compare_runs([1, 2], [1, 3], matched=None),
    "items": lambda: average_repeats([1, 2], None),
    "differences": lambda: five_by_two(None),
}


@pytest.mark.parametrize("name", TYPES)
def test_wrong_types_are_type_errors(name):
    with pytest.raises(TypeError, match=name):
        TYPES[name]()


def test_messages_about_items_speak_of_items():
    with pytest.raises(InputError) as error:
        average_repeats([1, 2, 3], ["x", None, "y"])
    assert "items need" in str(error.value) and "row 2 has none" in str(error.value)
    assert "cluster" not in str(error.value) and "segment" not in str(error.value)


def test_items_keep_their_type():
    assert average_repeats([1, 0], [7, 8])[0].dtype.kind == "i"
    assert average_repeats([1, 0], ["q", "p"])[0].tolist() == ["q", "p"]


@pytest.mark.parametrize("name", ["f1", "bleu"])
@pytest.mark.parametrize("matched", [True, False])
def test_a_run_with_score_zero(name, matched):
    rng = np.random.default_rng(15)
    if name == "f1":
        metric = metrics.f_score()
        rows = rng.integers(1, 9, size=(2, 4, 6, 3)).astype(float)
        rows[0, 1] = 0
    else:
        metric = metrics.bleu(smooth_method="none")
        rows = rng.integers(1, 9, size=(2, 4, 6, 10)).astype(float)
        rows[..., 6:] += 9
        rows[0, 1, :, 2:6] = 0
    scores = metric.score(rows.sum(axis=2))
    assert scores[0, 1] == 0
    ours = compare_runs(*rows, metric, population="runs", matched=matched, rng=0)
    alone = compare_runs(*scores, metric, matched=matched, rng=0)
    assert ours.pvalue == pytest.approx(alone.pvalue, rel=1e-9)
    assert ours.test.pvalue == alone.test.pvalue
    assert (ours.n_segments, ours.n_units) == (6, 6)
    for population in (None, "both", "segments"):
        with pytest.raises(InputError) as error:
            compare_runs(*rows, metric, population=population)
        assert error.value.code == "no-gradient"
        assert 'population="runs"' in error.value.help


# --- what is said


def test_percent_metrics_are_reported_in_points():
    a, b = (
        np.array([[1, 1, 1, 0], [1, 0, 1, 1]]),
        np.array([[1, 0, 0, 0], [1, 1, 0, 0]]),
    )
    ours = compare_runs(a, b, "accuracy", rng=0)
    text = ours.report(metrics.accuracy().unit)
    assert "A has 75.0% and B 37.5%" in text
    assert "A - B is +37.5 points (95% interval" in text
    assert "Unit(" not in text
    assert "A has 0.75 and B 0.3" in ours.report()
    assert " BLEU (95%" in ours.report(metrics.bleu().unit)
    assert " F1 (95%" in ours.report("F1")
    assert list(ours.cells())[:3] == ["A", "B", "A - B"]


def test_each_p_value_has_its_population():
    a, b = arrays(16)
    text = compare_runs(a, b, rng=0).report()
    assert text.count(" p = ") + text.count(" p < ") == 2
    assert "For new runs and new segments, A - B is" in text
    assert "For new runs on these segments, exchanging runs gives" in text


def noted(words, *data, **how):
    return any(words in note for note in compare_runs(*data, rng=0, **how).notes)


def test_two_runs_are_told_what_the_interval_covers():
    a, b = arrays(17, 3, 3)
    worst = "two runs of a procedure: a 95% interval can cover in only 87%"
    assert noted(worst, a[:2], b) and noted(worst, a, b[:2])
    assert noted(worst, a[:2], b[:2], matched=True)
    assert noted(worst, a[:2], b, population="runs")
    assert noted("all rests", a[:2], b[:2], matched=True, population="runs")
    assert not noted("two", a, b)
    assert not noted("two", a[:2], b[:2], population="segments")


def test_degrees_of_freedom_without_runs_are_told():
    rng = np.random.default_rng(18)
    for _ in range(50):
        a, b = rng.normal(size=(2, 2, 30))
        ours = compare_runs(a, b, rng=0)
        cut = ours.components["runs of A"] == 0 == ours.components["runs of B"]
        assert cut == any("comes from runs" in note for note in ours.notes)
        assert not cut or ours.df > 20


def test_what_is_left_out_is_told():
    a, b = arrays(19)
    assert noted("the metric has no gradient", a, b, lambda t: t[..., 0])
    assert noted("there is one cluster", a, b, clusters=[1] * 7)
    assert noted("there is one segment", a[:, :1], b[:, :1])
    chosen = {"population": "runs"}
    assert not noted("nothing is said", a, b, lambda t: t[..., 0], **chosen)
    assert not noted("nothing is said", a[:, 0], b[:, 0])


def test_arrays_on_their_side():
    a, b = arrays(20, 3, 3, 40)
    assert noted("where rows are segments, transpose", a.T, b.T)
    assert not noted("transpose", a, b)
    with pytest.raises(InputError, match="transpose"):
        compare_runs(a.T, b[:2].T)


def test_runs_that_are_all_alike():
    same = compare_runs([0.5, 0.5], [0.5, 0.5])
    assert (same.effect, same.pvalue, same.test.pvalue) == (0, 1, 1)
    assert (same.interval.low, same.interval.high) == (0, 0)


def test_statistic_of_five_cuts():
    p = np.random.default_rng(14).normal(size=(5, 2))
    spread = sum((x - (x + y) / 2) ** 2 + (y - (x + y) / 2) ** 2 for x, y in p)
    f = sum(p[i, j] ** 2 for i, j in product(range(5), range(2))) / (2 * spread)
    ours = five_by_two(p)
    assert ours.statistic == pytest.approx(f)
    assert ours.pvalue == pytest.approx(stats.f(10, 5).sf(f))
    t = five_by_two(p, method="t")
    assert t.statistic == pytest.approx(p[0, 0] / math.sqrt(spread / 5))
    assert t.pvalue == pytest.approx(2 * stats.t(5).sf(abs(t.statistic)))


# --- real runs: 7 environments, 10 seeds, half-way against the end of training


def test_td3_half_way_against_the_end(data):
    folder = data / "td3_seeds"
    if not folder.is_dir():
        pytest.skip("td3_seeds is not among the real data")
    returns = defaultdict(list)
    with open(folder / "learning_curves_td3.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            returns[row["env"], int(row["seed"])].append(float(row["return"]))
    results = json.loads((folder / "gold.json").read_text(encoding="utf-8"))["results"]
    told = next(r for r in results if r["label"].startswith("per env: half-way"))
    for name, peer in told["value"].items():
        curves = np.array([returns[name, seed] for seed in range(10)])
        late, half = curves[:, -10:].mean(axis=1), curves[:, 90:101].mean(axis=1)
        ours = compare_runs(late, half, matched=True)
        assert ours.pvalue == pytest.approx(peer["p"], rel=1e-6), name
        assert ours.df == peer["df"]
        ends = ours.interval.low, ours.interval.high
        assert ends == pytest.approx(peer["ci95"], rel=1e-6)
        assert ours.test.pvalue == pytest.approx(peer["exact_perm_p"], abs=1e-9)
        differ = np.count_nonzero(late - half)
        assert ours.test.smallest_pvalue == pytest.approx(2.0 ** (1 - differ))
