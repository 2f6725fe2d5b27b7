"""The report: one decision and one set of numbers in every format, over the cases."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigtext.comparison import Comparison, Family, compare
from sigtext.diagnostics import Diagnostic
from sigtext.metrics import get
from sigtext.paper import methods_sentence, paper_sentence
from sigtext.report import FORMATS, render, short
from sigtext.resampling import as_pair
from sigtext.result import (
    InputError,
    Interval,
    TestResult,
    clopper_pearson,
    decimals_for,
)
from sigtext.words import verdict_text

SIGNATURE = "{}|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


def metric(name):
    m = get(name)
    text = {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER"}
    if name not in text:
        return m
    return replace(m, signature=SIGNATURE.format(text[name]))


def diagnostic(code, message, detail="", help="", severity="warning", **values):
    fields = {"code": code, "message": message, "detail": detail, "help": help}
    return Diagnostic(**fields, severity=severity, values=values)


def drawn_test(effect, pvalue, n, changes):
    """The test of a case; `exact` among the changes makes it one."""
    exact = changes.pop("exact", None)
    error = (pvalue, pvalue)
    if exact is None:
        low, high = clopper_pearson(round(pvalue * 10_000) - 1, 9_999)
        error = (max(low, 0.0001), high)
    return TestResult(
        effect=effect,
        pvalue=pvalue,
        pvalue_interval=error,
        alternative=changes.pop("alternative", "two-sided"),
        method="randomization" if exact is None else f"exact ({exact})",
        n_segments=n[0],
        n_units=n[1],
        n_differ=n[2],
        n_resamples=9_999,
        seed=changes.pop("seed", 3310718426),
        smallest_pvalue=changes.pop("smallest", 0.0001),
    )


def comparison(name, names, scores, interval, pvalue, code, **changes):
    """A comparison with the figures of a case; its small pair is only there to be drawn."""
    effect = changes.pop("effect", scores[0] - scores[1])
    n = changes.pop("n", (997, 997, 868))
    test = drawn_test(effect, pvalue, n, changes)
    if interval is not None:
        how = {"level": 0.95, "method": "percentile", "n_resamples": 9_999}
        interval = Interval(low=interval[0], high=interval[1], seed=test.seed, **how)
    rows = np.arange(6.0) / 100
    command = f"--reference refA.txt --metric {name} --seed {test.seed}"
    fields = {
        "metric": metric(name),
        "names": names,
        "scores": scores,
        "effect": effect,
        "test": test,
        "interval": interval,
        "confidence_level": 0.95,
        "spread": 0.4,
        "detectable": None,
        "segments_for": None,
        "diagnostics": (),
        "n_segments": n[0],
        "n_units": n[1],
        "n_differ": n[2],
        "cluster_sizes": None,
        "cluster_word": "clusters",
        "wins": None,
        "data": "5c1f09ae",
        "files": tuple(f"sys.{x}.txt" for x in names),
        "again": f"sigtext compare sys.{names[0]}.txt sys.{names[1]}.txt {command}",
        "segment_pvalue": None,
        "segment_spread": None,
        "same_outputs": code == "identical",
        "entropy": 0,
        "pair": as_pair(rows, rows[::-1], get("mean")),
    }
    made = Comparison(**fields | changes)
    assert made.verdict.code == code
    return made


KINK = diagnostic(
    "near-kink",
    "B is 0.7 standard errors from BLEU's brevity kink",
    "Its outputs are 0.997 times as long as the reference. Below 1 BLEU takes a "
    "penalty and above 1 it does not, so spreads, intervals and detectable effects "
    "are less sure here (Proposition 3). p does not depend on them.",
    help="rest on p, and look at a metric without the kink: --metric chrf",
)
UNEVEN = diagnostic(
    "uneven-clusters",
    "the largest of 170 documents holds 76 of 997 segments",
    severity="note",
)
MATTER = diagnostic(
    "clusters-matter",
    "the same test on single segments says p = 0.0002",
    "Segments of a document go together: the spread of the difference is 0.49 BLEU "
    "by document and 0.40 by segment, as if 997 segments were 640.",
    help="report the p above. It asks whether the gap would hold on new documents",
)
DOCUMENTS = {
    "cluster_sizes": (1, 76),
    "cluster_word": "documents",
    "n": (997, 170, 169),
}
PAIR = ("CycleL", "TSU-HITs")

clear = comparison(
    "bleu",
    ("GPT-4", "Unbabel-Tower70B"),
    (33.13601463569446, 30.964650767791177),
    (1.3769480033100836, 2.959501886981609),
    0.0001,
    "higher",
    detectable=1.1219,
)
close = comparison(
    "bleu",
    ("Claude-3.5", "GPT-4"),
    (33.111793990123196, 33.13601463569446),
    (-0.7635153955059444, 0.688268239605509),
    0.9482,
    "not-measured",
    detectable=1.0428,
    segments_for=(0.5, 4337),
    seed=1750938112,
    data="e07b61d4",
)
same = comparison(
    "bleu",
    ("CycleL", "CycleL2"),
    (7.98, 7.98),
    (0.0, 0.0),
    1.0,
    "identical",
    exact="1 arrangement",
    n=(997, 997, 0),
    spread=0.0,
    smallest=1.0,
    again="sigtext compare sys.CycleL.txt sys.CycleL2.txt --reference refA.txt "
    "--metric bleu",
    diagnostics=(
        diagnostic(
            "identical-outputs",
            "the two files hold the same 997 lines",
        ),
    ),
)
few = comparison(
    "accuracy",
    ("model-a", "model-b"),
    (0.871, 0.866),
    (0.001, 0.01),
    0.0625,
    "cannot-reach-level",
    exact="32 arrangements",
    n=(1_000, 1_000, 5),
    wins=(5, 0),
    spread=0.00223,
    smallest=0.0625,
    effect=0.005,
    files=("model-a.txt", "model-b.txt"),
    again="sigtext compare model-a.txt model-b.txt --metric accuracy --seed 551209873",
    seed=551209873,
    diagnostics=(
        diagnostic(
            "cannot-reach-level", "5 segments differ; p below 0.05 needs 6 or more"
        ),
    ),
)
kink = comparison(
    "bleu",
    ("Online-W", "eTranslation"),
    (29.71, 29.59),
    (-0.61, 0.91),
    0.746,
    "not-measured",
    n=(1_002, 1_002, 900),
    detectable=1.11,
    segments_for=(0.5, 4938),
    diagnostics=(KINK,),
)
documents = comparison(
    "bleu",
    ("GPT-4", "ONLINE-B"),
    (33.14, 34.62),
    (-2.38, -0.42),
    0.0113,
    "higher",
    spread=0.49,
    diagnostics=(UNEVEN, MATTER, KINK),
    **DOCUMENTS,
)
lower = comparison(
    "wer",
    ("deepgram", "sarvam"),
    (158 / 2074, 80 / 2074),
    (0.0238, 0.0537),
    9.54e-9,
    "higher",
    exact="pooled ratio",
    n=(200, 200, 65),
    wins=(12, 53),
    pair=as_pair([[158.0, 2074.0]], [[80.0, 2074.0]], get("wer")),
    spread=0.0076,
    smallest=2.0**-64,
    seed=1190362057,
    files=("deepgram.tsv", "sarvam.tsv"),
    again="sigtext compare deepgram.tsv sarvam.tsv --metric wer --seed 1190362057",
)
one = comparison(
    "bleu",
    ("one-a", "one-b"),
    (41.11, 37.90),
    None,
    1.0,
    "no-inference",
    exact="2 arrangements",
    n=(1, 1, 1),
    spread=None,
    smallest=1.0,
    diagnostics=(
        diagnostic(
            "no-inference", "one segment, so every outcome is as likely as its mirror"
        ),
    ),
)
asked = comparison(
    "bleu",
    ("GPT-4", "ONLINE-B"),
    (33.14, 34.62),
    (-2.38, -0.42),
    0.9988,
    "not-measured",
    alternative="greater",
    detectable=1.2,
)
odd = comparison(
    "accuracy",
    ("a_b|<c>*\x1b[31m`", "R&D 50% {x}~^\\日本 " + "long" * 7),
    (0.5, 0.75),
    (-0.4, -0.1),
    0.0225,
    "higher",
    spread=0.08,
)


OTHERS = tuple(diagnostic(f"code-{k}", "text") for k in range(4))
FAMILY = {
    "again": "sigtext compare sys.CycleL.txt sys.TSU-HITs.txt --reference refA.txt "
    "--metric bleu --metric chrf --metric ter --clusters docs.txt --seed 77120093",
    **DOCUMENTS,
}
family = Family(
    comparisons=(
        comparison(
            *("bleu", PAIR, (7.98, 12.16), (-5.31, -2.99), 0.0001, "higher"),
            spread=0.6,
            **FAMILY,
        ),
        comparison(
            *("chrf", PAIR, (35.70, 35.42), (-1.66, 2.27), 0.789, "not-measured"),
            spread=1.0,
            detectable=2.83,
            **FAMILY,
        ),
        comparison(
            *("ter", PAIR, (84.27, 80.62), (1.97, 5.29), 0.0001, "higher"),
            spread=0.8,
            **FAMILY,
        ),
    ),
    adjusted=(0.0003, 0.789, 0.0003),
    diagnostics=(MATTER, UNEVEN, KINK, *OTHERS),
)
CASES = {
    "clear": clear,
    "close": close,
    "same": same,
    "few": few,
    "kink": kink,
    "documents": documents,
    "lower": lower,
    "one": one,
    "asked": asked,
    "odd": odd,
    "family": family,
}
each_case = pytest.mark.parametrize("case", CASES)
ESCAPES = re.compile(r"\x1b\[[\d;]*m")


def rows(case):
    """The comparisons of a case, each with its adjusted p."""
    c = CASES[case]
    if hasattr(c, "comparisons"):
        return list(zip(c.comparisons, c.adjusted, strict=True))
    return [(c, None)]


# --- the cases, to the character


def block(case, start, end):
    text = render(CASES[case])
    return text[text.index(start) : text.index(end)].strip("\n")


def test_text_of_a_clear_difference():
    assert render(clear) == (
        """GPT-4 scores higher than Unbabel-Tower70B: 2.17 BLEU more (95% interval 1.38 to
2.96), p = 0.0001. None of 9,999 random swaps of their outputs gave a gap as
large.

A  GPT-4             sys.GPT-4.txt
B  Unbabel-Tower70B  sys.Unbabel-Tower70B.txt

           A       B   A - B     95% interval        p
BLEU   33.14   30.96   +2.17   +1.38 to +2.96   0.0001
A - B is rounded after subtracting. 0.0001 is the least p 9,999 draws can give.

test     randomization, two-sided, 9,999 draws, seed 3310718426, sigtext 0.1.0
interval percentile bootstrap, 9,999 resamples, same seed
units    997 segments, one run of each system, data 5c1f09ae
metric   BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0
again    sigtext compare sys.GPT-4.txt sys.Unbabel-Tower70B.txt \\
           --reference refA.txt --metric bleu --seed 3310718426"""
    )


def test_text_of_nothing_measured():
    assert block("close", "Not measured", "test ") == (
        """Not measured: GPT-4 scores 0.02 BLEU above Claude-3.5 (95% interval -0.69 to
+0.76), and 95 of 100 random swaps of their outputs give a gap at least as large
(p = 0.948). 997 segments like these show a gap of 1.04 BLEU with power 0.8 at
level 0.05; for 0.5 BLEU it takes about 4,300. This does not show that the two
are equal.

A  Claude-3.5  sys.Claude-3.5.txt
B  GPT-4       sys.GPT-4.txt

           A       B   A - B     95% interval       p   detectable
BLEU   33.11   33.14   -0.02   -0.76 to +0.69   0.948         1.04
A - B is rounded after subtracting."""
    )


def test_text_of_identical_outputs():
    text = render(same)
    assert text.startswith(
        "CycleL and CycleL2 are the same outputs: 997 of 997 segments are equal, to the\n"
        "character. There is nothing to test (difference 0, p = 1).\n"
    )
    assert "BLEU   7.98   7.98    0.00   0.00 to 0.00   1\n" in text
    assert "\ninterval a point, since no resample can differ\n" in text
    assert "\nunits    997 segments, 0 of them differ, data 5c1f09ae\n" in text


def test_text_where_the_level_is_out_of_reach():
    text = render(few)
    assert text.startswith(
        "Cannot tell: model-a and model-b differ on 5 of 1,000 segments, and 5 can give\n"
        "no p below 0.0625, whatever happens on them. model-a is right on all 5 (0.50\n"
        "points more), p = 0.0625.\n"
    )
    assert "accuracy   87.10%   86.60%   +0.50   +0.10 to +1.00   0.0625\n" in text
    assert text.endswith(
        "units    1,000 segments, 5 of them differ (5 for A, 0 for B), data 5c1f09ae\n"
        "metric   accuracy\n"
        "again    sigtext compare model-a.txt model-b.txt --metric accuracy \\\n"
        "           --seed 551209873"
    )


def test_text_with_documents():
    text = render(documents)
    assert text.startswith(
        "ONLINE-B scores higher than GPT-4: 1.48 BLEU more (95% interval 0.42 to 2.38),\n"
        "p = 0.011. Swapping whole documents at random, 11 of 1,000 draws gave a gap at\n"
        "least as large.\n"
    )
    assert "BLEU   33.14   34.62   -1.48   -2.38 to -0.42   0.011\n" in text
    assert (
        "test     randomization by document, two-sided, 9,999 draws, seed 3310718426,\n"
        "         sigtext 0.1.0\n"
    ) in text
    assert (
        "units    170 documents of 1 to 76 segments (997), one run of each system,\n"
        "         data 5c1f09ae\n"
    ) in text


def test_text_of_a_family():
    assert block("family", "The metrics", "warning") == (
        """The metrics disagree. TSU-HITs scores higher than CycleL on BLEU (4.18 more, 95%
interval 2.99 to 5.31, p = 0.0003) and needs fewer edits on TER (3.65 points
less, 1.97 to 5.29, p = 0.0003). On chrF2 nothing was measured: CycleL scores
0.28 above (-1.66 to +2.27, p = 0.789), and 170 documents like these show 2.83.
p is adjusted for 3 tests (Holm).

A  CycleL    sys.CycleL.txt
B  TSU-HITs  sys.TSU-HITs.txt

            A       B   A - B     95% interval        p   Holm p   favours
BLEU     7.98   12.16   -4.18   -5.31 to -2.99   0.0001   0.0003   B
chrF2   35.70   35.42   +0.28   -1.66 to +2.27    0.789    0.789   -
TER     84.27   80.62   +3.65   +1.97 to +5.29   0.0001   0.0003   B
TER: lower is better. 0.0001 is the least p 9,999 draws can give."""
    )


def test_text_where_lower_is_better():
    text = render(lower)
    assert text.startswith(
        "sarvam makes fewer word errors than deepgram: 3.86% against 7.62%, 3.76 points\n"
        "less (95% interval 2.38 to 5.37), p < 1e-6.\n"
    )
    assert (
        "WER   7.62%   3.86%   +3.76   +2.38 to +5.37   < 1e-6   B\n"
        "WER: lower is better; pooled, 158 and 80 errors in 2,074 reference words.\n"
    ) in text


def test_text_of_one_segment():
    text = render(one)
    assert text.startswith(
        "Cannot tell: one segment allows no inference (p = 1, no interval). one-a scores\n"
        "3.21 BLEU above one-b on it.\n"
    )
    assert "BLEU   41.11   37.90   +3.21           none   1\n" in text


def test_one_sided_says_what_was_asked():
    assert verdict_text(asked).startswith(
        "Not measured: asked was whether GPT-4 scores higher than ONLINE-B, and ONLINE-B "
        "scores 1.48 BLEU above, p > 0.99 (one-sided)."
    )
    for format in FORMATS:
        assert "one-sided" in render(asked, format)
    assert "(asked: GPT-4 better)" in paper_sentence(asked)


def test_diagnostics_in_order_and_the_rest_by_name():
    text = render(family)
    found = re.findall(r"^(\w+)\[([\w-]+)\]:", text, re.M)
    assert [f"{kind} {code}" for kind, code in found] == [
        "warning clusters-matter",
        "warning near-kink",
        "warning code-0",
        "warning code-1",
        "warning code-2",
    ]
    assert (
        "\n2 more (code-3, uneven-clusters): --all-diagnostics, or --format json\n"
        in text
    )
    everything = render(family, all_diagnostics=True)
    assert "note[uneven-clusters]:" in everything and " more (" not in everything


# --- one decision, one set of numbers


def in_table(c):
    """The strings that every table must hold for a comparison."""
    scale, sign = (100, "%") if c.metric.unit.percent else (1, "")
    decimals = decimals_for(c.metric.unit.decimals, (c.spread or 0) * scale)
    number = f"{{:.{decimals}f}}"
    yield from (number.format(scale * x) + sign for x in c.scores)
    yield number.format(abs(scale * c.effect))
    if c.interval:
        yield from (
            number.format(abs(scale * x)) for x in (c.interval.low, c.interval.high)
        )


def plain(case, format):
    """The output of a format with its escapes undone."""
    text = render(CASES[case], format)
    return text.replace("\\%", "%") if format == "latex" else text


@each_case
@pytest.mark.parametrize("format", ["text", "markdown", "latex", "html"])
def test_every_table_has_the_numbers_of_the_object(case, format):
    text = plain(case, format)
    for c, _ in rows(case):
        for number in in_table(c):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", text), number


@each_case
def test_formats_agree_on_p(case):
    cells = {f: render(CASES[case], f) for f in ("text", "markdown", "html")}
    for c, _ in rows(case):
        data = json.loads(render(c, "json"))
        assert data["pvalue"] == c.pvalue
        row = next(
            s for s in cells["text"].split("\n") if s.startswith(c.metric.label + " ")
        )
        shown = re.split(r" {2,}", row)[5]
        assert f"| {shown} |" in cells["markdown"]
        assert (
            f">{shown.replace('<', '&lt;').replace('>', '&gt;')}</td>" in cells["html"]
        )
        latex = shown.replace("< 1e-6", "$< 10^{-6}$").replace("> 0.99", "$> 0.99$")
        assert f"& {latex} " in re.sub(" +", " ", render(CASES[case], "latex"))


def head(text):
    return text.split(":")[0].split(". ")[0]


@each_case
def test_formats_agree_on_the_verdict(case):
    c = CASES[case]
    said = verdict_text(c)
    data = json.loads(render(c, "json"))
    assert data["verdict"]["text"] == said
    assert " ".join(render(c).split("\n\n")[0].split()) == said
    if case == "odd":
        return
    assert render(c, "markdown").startswith(f"**{head(said)}**")
    assert f"<strong>{head(said)}</strong>" in render(c, "html")


@each_case
def test_direction(case):
    """Who is favoured is the same in the verdict, the table, the JSON and the sentence."""
    if case == "family":
        data = json.loads(render(family, "json"))["adjusted"]
        assert data["favoured"] == ["B", None, "B"] and data["pvalues"] == [
            0.0003,
            0.789,
            0.0003,
        ]
        return
    c = CASES[case]
    data = json.loads(render(c, "json"))
    assert data["favoured"] == c.verdict.favoured
    if not data["favoured"]:
        return
    name = c.names["AB".index(data["favoured"])]
    if case != "odd":
        assert verdict_text(c).startswith(f"{name} {c.metric.unit.verb} ")
        assert paper_sentence(c).startswith(f"{name} scores ")
    above = (c.scores[0] > c.scores[1]) == (data["favoured"] == "A")
    assert (" above " in paper_sentence(c)) == above
    better = data["effect"] > 0 if data["higher_is_better"] else data["effect"] < 0
    assert better == (data["favoured"] == "A")


def test_an_adjusted_p_above_the_level_is_not_measured():
    late = Family(comparisons=(clear, close), adjusted=(0.06, 0.9482), diagnostics=())
    text = render(late)
    assert text.startswith("Not measured: on BLEU GPT-4 scores 2.17 above")
    assert json.loads(render(late, "json"))["adjusted"]["favoured"] == [None, None]
    assert "within what random swaps" in paper_sentence(late).split(". ")[0]


def test_metrics_that_agree_share_one_sentence():
    chrf = comparison("chrf", clear.names, (61.32, 59.25), (1.2, 2.9), 0.0001, "higher")
    agree = Family(comparisons=(clear, chrf), adjusted=(0.0002, 0.0002), diagnostics=())
    assert verdict_text(agree) == (
        "GPT-4 scores higher than Unbabel-Tower70B on BLEU (2.17 more, 95% interval 1.38 "
        "to 2.96, p = 0.0002) and chrF2 (2.07 more, 1.20 to 2.90, p = 0.0002). p is "
        "adjusted for 2 tests (Holm)."
    )


def test_metrics_that_favour_different_systems():
    chrf = comparison("chrf", clear.names, (59.0, 61.0), (-2.9, -1.2), 0.0001, "higher")
    text = verdict_text(
        Family(comparisons=(clear, chrf), adjusted=(0.0002, 0.0002), diagnostics=())
    )
    assert text.startswith("The metrics disagree. GPT-4 scores higher than")
    assert " Unbabel-Tower70B scores higher than GPT-4 on chrF2 (2.00 more, " in text


# --- the sentence for a paper


@pytest.mark.parametrize("case", ["clear", "documents", "lower", "odd"])
def test_paper_sentence_reads_back(case):
    c = CASES[case]
    text = paper_sentence(c)
    scale = 100 if c.metric.unit.percent else 1
    found = re.search(
        r"scores ([\d.]+) \w+ (above|below) .* \(([\d.]+)%? vs\. ([\d.]+)%?(?: \w+)?, "
        r"95% CI \[(-?[\d.]+), (-?[\d.]+)\]; .*, p ([=<]) ([\d.e-]+)\)\.$",
        text,
    )
    gap, way, one_, two, low, high, relation, p = found.groups()
    i = "AB".index(c.verdict.favoured)
    near = {"abs": 0.05 if case == "odd" else 0.005}
    assert float(gap) == pytest.approx(abs(scale * c.effect), **near)
    assert float(one_) == pytest.approx(scale * c.scores[i], **near)
    assert float(two) == pytest.approx(scale * c.scores[1 - i], **near)
    ends = sorted(abs(scale * x) for x in (c.interval.low, c.interval.high))
    assert [float(low), float(high)] == pytest.approx(ends, **near)
    assert (way == "above") == (c.scores[i] > c.scores[1 - i])
    assert c.pvalue < float(p) if relation == "<" else abs(float(p) - c.pvalue) < 0.001
    if case != "odd":
        assert c.names[0] in text and c.names[1] in text


VERDICT_WORDS = re.compile(
    r"not measured|cannot tell|signific|\bwin|beat|outperform|scores higher", re.I
)


@each_case
def test_paper_sentence_holds_no_verdict(case):
    text = paper_sentence(CASES[case])
    assert not VERDICT_WORDS.search(text) and text.endswith(".")


def test_paper_sentences_of_the_two_first_cases():
    assert paper_sentence(clear) == (
        "GPT-4 scores 2.17 BLEU above Unbabel-Tower70B (33.14 vs. 30.96, 95% CI [1.38, "
        "2.96]; two-sided paired randomization test, 997 segments, 9,999 draws, "
        "p = 0.0001)."
    )
    assert paper_sentence(close) == (
        "GPT-4 and Claude-3.5 score 33.14 and 33.11 BLEU; the difference of 0.02 (95% CI "
        "[-0.69, 0.76]) is within what random swaps of the outputs give (two-sided "
        "paired randomization test, 997 segments, 9,999 draws, p = 0.948). The test set "
        "shows a difference of 1.04 BLEU with power 0.8 at level 0.05."
    )
    assert methods_sentence(clear) == (
        "Scores are corpus BLEU by sacreBLEU 2.6.0 (nrefs:1, case:mixed, eff:no, tok:13a, "
        "smooth:exp). Differences were tested by randomization over segments and carry "
        "95% percentile bootstrap intervals, both with sigtext 0.1.0 (seed 3310718426). "
        "Intervals stand for new segments of the same kind; each system was run once, so "
        "variation between runs is not included."
    )


# --- the forms


@each_case
@pytest.mark.parametrize("width", [80, 60])
def test_width(case, width):
    for line in render(CASES[case], width=width, sentence=True).split("\n"):
        longest = max(map(len, line.split()), default=0) + 20
        assert len(line) <= max(width, longest if case == "odd" or width < 80 else 0), (
            line
        )


@each_case
def test_text_and_latex_are_ascii(case):
    for format in ("text", "latex"):
        text = render(CASES[case], format, sentence=True)
        assert text.replace("日本", "").isascii()


@each_case
def test_colour_changes_nothing_else(case):
    c = CASES[case]
    coloured = render(c, color=True, sentence=True)
    assert ESCAPES.sub("", coloured) == render(c, sentence=True)
    assert "\x1b[1m" in coloured and "\x1b[2mtest" in coloured
    assert not re.search(r"\x1b\[(?:32|31)m", coloured)
    for format in FORMATS[1:]:
        assert "\x1b" not in render(c, format, color=True)


def test_colour_by_role():
    text = render(kink, color=True)
    assert text.startswith("\x1b[1mNot measured\x1b[0m: Online-W")
    assert "\x1b[1;33mwarning[near-kink]\x1b[0m: B is" in text
    assert "  \x1b[33mhelp:\x1b[0m rest on p" in text


@each_case
def test_latex_is_whole(case):
    text = render(CASES[case], "latex", sentence=True)
    code = re.sub(r"(?m)^%.*$", "", text)
    bare = re.sub(r"\\[\\{}%&#$_]", "", code)
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0 and bare.count("$") % 2 == 0
    commands = set(re.findall(r"\\([a-zA-Z]+)", code))
    assert commands <= {
        *("begin", "end", "toprule", "midrule", "bottomrule"),
        *("textbackslash", "textasciitilde", "textasciicircum", "times"),
        *("textbar", "textless", "textgreater"),
    }
    body = code[code.index("\\toprule") : code.index("\\bottomrule")]
    spec = re.search(r"\{tabular\}\{@\{\}([lrc]+)@\{\}\}", code)[1]
    lines = [s for s in body.split("\n") if s.endswith(r"\\")]
    for line in lines:
        assert len(re.sub(r"\\&", "", line).split("&")) == len(spec)
    assert not re.search(r"[_#^~]", re.sub(r"\\[_#]|\$[^$]*\$", "", body))
    assert max(map(len, re.findall(r"(?m)^%.*$", text))) <= 80


@each_case
def test_markdown_tables_have_equal_rows(case):
    text = render(CASES[case], "markdown")
    lines = [s for s in text.split("\n") if s.startswith("|")]
    counts = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert len(counts) == 1 and lines[1].startswith("|:--|--:|--:|--:|:-:|--:|")
    assert "\n\n\n" not in text and "<" not in re.sub(
        r"\\<|\| < 1e-6|p < 1e-6", "", text
    )


def test_names_are_harmless():
    text = render(odd, "markdown")
    assert r"a\_b\|\<c>\*?\`" in text
    page = render(odd, "html")
    assert "a_b|&lt;c&gt;*?`" in page and "<c>" not in page
    assert "\x1b" not in page + render(odd) + text + render(odd, "latex")
    assert r"R\&D 50\% \{x\}...nglonglong" in render(odd, "latex")
    assert json.loads(render(odd, "json"))["systems"]["A"] == odd.names[0]


@settings(max_examples=30, deadline=None)
@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_any_name_is_harmless(a, b):
    c = replace(clear, names=(a, b), files=None)
    text = render(c)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ue000\ue001]", text)
    assert len(text.split("\n")) < 30
    lines = [s for s in render(c, "markdown").split("\n") if s.startswith("|")]
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", s)) for s in lines} == {7}
    page = render(c, "html")
    assert page.count("<") == render(clear, "html").count("<")
    code = re.sub(r"(?m)^%.*$", "", render(c, "latex"))
    bare = re.sub(r"\\[\\{}%&#$_]", "", code)
    assert bare.count("{") == bare.count("}") and bare.count("$") == 6
    assert json.loads(render(c, "json"))["systems"] == {"A": a, "B": b}


def test_wide_names_keep_columns_straight():
    wide = replace(clear, names=("日本語", "abc"))
    lines = [s for s in render(wide).split("\n") if s[:3] in ("A  ", "B  ")]
    assert lines[0].startswith("A  日本語  sys") and lines[1].startswith(
        "B  abc     sys"
    )


def test_names_that_would_look_alike_are_not_cut():
    names = tuple("model-" + "x" * 15 + c + "x" * 15 + "-1-of-a-series" for c in "yz")
    c = replace(clear, names=names)
    assert f"{names[0]} (A)" in render(c, "markdown")


KEYS = """metric signature systems scores higher_is_better unit effect favoured interval
pvalue pvalue_interval smallest_pvalue alternative method n_segments n_units n_differ
n_resamples seed spread detectable segments_for verdict diagnostics sigtext data""".split()


@each_case
def test_json_has_every_key(case):
    text = render(CASES[case], "json")
    assert "NaN" not in text and "Infinity" not in text
    data = json.loads(text)
    for found in data.get("comparisons", [data]):
        assert list(found) == KEYS
        if found["interval"]:
            assert set(found["interval"]) == {"low", "high", "level", "method"}
        assert set(found["pvalue_interval"]) == {"low", "high", "level"}
        assert found["pvalue"] > 0 and set(found["verdict"]) == {
            "code",
            "level",
            "text",
        }
    for d in data["diagnostics"]:
        assert set(d) == {"code", "severity", "message", "detail", "help", "values"}


def test_json_precision_and_nulls():
    data = json.loads(render(clear, "json"))
    assert data["scores"]["A"] == 33.13601463569446 and data["segments_for"] is None
    assert data["smallest_pvalue"]["arrangements"] == pytest.approx(
        1.0161e-261, rel=1e-4
    )
    assert data["smallest_pvalue"]["draws"] == 0.0001
    assert json.loads(render(one, "json"))["interval"] is None
    assert json.loads(render(few, "json"))["scores"]["A"] == 0.871
    assert json.loads(render(close, "json"))["segments_for"] == {
        "effect": 0.5,
        "segments": 4337,
        "power": 0.8,
        "level": 0.05,
    }


def test_html_block():
    from html.parser import HTMLParser

    class Balance(HTMLParser):
        stack, void = (), {"circle", "path"}

        def handle_starttag(self, tag, attrs):
            self.stack = (*self.stack, tag)
            assert tag != "script"

        def handle_endtag(self, tag):
            assert self.stack[-1] == tag
            self.stack = self.stack[:-1]

        def handle_startendtag(self, tag, attrs):
            assert tag in self.void

    for c in CASES.values():
        parser = Balance()
        parser.feed(render(c, "html"))
        assert parser.stack == ()
    page = render(close, "html")
    assert "(95% interval −0.69 to +0.76), <i>p</i> = 0.948" in page
    assert "-0.76 to +0.69</td>" in page and "<details open" not in page
    assert "<details open><summary>Doubts (1)" in render(kink, "html")
    assert "p</i> &lt; 10⁻⁶" in render(lower, "html")


def test_calls_from_python():
    call = 'sigtext.compare(a, b, references, metric="bleu", rng=0)'
    c = replace(clear, names=("A", "B"), files=None, again=call)
    text = render(c)
    assert text.endswith(f"again    {call}") and "\nA  " not in text
    assert short(c) == (
        "Comparison(A - B = +2.17 BLEU, 95% interval +1.38 to +2.96, p = 0.0001,\n"
        "           997 segments, randomization, 9,999 draws, seed 3310718426, 0 warnings)"
    )


def test_unknown_format():
    with pytest.raises(InputError, match='no format "csv"'):
        render(clear, "csv")


def test_render_is_a_pure_function():
    for c in CASES.values():
        for format in FORMATS:
            assert render(c, format) == render(c, format)


# --- real outputs


@pytest.mark.data
@pytest.mark.parametrize(
    "a, b, row, said",
    [
        ("GPT-4", "Unbabel-Tower70B", "33.14   30.96   +2.17", "2.17 BLEU more"),
        ("Claude-3.5", "GPT-4", "33.11   33.14   -0.02", "0.02 BLEU above Claude-3.5"),
        ("CycleL", "CycleL2", "7.98   7.98    0.00   0.00 to 0.00   1", "997 of 997"),
        ("GPT-4", "ONLINE-B", "33.14   34.62   -1.48", "1.48 BLEU more"),
    ],
)
def test_figures_of_real_outputs(data, a, b, row, said):
    def segments(name):
        text = (data / "wmt24_ende" / name).read_text(encoding="utf-8")
        return text.split("\n")[1:-1]

    systems = [segments(f"sys.{name}.txt") for name in (a, b)]
    c = compare(*systems, segments("refA.txt"), names=(a, b), rng=1, n_resamples=999)
    text = render(c)
    assert f"\nBLEU   {row}" in text and said in text.split("\n\n")[0]
