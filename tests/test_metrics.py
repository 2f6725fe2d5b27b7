"""Metrics against sacreBLEU, published counts and other people's scores."""

import copy
import csv
import json
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import sacrebleu
from hypothesis import assume, given
from hypothesis import strategies as st

from sigtext import metrics
from sigtext.metrics import as_metric, get
from sigtext.result import InputError, InputTypeError

pytestmark = pytest.mark.filterwarnings("error")


def lines(path, skip=0):
    """The lines of a file; LF alone ends one."""
    return path.read_bytes().decode("utf-8").rstrip("\n").split("\n")[skip:]


@pytest.fixture(scope="module")
def wmt24(data):
    folder = data / "wmt24_ende"
    systems = {p.name[4:-4]: lines(p, 1) for p in sorted(folder.glob("sys.*.txt"))}
    references = [lines(folder / f"ref{x}.txt", 1) for x in "AB"]
    return systems, references, gold(folder)


@pytest.fixture(scope="module")
def wmt21(data):
    folder = data / "wmt21_ende_mqm"
    systems = {p.name[4:-4]: lines(p) for p in sorted(folder.glob("sys.*.txt"))}
    references = {x: lines(folder / f"ref{x}.txt") for x in "ACD"}
    return systems, references, gold(folder)


def gold(folder):
    """What sacreBLEU's own command printed: run -> system -> metric -> score."""
    runs = json.loads((folder / "gold.json").read_text())["results"]
    found = {}
    for run in runs:
        if "-f json" in run.get("cmd", "") and run.get("value"):
            found[run["name"]] = {
                x["system"].split("sys.")[1][:-4]: {
                    m: x[m]["score"] for m in x if m != "system"
                }
                for x in run["value"]
            }
    return found


def same_as_sacrebleu(kind, options, systems, references):
    """Rows, scores and signature are sacreBLEU's, for every system."""
    ours = getattr(metrics, kind.lower())(**options)
    theirs = getattr(sacrebleu.metrics, kind)(**options)
    theirs._ref_cache = theirs._cache_references(references)
    found = ours.statistics_many(systems.values(), references, names=list(systems))
    for outputs, rows in zip(systems.values(), found, strict=True):
        wanted = theirs._extract_corpus_statistics(outputs, None)
        np.testing.assert_array_equal(rows, np.array(wanted, dtype=float))
        score = theirs._aggregate_and_compute(wanted)
        assert ours.score(rows.sum(axis=0)) == pytest.approx(score.score, abs=1e-9)
        assert ours.label == score.name
    signature = f"{score.name}|{theirs.get_signature()}"
    assert ours.with_references(references).signature == signature


# --- sacreBLEU on real outputs

BLEU_OPTIONS = [
    {},
    {"tokenize": "zh"},
    {"tokenize": "none", "smooth_method": "none"},
    {"tokenize": "char", "max_ngram_order": 6},
    {"tokenize": "intl", "lowercase": True},
    {"smooth_method": "floor", "effective_order": True},
    {"smooth_method": "floor", "smooth_value": 0.3, "max_ngram_order": 2},
    {"smooth_method": "add-k"},
    {"smooth_method": "add-k", "smooth_value": 2.5, "effective_order": True},
]
CHRF_OPTIONS = [
    {},
    {"word_order": 2},
    {"char_order": 3, "word_order": 1, "beta": 1, "lowercase": True},
    {"beta": 3, "whitespace": True, "eps_smoothing": True},
]
TER_OPTIONS = [
    {},
    {"normalized": True, "case_sensitive": True},
    {"no_punct": True},
    {"normalized": True, "asian_support": True},
]


def cut(systems, references, n):
    return {k: x[:n] for k, x in systems.items()}, [x[:n] for x in references]


@pytest.mark.parametrize("options", BLEU_OPTIONS, ids=str)
def test_bleu_is_sacrebleus(wmt24, options):
    systems, references, _ = wmt24
    same_as_sacrebleu("BLEU", options, *cut(systems, references[:1], 50))


@pytest.mark.parametrize("options", BLEU_OPTIONS, ids=str)
def test_bleu_is_sacrebleus_where_little_matches(wmt24, options):
    """Ten segments of systems that hardly match: smoothing at work."""
    systems, references, _ = wmt24
    for start in range(0, 12, 2):
        few = {k: [t[:60] for t in x[start : start + 2]] for k, x in systems.items()}
        same_as_sacrebleu("BLEU", options, few, [references[1][start : start + 2]])


@pytest.mark.parametrize("options", CHRF_OPTIONS, ids=str)
def test_chrf_is_sacrebleus(wmt24, options):
    systems, references, _ = wmt24
    same_as_sacrebleu("CHRF", options, *cut(systems, references[:1], 25))


@pytest.mark.parametrize("options", TER_OPTIONS, ids=str)
def test_ter_is_sacrebleus(wmt21, options):
    systems, references, _ = wmt21
    same_as_sacrebleu("TER", options, *cut(systems, [references["A"]], 8))


@pytest.mark.parametrize("kind, n", [("BLEU", 100), ("CHRF", 25), ("TER", 5)])
@pytest.mark.parametrize("which", ["CA", "ACD"])
def test_several_references(wmt21, kind, n, which):
    systems, references, _ = wmt21
    same_as_sacrebleu(kind, {}, *cut(systems, [references[x] for x in which], n))


@pytest.mark.parametrize("kind, n", [("BLEU", 50), ("CHRF", 15), ("TER", 5)])
def test_missing_and_empty_references(wmt21, kind, n):
    systems, references, _ = wmt21
    systems, streams = cut(systems, references.values(), n)
    streams[0][1::3] = [None] * len(streams[0][1::3])
    streams[1][2::3] = [""] * len(streams[1][2::3])
    streams[2][::3] = [None] * len(streams[2][::3])
    same_as_sacrebleu(kind, {}, systems, streams)
    text = get(kind.lower()).with_references(streams).signature
    assert "nrefs:var" in text


def test_whole_corpora_give_the_scores_of_the_command(wmt24, wmt21):
    systems, references, peer = wmt24
    runs = [
        ("ende.7sys.bleuchrf.ar10000", systems, references[0], "bleu"),
        ("ende.2sys.chrf.ar10000", systems, references[0], "chrf"),
        ("ende.4sys.2refs.ar10000", systems, references, "bleu"),
        ("wmt21.4sys.refACD.ar10000", wmt21[0], list(wmt21[1].values()), "bleu"),
        ("wmt21.4sys.refA.ar10000", wmt21[0], wmt21[1]["A"], "bleu"),
    ]
    for run, outputs, streams, name in runs:
        metric, wanted = get(name), (peer | wmt21[2])[run]
        rows = metric.statistics_many([outputs[s] for s in wanted], streams)
        for system, x in zip(wanted, rows, strict=True):
            score = wanted[system][metric.label]
            assert metric.score(x.sum(axis=0)) == pytest.approx(score, abs=1e-9), run
    assert len(peer["ende.7sys.bleuchrf.ar10000"]) == 7


def test_equal_outputs_are_counted_once(wmt24, monkeypatch):
    systems, references, _ = wmt24
    calls = []
    count = sacrebleu.metrics.BLEU._compute_segment_statistics
    prepare = sacrebleu.metrics.BLEU._extract_reference_info

    def spy(self, *arguments):
        calls.append("output")
        return count(self, *arguments)

    def spy_reference(self, *arguments):
        calls.append("reference")
        return prepare(self, *arguments)

    monkeypatch.setattr(sacrebleu.metrics.BLEU, "_compute_segment_statistics", spy)
    monkeypatch.setattr(
        sacrebleu.metrics.BLEU, "_extract_reference_info", spy_reference
    )
    two = [systems["CycleL"][:200], systems["CycleL2"][:200]]
    refs = references[0][:200]
    one, other = metrics.bleu().statistics_many(two, refs)
    np.testing.assert_array_equal(one, other)
    assert calls.count("reference") == len(set(refs))
    assert calls.count("output") == len(set(zip(two[0], refs, strict=True)))


def test_no_bar_in_a_pipe():
    code = (
        "import tqdm, sigtext.metrics as m; tqdm.tqdm.delay = 0\n"
        "m.ter().statistics(['a b c d'] * 40, ['d c b a'] * 40)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_import_is_light():
    code = "import sys, sigtext.metrics; print('sacrebleu' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "False\n"


# --- word errors and entities on real outputs


def test_word_errors_are_those_published(data):
    folder = data / "svarah_asr"
    with open(folder / "per_utterance.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    results = json.loads((folder / "gold.json").read_text())["results"]
    head = "jiwer corpus WER "
    peer = {
        x["label"].removeprefix(head): x["value"]
        for x in results
        if x["label"].startswith(head)
    }
    wer, seen = metrics.wer(), 0
    for system in sorted({r["backend_id"] for r in rows}):
        mine = [r for r in rows if r["backend_id"] == system]
        texts = [
            [r[f"normalized_{x}"] for r in mine] for x in ("hypothesis", "reference")
        ]
        found = wer.statistics(*texts)
        kinds = ("substitutions", "deletions", "insertions")
        edits = [sum(int(r[x]) for x in kinds) for r in mine]
        counts = np.array(
            [(e, int(r["reference_words"])) for e, r in zip(edits, mine, strict=True)]
        )
        np.testing.assert_array_equal(found[:, 1], counts[:, 1])
        assert (found[:, 0] <= counts[:, 0]).all()
        assert found[:, 0].sum() == counts[:, 0].sum()
        np.testing.assert_array_equal(wer.statistics(counts), counts)
        if system in peer:
            seen += 1
            assert wer.score(found.sum(axis=0)) == pytest.approx(
                peer[system]["wer"], abs=1e-12
            )
    assert seen == len(peer) > 3


def spans(tags):
    """Entities (type, first, last) of one sentence, as the CoNLL script reads them."""
    found, start, kind = set(), None, None
    for i, tag in enumerate([*tags, "O"]):
        mark, _, name = tag.partition("-")
        inside = mark == "I" and name == kind
        if kind is not None and not inside:
            found.add((kind, start, i - 1))
            kind = None
        if mark == "B" or (mark == "I" and not inside):
            start, kind = i, name
    return found


def sentences(path):
    """The tags of each sentence, the last column of a file in CoNLL's form."""
    out = [[]]
    for line in path.read_bytes().decode("utf-8").replace("\r\n", "\n").split("\n"):
        if line.strip():
            out[-1].append(line.split()[-1])
        elif out[-1]:
            out.append([])
    return [x for x in out if x]


@pytest.mark.parametrize(
    "folder, truth",
    [("wnut17_ner", "gold.emerging.test.annotated"), ("conll03_tags", "gold.tags")],
)
def test_entity_scores_are_seqevals(data, folder, truth):
    folder = data / folder
    results = json.loads((folder / "gold.json").read_text())["results"]
    peer = {
        x["label"].split()[1]: x["value"]
        for x in results
        if x["label"].split()[0] == "seqeval" and "p" in x["value"]
    }
    right = [spans(x) for x in sentences(folder / truth)]
    named = [(p.name.removeprefix("sub."), p) for p in folder.iterdir()]
    files = {name.removesuffix(".tags"): p for name, p in named}
    assert set(peer) < set(files) and len(peer) >= 2
    for name in peer:
        found = [spans(x) for x in sentences(files[name])]
        pairs = list(zip(found, right, strict=True))
        counts = [(len(x & y), len(x - y), len(y - x)) for x, y in pairs]
        rows = metrics.f_score().statistics(counts)
        wanted, total = peer[name], rows.sum(axis=0)
        assert metrics.f_score().score(total) == pytest.approx(wanted["f1"], abs=1e-12)
        p, r = metrics.precision(), metrics.recall()
        assert p.score(total[:2]) == pytest.approx(wanted["p"], abs=1e-12)
        assert r.score(total[[0, 2]]) == pytest.approx(wanted["r"], abs=1e-12)


# --- properties

counts = st.integers(1, 10**6)
METRICS = {
    "accuracy": metrics.accuracy(),
    "mean": metrics.mean(),
    "ratio": metrics.ratio(),
    "precision": metrics.precision(),
    "recall": metrics.recall(),
    "f1": metrics.f_score(),
    "f0.5": metrics.f_score(0.5),
    "wer": metrics.wer(),
    "ter": metrics.ter(),
    "bleu": metrics.bleu(smooth_method="none"),
    "bleu6": metrics.bleu(smooth_method="none", max_ngram_order=6),
    "chrf": metrics.chrf(),
    "chrf++": metrics.chrf(word_order=2),
    "chrf-eps": metrics.chrf(eps_smoothing=True, beta=3),
}
SMOOTHED = {
    "exp": metrics.bleu(),
    "floor": metrics.bleu(smooth_method="floor"),
    "add-k": metrics.bleu(smooth_method="add-k", smooth_value=0.7),
    "effective": metrics.bleu(effective_order=True),
}
every = pytest.mark.parametrize("name", METRICS)


def totals(metric, data):
    return np.array(
        data.draw(st.lists(counts, min_size=metric.k, max_size=metric.k)), float
    )


@every
@given(data=st.data())
def test_degree_zero_and_euler(name, data):
    metric = METRICS[name]
    row = totals(metric, data)
    assume(metric.name != "bleu" or row[1] < 100 * row[0])
    factor = data.draw(st.integers(2, 1000))
    score = metric.score(row)
    assert metric.score(factor * row) == pytest.approx(score, rel=1e-12)
    assert metric.score(4 * row) == score
    gradient = metric.gradient(row)
    size = np.abs(gradient * row).max() + abs(score)
    assert abs(gradient @ row) <= 1e-13 * size * metric.k


@pytest.mark.parametrize("name", METRICS | SMOOTHED)
@given(data=st.data())
def test_gradient_is_the_slope(name, data):
    metric = (METRICS | SMOOTHED)[name]
    row = totals(metric, data)
    if metric.name == "bleu":
        assume(abs(row[0] / row[1] - 1) > 1e-3)
    step = 1e-4 * row * np.eye(metric.k)
    up, down = metric.score(row + step), metric.score(row - step)
    slopes = (up - down) / 2e-4
    found = metric.gradient(row) * row
    assume(np.abs(slopes).max() > 1e-250)
    # the central difference is off by a sixth of the third derivative: r/c has any size
    wide = max(1, (row[1] / row[0]) ** 2) if metric.name == "bleu" else 1
    noise = 1e-11 * abs(metric.score(row))
    error = np.abs(found - slopes).max()
    assert error <= 1e-7 * wide * np.abs(slopes).max() + noise


@pytest.mark.parametrize("name", METRICS | SMOOTHED)
def test_any_leading_axes(name):
    metric = (METRICS | SMOOTHED)[name]
    rows = np.random.default_rng(1).integers(0, 4, (3, 4, 5, metric.k)).astype(float)
    score, gradient = metric.score(rows), metric.gradient(rows)
    assert score.shape == (3, 4, 5) and gradient.shape == rows.shape
    assert metric.score(rows[:0]).shape == (0, 4, 5)
    assert metric.gradient(rows[:0]).shape == (0, 4, 5, metric.k)
    for i in np.ndindex(3, 4, 5):
        np.testing.assert_array_equal(metric.score(rows[i]), score[i])
        np.testing.assert_array_equal(metric.gradient(rows[i]), gradient[i])
    assert np.ndim(metric.score(rows[0, 0, 0])) == 0
    assert metric.score(rows.astype(int).tolist()).tolist() is not None


def test_accuracy_counts_in_integers():
    rows = metrics.accuracy().statistics([1, 0, 1] * 33_333)
    swaps = np.random.default_rng(2).integers(0, 2, (50, len(rows)))
    sums = swaps @ rows
    assert (sums % 1 == 0).all() and (sums[:, 1] == swaps.sum(axis=1)).all()
    assert metrics.accuracy().score(rows.sum(axis=0)) == 2 / 3


def test_short_outputs_do_not_warn():
    bleu = metrics.bleu(smooth_method="none")
    rows = bleu.statistics(["", "", "a", "a b c d e"], ["a b", "", "", "a b c d e"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bleu.score(rows.cumsum(axis=0)).tolist()[:3] == [0, 0, 0]
        bleu.gradient(rows)
        metrics.chrf().gradient(np.zeros((2, 18)))


def test_empty_outputs_everywhere():
    for name in ("bleu", "chrf"):
        metric = get(name)
        rows = metric.statistics([""] * 4, ["a b c d e"] * 4)
        assert metric.score(rows.sum(axis=0)) == 0


@given(
    st.lists(st.sampled_from("abc"), max_size=70),
    st.lists(st.sampled_from("abc"), max_size=70),
)
def test_word_edits(output, reference):
    from sigtext.text_metrics import edit_table, word_edits

    assert word_edits(output, reference) == edit_table(output, reference)


# --- objects and input


@pytest.mark.parametrize("name", metrics.NAMES)
def test_metrics_travel_and_compare(name):
    metric = get(name)
    other = pickle.loads(pickle.dumps(metric))
    assert other == metric == copy.deepcopy(metric) and hash(other) == hash(metric)
    row = np.arange(metric.k, 0, -1.0)
    np.testing.assert_array_equal(other.score(row), metric.score(row))
    assert metric.name == name and len(metric.columns) in (metric.k, 1)


def test_frozen():
    with pytest.raises(AttributeError):
        metrics.mean().k = 3


@pytest.mark.parametrize(
    "metric, systems, references, code, words",
    [
        ("accuracy", [[1, 0.5]], None, "not-zero-one", ["A", "row 2", "0.5", "mean"]),
        ("f1", [[[1, 2]]], None, "columns", ["3 numbers", "tp, fp, fn", "A has 2"]),
        ("mean", [[1.0], [np.nan]], None, "not-a-number", ["B", "row 1", "nan"]),
        ("mean", [[1.0], [np.inf]], None, "not-a-number", ["B", "row 1", "inf"]),
        ("wer", [[(1, 2), (-1, 2)]], None, "negative-count", ["A", "row 2", "-1"]),
        ("mean", [[1, 2], [1]], None, "lengths-differ", ["A  2", "B  1"]),
        ("mean", [["a b"]], None, "not-a-number", ["A", "row 1", "bleu"]),
        ("bleu", [[0.5]], ["a"], "not-text", ["A", "row 1", "accuracy"]),
        ("bleu", ["a b"], ["a b"], "not-text", ["one string", "[text]"]),
        ("bleu", [[]], [], "no-segments", ["A"]),
        ("bleu", [["a"], ["a", "b"]], ["a"], "lengths-differ", ["A  1", "B  2"]),
        ("bleu", [["a"]], ["a", "b"], "lengths-differ", ["outputs  1", "2 segments"]),
        (
            "bleu",
            [["a", "b", "c"]],
            [["a", "b"]] * 3,
            "transposed-references",
            ["zip(*references)", "3 lists of 2"],
        ),
        (
            "bleu",
            [["a", "b"]],
            [["a", None], ["b", None]],
            "no-references",
            ["segment 2"],
        ),
        ("bleu", [["a"]], None, "no-references", ["references="]),
        ("chrf", [["a", None]], ["a", "b"], "not-text", ["row 2", "None"]),
        ("wer", [["a"]], [["a"], ["b"]], "references", ["one reference"]),
        ("accuracy", [[1]], ["a"], "references", ["text"]),
    ],
)
def test_errors(metric, systems, references, code, words):
    with pytest.raises(InputError) as error:
        get(metric).statistics_many(systems, references, names="AB"[: len(systems)])
    assert error.value.code == code
    for word in words:
        assert word in str(error.value), str(error.value)
    typed = code in ("not-text",) or "text" in words or words[-1] == "bleu"
    assert isinstance(error.value, InputTypeError) == typed


def test_texts_of_other_kinds():
    plain = metrics.bleu().statistics(["a b", "c"], ["a b", "c d"])
    for kind in (tuple, np.array, iter, lambda x: np.array(x, dtype=object)):
        found = metrics.bleu().statistics(kind(["a b", "c"]), kind(["a b", "c d"]))
        np.testing.assert_array_equal(found, plain)


def test_callers_function():
    metric = as_metric(lambda x: x[..., 0] / x[..., 1])
    rows = metric.statistics([(1, 2), (2, 2)])
    assert metric.score(rows.sum(axis=0)) == 0.75
    with pytest.raises(InputError, match="no gradient"):
        metric.gradient(rows)
    with pytest.raises(InputTypeError, match="came as NoneType"):
        as_metric(None)
