"""Plans: other tools on equal inputs, bad input, a pilot of real systems."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from sigtext import metrics
from sigtext.planning import (
    connor_size,
    detectable_effect,
    mcnemar_power,
    normal_power,
    power,
    sample_size,
)
from sigtext.result import InputError

RATES = ((0.12, 0.08), (0.3, 0.05), (0.5, 0.49), (0.9, 0.0))
sides = pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])


# --- peers


@pytest.mark.parametrize("p10, p01", RATES)
def test_connor_is_the_two_variance_formula(p10, p01):
    peer = pytest.importorskip("statsmodels.stats.power").normal_sample_size_one_tail
    both, gap = p10 + p01, p10 - p01
    for wanted, tail in product((0.8, 0.95), (0.025, 0.05)):
        how = {"std_null": math.sqrt(both), "std_alternative": math.sqrt(both - gap**2)}
        theirs = peer(gap, wanted, tail, **how)
        assert connor_size(p10, p01, wanted, tail) == pytest.approx(theirs, rel=1e-10)


def test_normal_power():
    peer = pytest.importorskip("statsmodels.stats.power").normal_power
    names = {True: "two-sided", False: "larger"}
    for ratio, level, two in product((0.0, 0.7, 2.8), (0.01, 0.05), (True, False)):
        theirs = peer(ratio, 1, level, alternative=names[two])
        assert normal_power(ratio, level, two) == pytest.approx(theirs, rel=1e-10)


@sides
@pytest.mark.parametrize("p10, p01", RATES)
def test_power_by_binomtest(p10, p01, alternative):
    n, both = 40, p10 + p01
    total = 0.0
    for d in range(1, n + 1):
        p = [
            stats.binomtest(x, d, alternative=alternative).pvalue for x in range(d + 1)
        ]
        small = np.array(p) <= 0.05 * (1 + 1e-12)
        given = stats.binom.pmf(np.arange(d + 1), d, p10 / both)[small].sum()
        total += stats.binom.pmf(d, n, both) * given
    found = mcnemar_power(n, p10, p01, alternative=alternative)
    assert found == pytest.approx(total, abs=1e-9)


# --- the three calls agree with each other


@sides
def test_calls_invert_each_other(alternative):
    a, b = np.random.default_rng(3).normal(size=(2, 80))
    how = {"alternative": alternative, "level": 0.01}
    plan = sample_size(a, b, "mean", effect=0.2, power=0.9, **how)
    n = plan.n_segments
    assert power(a, b, "mean", effect=0.2, n_segments=n, **how).power >= 0.9
    assert power(a, b, "mean", effect=0.2, n_segments=n - 1, **how).power < 0.9 + 1e-5
    back = detectable_effect(a, b, "mean", n_segments=n, power=0.9, **how)
    assert back.effect == pytest.approx(0.2, rel=0.01) and back.effect <= 0.2


@sides
def test_rates_invert_each_other(alternative):
    better, worse = (0.2, 0.3) if alternative == "less" else (0.3, 0.2)
    how = {"alternative": alternative}
    plan = sample_size(p10=better, p01=worse, **how)
    n = plan.n_segments
    assert power(p10=better, p01=worse, n_segments=n, **how).power >= 0.8
    assert power(p10=better, p01=worse, n_segments=n - 1, **how).power < 0.8
    back = detectable_effect(discordance=0.5, n_segments=n, **how)
    assert 0.09 < back.effect <= 0.1 + 1e-8
    assert (back.rates[0] > back.rates[1]) == (alternative != "less")


def test_two_sided_does_not_ask_who_wins():
    first, second = (sample_size(p10=p, p01=0.3 - p) for p in (0.1, 0.2))
    assert first.n_segments == second.n_segments and first.connor == second.connor


def test_units_are_clusters():
    a, b = np.random.default_rng(5).normal(size=(2, 60))
    labels = np.arange(60) // 3
    plan = sample_size(a, b, "mean", effect=0.1, clusters=labels)
    assert plan.n_units == math.ceil(plan.n_segments / 3)
    assert "clusters" in plan.report()


def test_plans_are_json_ready():
    plan = sample_size(p10=0.12, p01=0.08)
    told = plan.to_dict()
    assert told["n_segments"] == 1_021 and told["connor"] == 979
    assert told["rates"] == [0.12, 0.08] and told["spread"] is None


# --- bad input

A, B = np.random.default_rng(1).normal(size=(2, 9))


@pytest.mark.parametrize(
    "call, given, code",
    [
        (power, {}, "options-clash"),
        (power, {"a": A, "b": B, "effect": 1}, "options-clash"),
        (power, {"a": A, "b": B, "metric": "mean", "p10": 0.1}, "options-clash"),
        (power, {"a": A, "b": B, "metric": "mean"}, "out-of-range"),
        (power, {"a": A, "b": B, "metric": "mean", "effect": -1}, "out-of-range"),
        (power, {"a": A, "b": B, "metric": "mean", "effect": math.nan}, "out-of-range"),
        (power, {"a": A, "b": A, "metric": "mean", "effect": 1}, "no-spread"),
        (power, {"a": A, "b": A + 1, "metric": "mean", "effect": 1}, "no-spread"),
        (power, {"a": A, "b": B, "metric": np.sum, "effect": 1}, "no-gradient"),
        (power, {"p10": 0.2, "p01": 0.1}, "out-of-range"),
        (power, {"p10": 0.2, "p01": True, "n_segments": 5}, "out-of-range"),
        (power, {"p10": 0.8, "p01": 0.3, "n_segments": 5}, "out-of-range"),
        (power, {"p10": 0.2, "p01": 0.1, "n_segments": 5.0}, "out-of-range"),
        (sample_size, {"p10": 0.1, "p01": 0.1}, "no-effect"),
        (sample_size, {"p10": 0.0, "p01": 0.0}, "no-effect"),
        (sample_size, {"p10": 0.2, "p01": 0.1, "power": 1}, "out-of-range"),
        (sample_size, {"p10": 0.2, "p01": 0.1, "power": 0.05}, "out-of-range"),
        (sample_size, {"p10": 0.2, "p01": 0.1, "level": 0.6}, "out-of-range"),
        (detectable_effect, {"discordance": 1.2, "n_segments": 9}, "out-of-range"),
        (detectable_effect, {"discordance": 0.1, "n_segments": 9}, "no-inference"),
        (
            sample_size,
            {"p10": 0.2, "p01": 0.1, "alternative": "up"},
            "unknown-alternative",
        ),
    ],
)
def test_bad_input(call, given, code):
    with pytest.raises(InputError) as caught:
        call(**given)
    assert caught.value.code == code


# --- real systems


def test_wmt24_pilot(data):
    from sigtext.comparison import compare

    def lines(name):
        text = (data / "wmt24_ende" / f"{name}.txt").read_text(encoding="utf-8")
        return text.split("\n")[1:-1]

    outputs = [lines(f"sys.{name}") for name in ("Claude-3.5", "GPT-4")]
    metric = metrics.bleu()
    a, b = metric.statistics_many(outputs, lines("refA"))
    plan = detectable_effect(a, b, metric)
    assert "997 segments like these show a difference of 1.04 BLEU" in plan.report()
    told = compare(a, b, metric=metric, n_resamples=99, rng=1)
    assert told.detectable == pytest.approx(plan.effect, rel=1e-12)
    for effect, chance, about in (
        (0.25, "0.1 ", "17,000"),
        (0.5, "0.27", "4,300"),
        (1, "0.77", "1,100"),
        (1.5, "0.98", "480"),
        (2, "> 0.99", "270"),
    ):
        assert f"power {chance}" in power(a, b, metric, effect=effect).report()
        report = sample_size(a, b, metric, effect=effect).report()
        assert f"About {about} segments" in report
