"""`rule="sacrebleu"` is a bridge: sacreBLEU's own p-values from its seed, digit for digit."""

import tracemalloc
from functools import cache

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from sigtext import bootstrap_test
from sigtext.metrics import bleu, chrf, ter
from sigtext.testbeds import summaries, trigram

METRICS = {
    "BLEU": (bleu, BLEU, {}),
    "BLEU, no smoothing": (bleu, BLEU, {"smooth_method": "none"}),
    "chrF": (chrf, CHRF, {}),
    "chrF++": (chrf, CHRF, {"word_order": 2}),
    "TER": (ter, TER, {}),
}


@cache
def corpora():
    """(outputs of systems, the baseline first; lists of references) by name."""
    world = summaries.make()
    names = ("writer", "noisy-0.1", "textrank")
    said = [world.outputs[name] for name in names]
    made = trigram.make(**trigram.LENGTHS["long"])
    rows = trigram.continuations(made, np.random.default_rng(0), 1, 4)[0]
    texts = [[made.text(row) for row in system] for system in rows]
    theirs = [made.text(row) for row in made.references]
    return {
        "summaries": (said, [world.references]),
        "trigram": ([x[:60] for x in texts[:3]], [theirs[:60]]),
        "two references": ([x[:20] for x in texts[:3]], [theirs[:20], texts[3][:20]]),
        "seven segments": ([x[:7] for x in said], [world.references[:7]]),
        "one segment": ([x[:1] for x in texts[:2]], [theirs[:1]]),
        "identical": ([texts[0][:20], texts[0][:20]], [theirs[:20]]),
        "empty outputs": ([[""] * 9, texts[1][:9]], [theirs[:9]]),
    }


def their_pvalues(systems, references, peer, n_resamples):
    named = [(str(i), outputs) for i, outputs in enumerate(systems)]
    test = PairedTest(named, {"m": peer}, references, "bs", n_samples=n_resamples)
    scores = test()[1]
    return [result.p_value for result in list(scores.values())[1][1:]]


def our_pvalues(systems, references, metric, n_resamples, seed=12345):
    first, *others = metric.statistics_many(systems, references, progress=False)
    how = {"rule": "sacrebleu", "n_resamples": n_resamples, "rng": seed}
    return [bootstrap_test(x, first, metric, **how).pvalue for x in others]


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("corpus", corpora())
def test_digit_for_digit(corpus, name):
    ours, peer, options = METRICS[name]
    n = 1_000 if name == "BLEU" else 200  # 1,000 is sacreBLEU's default
    systems, references = corpora()[corpus]
    if name == "TER":  # sacreBLEU takes its time to count edits
        systems, references = ([x[:12] for x in y] for y in (systems, references))
    theirs = their_pvalues(systems, references, peer(**options), n)
    assert our_pvalues(systems, references, ours(**options), n) == theirs


def test_another_seed(monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    systems, references = corpora()["two references"]
    theirs = their_pvalues(systems, references, BLEU(), 1_000)
    assert our_pvalues(systems, references, bleu(), 1_000, seed=7) == theirs
    assert our_pvalues(systems, references, bleu(), 1_000) != theirs


def test_labelled():
    systems, references = corpora()["seven segments"]
    rows = bleu().statistics_many(systems[:2], references, progress=False)
    result = bootstrap_test(*rows, "bleu", rule="sacrebleu", n_resamples=99, rng=0)
    assert result.method == "sacrebleu bootstrap"
    assert "rejects 0.11 of true nulls" in result.notes[0]
    assert "sacrebleu bootstrap" in result.report("BLEU")


def test_memory_is_flat():
    """sacreBLEU's indices and rows would take 80 MB and 400 MB for each system here."""
    rows = np.random.default_rng(0).integers(1, 9, size=(2, 20_000, 10)).astype(float)
    how = {"rule": "sacrebleu", "n_resamples": 500, "rng": 12345}
    bootstrap_test(*rows[:, :10], "bleu", **how)
    tracemalloc.start()
    flat = bootstrap_test(*rows, "bleu", memory=2**22, **how).pvalue
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20
    assert flat == bootstrap_test(*rows, "bleu", **how).pvalue
