"""Clusters in real test sets: documents, tasks, environments; and a gap of two runs."""

import csv
from collections import defaultdict

import numpy as np
import pytest

from sigtext import metrics
from sigtext.clusters import (
    clustered_standard_error,
    design_effect,
    intraclass_correlation,
    outermost,
)
from sigtext.comparison import compare
from sigtext.exact_kinds import exact_test
from sigtext.resampling import as_pair, resample_effects


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines(path, skip=0):
    text = path.read_text(encoding="utf-8")
    return [line.removesuffix("\r") for line in text.split("\n")[:-1]][skip:]


# --- 27 tasks


@pytest.fixture(scope="module")
def tasks(data):
    rows = table(data / "bbh_codex" / "correct.csv")
    a, b = (
        np.array([float(r[c]) for r in rows]) for c in ("cot_correct", "direct_correct")
    )
    return a, b, np.array([r["task"] for r in rows])


def test_tasks_make_the_error_six_times_as_large(tasks):
    a, b, task = tasks
    by_item = clustered_standard_error(a, b, "accuracy")
    by_task = clustered_standard_error(a, b, "accuracy", clusters=task)
    assert (len(a), len(set(task))) == (6_511, 27)
    assert round(by_item, 4) == 0.0073 and round(by_task, 3) == 0.044
    found = design_effect(a, b, "accuracy", clusters=task)
    told = [round(x) for x in (found.estimate, found.low, found.high)]
    assert told == [35, 21, 58]  # as on the page
    sizes = np.unique(task, return_counts=True)[1]
    assert found.size == pytest.approx((sizes**2).sum() / 6_511)
    assert found.estimate == pytest.approx(by_task**2 / by_item**2 * 26 / 27, rel=1e-3)


def test_tasks_by_the_pairs_of_their_items(tasks):
    """The formula of inspect_ai, with the pairs added up task by task."""
    a, b, task = tasks
    gaps, total = a - b, 0.0
    for name in sorted(set(task)):
        e = (gaps - gaps.mean())[task == name]
        total += np.outer(e, e).sum()
    theirs = np.sqrt(total * 27 / 26) / len(gaps)
    assert clustered_standard_error(gaps, clusters=task) == pytest.approx(theirs)


def test_tasks_compared(tasks):
    a, b, task = tasks
    found = compare(a, b, metric="accuracy", clusters=task, cluster_word="tasks", rng=0)
    codes = [d.code for d in found.diagnostics]
    assert found.n_units == 27 and {"clusters-matter", "few-clusters"} <= set(codes)
    assert found.pvalue == exact_test(a, b, "accuracy", clusters=task).pvalue
    assert 2 * 2.0**-27 <= found.pvalue < 0.001  # by item it is 2e-180
    assert found.segment_pvalue < 1e-170
    names = {"tasks": task, "items": np.arange(len(a))}
    assert outermost(**names).report().startswith("The units are 27 tasks of 6,511")


# --- 170 documents


@pytest.fixture(scope="module")
def documents(data):
    folder = data / "wmt24_ende"
    docs = [line.split("\t")[1] for line in lines(folder / "docs.tsv", 1)]
    reference = lines(folder / "refA.txt", 1)
    names = ("ONLINE-B", "Unbabel-Tower70B", "Claude-3.5")
    outputs = [lines(folder / f"sys.{name}.txt", 1) for name in names]
    found = {}
    for metric in (metrics.bleu(), metrics.chrf(), metrics.wer()):
        rows = metric.statistics_many(outputs, reference)
        found[metric.name] = metric, dict(zip(names, rows, strict=True))
    return found, np.array(docs)


PRINTED = {"bleu": (2.24, 1.17), "chrf": (2.60, 1.31), "WER": (2.34, 1.31)}


@pytest.mark.parametrize("name", PRINTED)
def test_documents_change_a_spread(documents, name):
    found, docs = documents
    metric, rows = next(v for k, v in found.items() if k.lower() == name.lower())
    assert (len(docs), len(set(docs))) == (997, 170)
    a, b = rows["ONLINE-B"], rows["Unbabel-Tower70B"]
    effect = design_effect(a, b, metric, clusters=docs)
    pair = as_pair(a, b, metric, docs)
    cloud = np.concatenate(list(resample_effects(pair, 2_000, 1)))
    assert effect.error_by_cluster == pytest.approx(cloud.std(), rel=0.12)
    one = design_effect(a, metric=metric, clusters=docs)
    assert one.n_units == 170 and one.size == pytest.approx(effect.size)
    assert (round(one.estimate, 2), round(effect.estimate, 2)) == PRINTED[name]
    if name == "bleu":
        assert (round(effect.low, 2), round(effect.high, 2)) == (0.83, 1.65)
    # what makes a document hard is hard for both: pairing takes most of it out
    assert effect.low < 1 < effect.estimate < 1.5 < one.low < one.estimate


# --- 7 environments of 10 runs, and utterances


def test_runs_of_environments(data):
    last = defaultdict(dict)
    for r in table(data / "td3_seeds" / "learning_curves_td3.csv"):
        last[r["env"], r["seed"]][int(r["step"])] = float(r["return"])
    env = np.array([key[0] for key in last])
    end = np.array([curve[max(curve)] for curve in last.values()])
    assert len(end) == 70 and len(set(env)) == 7
    rho = intraclass_correlation(end, env)
    assert 0.5 < rho.low < rho.estimate < rho.high < 1
    # late against early: all seven environments rise, and no p is below 2/2^7
    early = np.array([curve[min(curve)] for curve in last.values()])
    found = exact_test(end, early, "mean", clusters=env)
    sums = {e: (end - early)[env == e].sum() for e in set(env)}
    assert min(sums.values()) > 0 and found.pvalue == pytest.approx(2 / 2**7)
    assert found.smallest_pvalue == 2 / 2**7


def test_speakers_are_not_recorded(data):
    """Utterances cannot be grouped by speaker here: say so, and keep them as units."""
    rows = table(data / "svarah_asr" / "per_utterance.csv")
    assert not [c for c in rows[0] if "speaker" in c or "client" in c]
    counts = defaultdict(dict)
    for r in rows:
        errors = sum(int(r[c]) for c in ("substitutions", "deletions", "insertions"))
        counts[r["backend_id"]][r["eval_id"]] = errors, int(r["reference_words"])
    first, second = sorted(counts)[:2]
    ids = sorted(counts[first])
    a, b = (np.array([counts[s][i] for i in ids], dtype=float) for s in (first, second))
    alone = design_effect(a, b, "wer", clusters=ids)
    assert alone.estimate == pytest.approx(1) and alone.n_units == 200
