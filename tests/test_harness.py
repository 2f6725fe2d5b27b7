"""What the harness owes to the outside: peers, imports, pages, pipes and terminals."""

import importlib
import io
import json
import subprocess
import sys
import zlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sigtext import harness, verification
from sigtext.harness import (
    Check,
    CheckFailed,
    exact,
    figures,
    in_band,
    mean_band,
    measured,
    rate_band,
)
from tools.notebooks import root

rates = st.floats(0, 1, allow_nan=False)
alarms = st.floats(1e-9, 0.5)


# --- bands against scipy.stats


@given(rate=rates, n=st.integers(1, 10**7), alarm=alarms)
def test_rate_band_is_that_of_scipy(rate, n, alarm):
    low, high = (round(edge * n) for edge in rate_band(rate, n, alarm))
    law, near = stats.binom(n, rate), alarm / 2 * (1 + 1e-6)
    assert law.cdf(low - 1) <= near and law.sf(high) <= near
    assert law.cdf(low) >= alarm / 2 * (1 - 1e-6)
    assert high == 0 or law.sf(high - 1) >= alarm / 2 * (1 - 1e-6)


@given(rate=rates, n=st.integers(1, 10**5))
def test_one_sided_bands_start_and_end_at_the_ends(rate, n):
    assert rate_band(rate, n, side="at_most")[0] == 0
    assert rate_band(rate, n, side="at_least")[1] == 1
    narrow, wide = rate_band(rate, n, 1e-3), rate_band(rate, n, 1e-9)
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


@given(
    mean=st.floats(-5, 5), n=st.integers(2, 10**6), sd=st.floats(0.01, 9), alarm=alarms
)
def test_t_band_is_that_of_scipy(mean, n, sd, alarm):
    low, high = mean_band(mean, n, sd=sd, false_alarm=alarm)
    half = stats.t.isf(alarm / 2, n - 1) * sd / n**0.5
    assert np.allclose((low, high), (mean - half, mean + half), rtol=1e-8, atol=1e-9)


@given(n=st.integers(2, 10**5), mean=rates)
def test_bounded_bands_stay_in_bounds_and_hold_the_mean(n, mean):
    for sd in (None, 0.1):
        low, high = mean_band(mean, n, sd=sd, bounds=(0, 1))
        assert 0 <= low <= mean <= high <= 1


# --- numbers and verdicts


@given(st.floats(allow_nan=False), st.lists(st.floats(allow_nan=False), max_size=2))
def test_a_printed_number_stays_on_its_side(value, edges):
    shown = float(figures(value, *edges))
    for edge in edges:
        assert (shown < edge, shown > edge) == (value < edge, value > edge)


@given(st.fractions(), st.fractions(), st.fractions(min_value=0))
def test_bands_are_closed_for_fractions(low, inside, width):
    band = (low, low + width)
    assert in_band(band[0], band) and in_band(band[1], band)
    assert in_band(inside, band) is (low <= inside <= low + width)


@pytest.mark.parametrize("kind", ["exact", "measured", "control", "reported"])
def test_nan_is_an_error_for_every_kind(kind):
    def none(value):
        return exact(value, n=1)

    make = {
        "measured": lambda v: measured(v, (0, 0), n=1),
        "reported": harness.reported,
    }
    with pytest.raises(ValueError, match="NaN"):
        make.get(kind, none)(np.float64("nan"))


def test_a_failing_check_raises_the_record_that_run_returns():
    function = harness.CheckFunction(
        lambda: exact(1, n=1), "X1.a", "one is 0", "exact", ()
    )
    record = function.run()
    assert isinstance(record, Check) and record.holds is False
    with pytest.raises(CheckFailed, match=r"X1\.a FAILS: one is 0; measured 1, band"):
        function()
    with pytest.raises(AssertionError):
        function()


def test_a_control_in_its_band_is_reported_as_failing():
    function = harness.CheckFunction(lambda: exact(0, n=1), "X1.a", "", "control", ())
    assert function.run().verdict == "FAILS"
    with pytest.raises(CheckFailed):
        function()


def test_the_docstring_and_signature_of_a_check_are_its_functions():
    function = harness.REGISTRY["H1.d"]
    assert function.__name__ == "mean_bands_hold" and function.kind == "measured"
    assert function.run().seed == zlib.crc32(b"H1.d")


# --- the registry


def test_reloading_a_module_replaces_its_checks_in_place():
    before = list(harness.REGISTRY)
    importlib.reload(verification)
    assert list(harness.REGISTRY) == before
    assert harness.REGISTRY["H9.a"].function is verification.lines_fit.function


def test_load_checks_fills_the_registry_in_a_fresh_process():
    code = (
        "import sys, json; from sigtext.harness import load_checks; "
        "print(json.dumps([sorted(load_checks()), 'sigtext.cli' in sys.modules]))"
    )
    labels, cli = json.loads(run("-c", code).stdout)
    assert labels == sorted(harness.load_checks()) and not cli


def run(*arguments, **how):
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=root, **how)


# --- verify


def test_verify_is_quiet_on_stderr_in_a_pipe():
    code = "import sys; from sigtext.verification import verify; sys.exit(verify(['H1.a', 'H1.c']))"
    done = run("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("2 passed, 0 failed in ")
    assert "1 control misses its band" in done.stdout


def test_verify_with_progress_writes_a_line_for_each_check():
    code = "from sigtext.verification import verify; verify(['H1.a', 'H1.c'], progress=True)"
    lines = run("-c", code).stderr.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["H1.a", "holds"],
        ["H1.c", "missed"],
    ]


def test_verify_list_runs_nothing(monkeypatch):
    monkeypatch.setattr(harness.CheckFunction, "run", None)
    out = io.StringIO()
    assert verification.verify(list_only=True, stream=out) == 0
    lines = out.getvalue().splitlines()
    assert len([s for s in lines if s.startswith("  ") and "." in s[:8]]) == len(
        harness.REGISTRY
    )
    assert max(map(len, lines)) <= 80
    assert lines[-1] == f"{len(harness.REGISTRY)} checks"


def test_verify_of_an_unknown_label(capsys):
    assert verification.verify(["H1.zz"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(
        'error[unknown-check]: there is no check "H1.zz"\n'
    )
    assert "similar names: H1." in err and max(map(len, err.splitlines())) <= 80


def test_a_prefix_does_not_take_a_longer_one():
    fake = {label: harness.REGISTRY["H1.a"] for label in ("T1.a", "T10.a", "T1.b")}
    assert verification.request_names(fake)["T1"] == ["T1.a", "T1.b"]


def test_a_failure_says_how_to_see_it_again():
    function = harness.CheckFunction(
        lambda rng, n=9: measured(1, (0, Fraction(1, 2)), n=n),
        "X1.a",
        "half",
        "measured",
        (),
    )
    out = io.StringIO()
    assert (
        verification.verify(registry={"X1.a": function}, stream=out, seed=3, scale=2)
        == 1
    )
    text = out.getvalue()
    assert "FAILED X1.a: half\n  measured 1, band [0, 0.5], n = 18, seed 3\n" in text
    assert "sigtext verify X1.a --seed 3 --scale 2\n" in text
    assert text.splitlines()[-1].startswith("0 passed, 1 failed in ")


def test_a_terminal_that_cannot_carry_a_claim_gets_escapes():
    function = harness.CheckFunction(
        lambda: exact(0, n=1), "X1.a", "ж ≤ ж", "exact", ()
    )
    out = io.TextIOWrapper(io.BytesIO(), "ascii")
    assert verification.verify(registry={"X1.a": function}, stream=out) == 0
    out.flush()
    assert b"\\u0436 <= \\u0436" in out.buffer.getvalue()


# --- the panel, driven as a user would


def test_the_button_runs_the_check_with_the_seed_and_scale_of_the_panel():
    panel = harness.REGISTRY["H1.d"].panel()
    seed, scale, out = (panel.parts[name] for name in ("seed", "scale", "out"))
    assert seed.value == str(zlib.crc32(b"H1.d")) and out.value == ""
    seed.value, scale.value = "7", 0.1
    panel.parts["run"].click()
    first = out.value
    assert "n = 400, seed 7" in first and "<svg" in first
    panel.parts["run"].click()
    assert out.value == first
    panel.parts["fresh"].value = True
    panel.parts["run"].click()
    assert seed.value != "7" and f"seed {seed.value}" in out.value
    panel.parts["fresh"].value, seed.value = False, "seven"
    panel.parts["run"].click()
    assert "a seed is a whole number" in out.value and not panel.parts["run"].disabled


def test_the_panel_of_an_enumeration_has_only_a_button():
    panel = harness.REGISTRY["H1.a"].panel()
    assert panel.children[1].children == (panel.parts["run"],)
    panel.parts["run"].click()
    assert "H1.a holds" in panel.parts["out"].value


def test_no_panel_state_is_stored():
    for path in (root / "nbs").rglob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert "application/vnd.jupyter.widget" not in text, path
