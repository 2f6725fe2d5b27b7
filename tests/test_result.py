"""Results and printed numbers, beyond what the page's own checks enumerate."""

import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigtext.result import (
    InputError,
    InputTypeError,
    Interval,
    TestResult,
    as_entropy,
    clopper_pearson,
    crosses,
    decimals_for,
    format_about,
    format_number,
    format_pvalue,
    pvalue_phrase,
)


def result(**changes):
    fields = {
        "effect": np.float64(2.171363867903281),
        "pvalue": 0.0001,
        "pvalue_interval": (0.0001, 0.0003688567934951889),
        "alternative": "two-sided",
        "method": "randomization",
        "n_segments": np.int64(997),
        "n_units": 997,
        "n_differ": 868,
        "n_resamples": 9_999,
        "seed": 0,
        "smallest_pvalue": 0.0001,
    }
    return TestResult(**(fields | changes))


@given(
    count=st.integers(0, 99_999), n=st.sampled_from([3, 99, 499, 999, 2_999, 99_999])
)
def test_drawn_p_reads_back(count, n):
    p = (min(count, n) + 1) / (n + 1)
    text = format_pvalue(p, n_resamples=n)
    if text == "> 0.99":
        assert 0.99 < p < 1
        return
    assert 0 < float(text) <= 1 and not crosses(float(text), p)
    assert (text == "1") == (p == 1)


@given(st.floats(min_value=5e-324, max_value=1.0))
def test_exact_p_reads_back(p):
    text = format_pvalue(p, exact=True)
    if text[0] in "<>":
        assert p < 1e-6 if text == "< 1e-6" else (text == "> 0.99" and 0.99 < p < 1)
        return
    assert abs(float(text) - p) <= 0.05 * p and not crosses(float(text), p)
    assert "0." in text or "e-" in text or text == "1"


@given(st.floats(allow_nan=False, allow_infinity=False, width=32), st.integers(0, 6))
def test_numbers_keep_their_sign(x, decimals):
    for sign in (False, True):
        text = format_number(x, decimals, sign=sign)
        assert np.sign(float(text)) == np.sign(x)
        assert text[0] == "+" if sign and x > 0 else text[0] != "+"


def test_a_level_of_ones_own_is_not_crossed():
    assert format_pvalue(0.1997, n_resamples=9_999) == "0.200"
    assert format_pvalue(0.1997, n_resamples=9_999, level=0.2) == "0.1997"


def test_styles():
    assert format_pvalue(3e-5, style="latex") == r"$3 \times 10^{-5}$"
    assert format_pvalue(1e-5, style="html") == "10⁻⁵"
    assert pvalue_phrase(1e-9, style="html") == "<i>p</i> &lt; 10⁻⁶"
    assert pvalue_phrase(0.9999, style="text") == "p > 0.99"


@pytest.mark.parametrize("p", [0.0, -0.1, 1.0001, math.nan])
def test_impossible_p(p):
    with pytest.raises(ValueError):
        format_pvalue(p)


def test_small_helpers():
    assert decimals_for(2, math.nan) == 2 and decimals_for(0, 1e-30) == 12
    assert (
        format_about(1_000_400) == "1,000,000"
        and format_number(math.nan, 2) == "undefined"
    )
    with pytest.raises(ValueError):
        clopper_pearson(3, 2)


def test_result_is_plain_data():
    data = json.loads(json.dumps(result(effect=np.nan).to_dict(), allow_nan=False))
    assert data["effect"] is None and data["n_segments"] == 997 and data["notes"] == []
    interval = Interval(
        low=-np.inf,
        high=np.inf,
        level=0.95,
        method="percentile",
        n_resamples=9,
        seed=None,
    )
    assert interval.to_dict()["low"] is None


def test_repr_is_the_dataclass_form():
    text = repr(result())
    assert text.startswith("TestResult(effect=2.17136, pvalue=0.0001,")
    assert all(len(line) <= 80 for line in text.split("\n"))
    assert eval(text) == eval(repr(eval(text)))


def test_report_names_sides_and_units():
    text = result(alternative="greater", n_units=170).report("BLEU")
    assert text == (
        "A - B is +2.17136 BLEU (one-sided paired randomization test, 170 clusters "
        "of 997 segments, 9,999 draws, p = 0.0001)."
    )


def test_tables_escape():
    assert "a&lt;b" in result(method="a<b")._repr_html_()
    assert result()._repr_markdown_().count("\n") == 2


def test_errors():
    e = InputTypeError(
        "code", "summary", "a  b", "word " * 30, help="x " * 60 + "\nlast"
    )
    lines = str(e).split("\n")
    assert lines[:2] == ["summary", "  a  b"] and lines[-1] == "        last"
    assert max(map(len, lines)) <= 80 and isinstance(e, (InputError, TypeError))
    copy = pickle.loads(pickle.dumps(e))
    assert str(copy) == str(e) and copy.code == "code"


def test_generators_give_entropy_and_no_seed():
    one, two = np.random.default_rng(3), np.random.default_rng(3)
    assert as_entropy(one) == as_entropy(two) and as_entropy(one) != as_entropy(one)


def test_import_is_light():
    code = "import sys, sigtext.result; print([m for m in sys.modules if m in {'matplotlib', 'scipy.stats', 'IPython', 'nbdev', 'fastcore'}])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert out.stdout.strip() == "[]", out.stderr
