"""Real systems against values that other tools computed for them (gold.json).

Two drawn p-values of one test are two binomial counts with one probability. They agree
if the split of their sum is no rarer than one in a million (hypergeometric).
"""

import csv
import json

import numpy as np
import pytest

from sigtext import metrics
from sigtext.comparison import compare
from sigtext.exact_kinds import exact_test
from sigtext.randomization import randomization_test

DRAWS = 9_999


def gold(folder):
    """Results of the other tools by name."""
    results = json.loads((folder / "gold.json").read_text(encoding="utf-8"))["results"]
    return {r.get("name") or r["label"]: r["value"] for r in results if "value" in r}


def agree(p, theirs, n=DRAWS):
    """Whether two Monte Carlo p-values of one test can be so far apart."""
    from scipy.stats import hypergeom

    ours, other = round(p * (DRAWS + 1)) - 1, max(round(theirs * (n + 1)) - 1, 0)
    law = hypergeom(DRAWS + n, ours + other, DRAWS)
    return min(law.cdf(ours), law.sf(ours - 1)) > 5e-7


def lines(path, skip=0):
    text = path.read_text(encoding="utf-8")
    return [line.removesuffix("\r") for line in text.split("\n")[:-1]][skip:]


# --- translation: sacreBLEU's scores and approximate randomization


def test_wmt24_against_sacrebleu(data):
    folder = data / "wmt24_ende"
    told = gold(folder)["ende.7sys.bleuchrf.ar10000"]
    reference = lines(folder / "refA.txt", 1)
    base, *others = (entry["system"].split("sys.")[-1] for entry in told)
    outputs = {name: lines(folder / f"sys.{name}", 1) for name in (base, *others)}
    for metric, key in ((metrics.bleu(), "BLEU"), (metrics.chrf(), "chrF2")):
        rows = metric.statistics_many(outputs.values(), reference)
        for entry, mine in zip(told, rows, strict=True):
            score = float(metric.score(mine.sum(axis=0)))
            assert score == pytest.approx(entry[key]["score"], abs=1e-9)
        for entry, mine in list(zip(told, rows, strict=True))[1:]:
            p = randomization_test(rows[0], mine, metric, rng=1).pvalue
            assert agree(p, entry[key]["p_value"], 10_000), (entry["system"], key, p)


def test_wmt24_identical_systems(data):
    """sacreBLEU gives these 0.0001, because it counts with > and not >=."""
    folder = data / "wmt24_ende"
    told = gold(folder)["ende.identical.bleu.ar10000"]
    reference = lines(folder / "refA.txt", 1)
    a, b = (lines(folder / f"sys.{name}.txt", 1) for name in ("CycleL", "CycleL2"))
    ours = compare(a, b, reference, rng=0)
    assert a == b and ours.pvalue == 1 and ours.effect == 0
    assert (ours.interval.low, ours.interval.high) == (0, 0)
    assert [d.code for d in ours.diagnostics] == ["identical-outputs"]
    assert told[1]["BLEU"]["p_value"] < 1.1e-4
    assert ours.scores[0] == pytest.approx(told[0]["BLEU"]["score"], abs=1e-9)


@pytest.mark.parametrize("refs", ["A", "C", "D", "ACD"])
def test_wmt21_against_sacrebleu(data, refs):
    folder = data / "wmt21_ende_mqm"
    told = gold(folder)[f"wmt21.4sys.ref{refs}.ar10000"]
    references = [lines(folder / f"ref{r}.txt") for r in refs]
    outputs = [lines(folder / entry["system"].split("wmt21.")[-1]) for entry in told]
    for metric, key in ((metrics.bleu(), "BLEU"), (metrics.chrf(), "chrF2")):
        rows = metric.statistics_many(outputs, references)
        for i, (entry, mine) in enumerate(zip(told, rows, strict=True)):
            score = float(metric.score(mine.sum(axis=0)))
            assert score == pytest.approx(entry[key]["score"], abs=1e-9)
            if i:
                p = randomization_test(rows[0], mine, metric, rng=1).pvalue
                assert agree(p, entry[key]["p_value"], 10_000), (
                    entry["system"],
                    key,
                    p,
                )


def test_wmt21_human_scores(data):
    """Means of MQM scores: SciPy doubles the smaller side, so one side is compared."""
    folder = data / "wmt21_ende_mqm"
    scores = {}
    for line in lines(folder / "mqm_avg_seg_scores.tsv")[1:]:
        system, rest = line.split("\t")
        value, _ = rest.split(" ")
        scores.setdefault(system, []).append(
            np.nan if value == "None" else float(value)
        )
    told = gold(folder)
    pairs = [name for name in told if name.startswith("MQM perm9999")]
    assert len(pairs) == 3
    for name in pairs:
        one, two = name.removeprefix("MQM perm9999 ").split(" vs ")
        a, b = np.array(scores[one]), np.array(scores[two])
        keep = ~np.isnan(a) & ~np.isnan(b)
        side = "greater" if told[name]["mean_diff"] > 0 else "less"
        ours = randomization_test(a[keep], b[keep], "mean", alternative=side, rng=1)
        assert ours.n_segments == told[name]["n"]
        assert ours.effect == pytest.approx(told[name]["mean_diff"], abs=1e-9)
        assert agree(ours.pvalue, told[name]["pvalue"] / 2), (name, ours.pvalue)


# --- entities: span F1 from tags


def spans(tags):
    """Entities of one sentence as (start, end, type), lenient as conlleval is."""
    found, start, kind = set(), None, None
    for i, tag in enumerate([*tags, "O"]):
        mark, _, name = tag.partition("-")
        if start is not None and (mark in ("O", "B") or name != kind):
            found.add((start, i, kind))
            start = None
        if mark != "O" and start is None:
            start, kind = i, name
    return found


def sentences(path, column):
    found, now = [], []
    for line in [*lines(path), path.read_text(encoding="utf-8").split("\n")[-1], ""]:
        cells = line.split()
        if cells:
            now.append(cells[column])
        elif now:
            found.append(now)
            now = []
    return found


def span_counts(path, gold_path, column=-1):
    """(n, 3) true positives, false positives, false negatives of each sentence."""
    pairs = zip(sentences(path, column), sentences(gold_path, column), strict=True)
    both = [(spans(mine), spans(true)) for mine, true in pairs]
    return np.array([[len(m & t), len(m - t), len(t - m)] for m, t in both])


@pytest.mark.parametrize(
    "folder, true, systems",
    [
        (
            "wnut17_ner",
            "gold.emerging.test.annotated",
            {
                "uh_ritual": "sub.uh_ritual",
                "arcada": "sub.arcada",
                "mic-cis.txt": "sub.mic-cis.txt",
            },
        ),
        ("conll03_tags", "gold.tags", {"flair": "flair.tags", "elmo": "elmo.tags"}),
    ],
)
def test_entities_against_seqeval(data, folder, true, systems):
    folder = data / folder
    told, f1 = gold(folder), metrics.f_score()
    counts = {k: span_counts(folder / v, folder / true) for k, v in systems.items()}
    for name, rows in counts.items():
        score = float(f1.score(rows.sum(axis=0)))
        assert score == pytest.approx(told[f"seqeval {name}"]["f1"], abs=1e-12)
    for name in [k for k in told if k.startswith("AR micro-F1")]:
        one, two = name.removeprefix("AR micro-F1 ").split(" vs ")
        ours = randomization_test(counts[one], counts[two], f1, rng=1)
        assert ours.effect == pytest.approx(told[name]["f1_diff"], abs=1e-12)
        assert agree(ours.pvalue, told[name]["pvalue"]), (name, ours.pvalue)
        exact = exact_test(counts[one], counts[two], f1)
        assert exact.method == "exact (joint counts)"
        assert drawn_around(ours.pvalue, exact.pvalue), (name, exact.pvalue)
        assert drawn_around(told[name]["pvalue"], exact.pvalue), (name, exact.pvalue)


# --- right or wrong: McNemar's exact p is what the draws estimate


def drawn_around(p, exact):
    """Whether a drawn p is what draws around the exact one give, but once in 1e6."""
    from scipy.stats import binom

    count = round(p * (DRAWS + 1)) - 1
    law = binom(DRAWS, exact)
    return min(law.cdf(count), law.sf(count - 1)) > 5e-7


def resampled_gap(wins, losses, n):
    """P(n times the resampled gap <= x) for x from -n to n: n steps of +1, 0 or -1."""
    step = np.zeros(2 * n + 1)
    step[[1, 0, -1]] = np.array([wins, n - wins - losses, losses]) / n
    mass = np.fft.ifft(np.fft.fft(step) ** n).real
    return np.clip(np.cumsum(np.roll(mass, n)), 0, 1)


def quantile_of(law, x, level, draws=DRAWS):
    """Whether x can be the `level` quantile of so many draws, at one in a million.

    It lies between two neighbouring draws, so at least `level * draws - 2` of them are
    at most x rounded up, and at most `level * draws + 2` are below x rounded down.
    """
    from scipy.stats import binom

    at, n = level * draws, len(law) // 2
    most = binom(draws, law[int(np.ceil(x - 1e-6)) + n])
    least = binom(draws, law[int(np.floor(x + 1e-6)) - 1 + n])
    return min(most.sf(np.floor(at) - 3), least.cdf(np.ceil(at) + 2)) > 5e-7


def test_sst2_against_mcnemar(data):
    folder = data / "sst2_labels"
    true, cnn, lstm = (lines(folder / f"{x}.txt") for x in ("gold", "cnn", "lstm"))
    a, b = (np.equal(np.array(x), np.array(true)).astype(float) for x in (cnn, lstm))
    told = gold(folder)
    how = {"method": "randomization", "names": ("cnn", "lstm")}
    ours = compare(a, b, metric="accuracy", rng=1, **how)
    scores = told["acc cnn vs lstm"]
    assert ours.scores == pytest.approx((scores["cnn"], scores["lstm"]), abs=1e-12)
    assert ours.wins == (59, 101)
    assert drawn_around(ours.pvalue, told["mcnemar cnn vs lstm"]["exact"]["pvalue"])
    exact = compare(a, b, metric="accuracy", rng=1).pvalue
    assert exact == pytest.approx(told["mcnemar cnn vs lstm"]["exact"]["pvalue"], 1e-10)
    ends = told["bootstrap CI percentile cnn vs lstm"]
    law = resampled_gap(59, 101, len(a))
    for low, high in (
        (ours.interval.low, ours.interval.high),
        (ends["low"], ends["high"]),
    ):
        assert quantile_of(law, low * len(a), 0.025), low
        assert quantile_of(law, high * len(a), 0.975), high
        assert not quantile_of(law, low * len(a) + 3, 0.025)  # the control


def test_gsm8k_against_mcnemar(data):
    folder, told = data / "gsm8k_llm", gold(data / "gsm8k_llm")
    with open(folder / "correct.csv", encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    right = {k: np.array([float(r[k]) for r in rows]) for k in list(rows[0])[2:]}
    pairs = [name for name in told if name.startswith("mcnemar")]
    assert pairs
    for name in pairs:
        one, two = name.removeprefix("mcnemar ").split(" vs ")
        table = told[name]["table_[A_right/wrong]x[B_right/wrong]"]
        how = {"metric": "accuracy", "rng": 1}
        ours = compare(right[one], right[two], method="randomization", **how)
        assert ours.wins == (table[0][1], table[1][0])
        assert drawn_around(ours.pvalue, told[name]["exact"]["pvalue"]), name
        exact = compare(right[one], right[two], **how).pvalue
        assert exact == pytest.approx(told[name]["exact"]["pvalue"], rel=1e-10)


# --- speech: pooled word error rate


def test_svarah_against_jiwer(data):
    folder, told = data / "svarah_asr", gold(data / "svarah_asr")
    with open(folder / "per_utterance.csv", encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    texts = {}
    for r in rows:
        pair = (r["normalized_hypothesis"], r["normalized_reference"])
        texts.setdefault(r["backend_id"], {})[r["eval_id"]] = pair
    ids, wer = sorted(next(iter(texts.values()))), metrics.wer()
    counts = {}
    for name, found in texts.items():
        outputs, references = zip(*(found[i] for i in ids), strict=True)
        counts[name] = wer.statistics(list(outputs), list(references))
        score = float(wer.score(counts[name].sum(axis=0)))
        assert score == pytest.approx(
            told[f"jiwer corpus WER {name}"]["wer"], abs=1e-12
        )
    pairs = [name for name in told if name.startswith("perm9999 corpus WER")]
    assert len(pairs) == 4
    for name in pairs:
        one, two = name.removeprefix("perm9999 corpus WER ").split(" vs ")
        side = "less" if told[name]["wer_diff"] > 0 else "greater"  # lower is better
        ours = randomization_test(
            counts[one], counts[two], wer, alternative=side, rng=1
        )
        assert ours.effect == pytest.approx(told[name]["wer_diff"], abs=1e-12)
        assert agree(ours.pvalue, told[name]["pvalue"] / 2), (name, ours.pvalue)
        exact = exact_test(counts[one], counts[two], wer, alternative=side)
        assert exact.method == "exact (pooled ratio)"
        assert drawn_around(ours.pvalue, exact.pvalue), (name, exact.pvalue)
        assert drawn_around(told[name]["pvalue"] / 2, exact.pvalue), name
