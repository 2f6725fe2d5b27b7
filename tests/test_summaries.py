"""The testbed of summaries: the same world everywhere, and sacreBLEU agrees on it."""

import subprocess
import sys
from time import perf_counter

import numpy as np
import pytest
import sacrebleu

from sigtext.testbeds.summaries import (
    PARAMETERS,
    fact_counts,
    make,
    pair,
    scored,
    textrank,
    token_bleu,
)

SYSTEMS = (
    "writer noisy-0.1 noisy-0.3 noisy-0.5 flipped terse extract textrank lead3 sumbasic"
)
DIGEST = """
import zlib
from sigtext.testbeds.summaries import make
world = make()
texts = [world.references, world.documents, *world.outputs.values()]
print(zlib.crc32("\\n".join(sum(texts, [])).encode()))
"""


@pytest.fixture(scope="module")
def world():
    return make()


def test_shape(world):
    assert " ".join(world.outputs) == SYSTEMS and list(world.facts) == SYSTEMS.split()
    for texts in (world.references, world.documents, *world.outputs.values()):
        assert len(texts) == 90 and all(texts)
        assert all(x == " ".join(x.split()) for x in texts), (
            "single blanks between tokens"
        )
    for counts in world.facts.values():
        assert counts.shape == (90, 3) and (counts[:, 0] <= counts[:, 1]).all()
        assert (counts[:, 1] <= counts[:, 2]).all() and (counts[:, 2] == 3).all()
    assert world.seed == 5 and world.parameters == PARAMETERS


def test_the_shipped_world_does_not_move():
    """Its figures stand on pages and in the demo; a new draw anywhere changes them all."""
    run = [sys.executable, "-c", DIGEST]
    found = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert int(found) == 1050215578, "the world changed, or NumPy's streams did"


def test_a_second_is_enough():
    start = perf_counter()
    make(6)
    assert perf_counter() - start < 1


@pytest.mark.parametrize("name", SYSTEMS.split())
def test_sacrebleu_gives_the_same_score(world, name):
    out, references = world.outputs[name], [world.references]
    how = {"tokenize": "none", "smooth_method": "none"}
    ours = token_bleu().score(scored()[name].sum(axis=0))
    theirs = sacrebleu.corpus_bleu(out, references, **how)
    assert ours == pytest.approx(theirs.score, abs=1e-9)
    assert theirs.sys_len == sum(len(x.split()) for x in out)


def test_extractors_copy(world):
    for name in ("extract", "textrank", "lead3", "sumbasic"):
        for text, document in zip(world.outputs[name], world.documents, strict=True):
            sentences = [x.strip() for x in text.split(" .") if x.strip()]
            assert len(sentences) == 3 and all(x in document for x in sentences)
        assert (world.facts[name][:, 0] == world.facts[name][:, 1]).all()
    assert (world.facts["extract"] == 3).all()


@pytest.mark.parametrize("document", range(5))
def test_textrank_is_the_fixed_point(document):
    """The rank solves r = (1 - d) / s + d r P, here by linear algebra."""
    sentences = tuple(x + " ." for x in make(1).documents[document].split(" .")[:-1])
    words = [x.split() for x in sentences]
    links = np.zeros((7, 7))
    for i, a in enumerate(words):
        for j, b in enumerate(words):
            both = len(set(a) & set(b)) if i != j else 0
            links[i, j] = both / (np.log(len(a)) + np.log(len(b)))
    links /= links.sum(axis=1, keepdims=True)
    rank = np.linalg.solve(np.eye(7) - 0.85 * links.T, np.full(7, 0.15 / 7))
    third, fourth = np.sort(rank)[[-3, -4]]
    assert third - fourth > 1e-6, "a tie: take another document"
    assert textrank(sentences) == sorted(np.argsort(-rank)[:3])


def test_noise_turns_its_share_of_the_facts():
    big = make(0, 3_000)
    for name in ("noisy-0.1", "noisy-0.3", "noisy-0.5"):
        wrong = 1 - big.facts[name][:, 0].sum() / 9_000
        assert wrong == pytest.approx(float(name[6:]), abs=0.03)


def test_nested_noise_keeps_what_less_noise_turned():
    nested = make(nested=True).facts
    counts = [nested[f"noisy-{x}"][:, 0] for x in (0.1, 0.3, 0.5)]
    assert (counts[0] >= counts[1]).all() and (counts[1] >= counts[2]).all()
    plain = make().facts
    assert (plain["noisy-0.1"][:, 0] < plain["noisy-0.3"][:, 0]).any()


def test_words_of_the_writer_follow_the_parameters():
    def said(**how):
        return make(2, **how).outputs["writer"]

    assert not any(" its " in x.split("quarter .")[1] for x in said(its=0))
    assert all(x.split("quarter .")[1].count("its ") == 3 for x in said(its=1))
    assert all("percent" not in x for x in said(percent=0))
    assert all(x.count("sharply") == 3 for x in said(sharply=1))


def test_pair_is_what_compare_takes(world):
    a, b, references = pair(world, "extract", "textrank")
    assert a is world.outputs["extract"] and b is world.outputs["textrank"]
    assert references is world.references
    with pytest.raises(ValueError, match="no system 'gpt'"):
        pair(world, "writer", "gpt")


def test_columns_of_the_facts(world):
    tp, fp, fn = fact_counts(world, "terse").T
    assert (tp == 2).all() and (fp == 0).all() and (fn == 1).all()
    tp, fp, fn = fact_counts(world, "flipped").T
    assert (tp == 0).all() and (fp == 3).all() and (fn == 3).all()


@pytest.mark.parametrize(
    "how, error", [({"n": 0}, ValueError), ({"verbs": 2}, TypeError)]
)
def test_refusals(how, error):
    with pytest.raises(error):
        make(**how)
