"""Figures outside a notebook: no display, no global state, the same bytes anywhere."""

import io
import pickle
import subprocess
import sys
import warnings
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigtext.figure import (
    STYLE,
    bars,
    clouds,
    figure_bytes,
    label_end,
    save_figure,
    short_name,
    spread,
)

DRAW = """
import sys
import numpy as np
from sigtext.figure import clouds, figure_bytes
x = np.random.default_rng(1).standard_normal((2, 500))
out = figure_bytes(clouds(x[0], x[1] + 1, 1.0, names=("one", "two"), unit="BLEU"), {0!r})
assert "matplotlib.pyplot" not in sys.modules
sys.stdout.buffer.write(out)
"""


def faults(fig, ticks=()):
    """Texts that touch each other or leave the page."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    renderer = FigureCanvasAgg(fig).get_renderer()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        fig.draw(renderer)
        words = [x for x in fig.findobj(Text) if x.get_text() and x.get_visible()]
        words = [x for x in words if not ticks or x not in ticks]
        found = [x.get_window_extent(renderer) for x in words]
    inside = (fig.bbox.contains(*b.min) and fig.bbox.contains(*b.max) for b in found)
    return sum(a.overlaps(b) for a, b in combinations(found, 2)) + sum(
        not x for x in inside
    )


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_two_processes_write_the_same_file(suffix):
    def run(hashing):
        env = {"PYTHONHASHSEED": hashing, "MPLBACKEND": "tkagg", "DISPLAY": ""}
        code = [sys.executable, "-c", DRAW.format(suffix)]
        import os

        return subprocess.run(
            code, env={**os.environ, **env}, capture_output=True, check=True
        ).stdout

    one, two = run("1"), run("2")
    assert one == two
    assert one.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix])


def test_a_readers_own_style_changes_nothing():
    import matplotlib as mpl

    draws = np.random.default_rng(1).standard_normal((2, 300))
    plain = figure_bytes(clouds(*draws, 0.5))
    dark = {"axes.facecolor": "black", "text.color": "white", "font.size": 20}
    with mpl.rc_context(dark | {"svg.hashsalt": None, "svg.fonttype": "path"}):
        before = dict(mpl.rcParams)
        assert figure_bytes(clouds(*draws, 0.5)) == plain
        assert dict(mpl.rcParams) == before


def test_a_notebook_shows_it_without_any_setting():
    fig = clouds(np.arange(5.0), np.arange(5.0), 1.0)
    assert fig._repr_svg_().startswith("<?xml")
    assert pickle.loads(pickle.dumps(fig))._repr_svg_() == fig._repr_svg_()


def test_percent_and_interval_of_a_result():
    unit = SimpleNamespace(name="points", percent=True, decimals=1)
    interval = SimpleNamespace(low=-0.004, high=0.044, level=0.95)
    draws = np.random.default_rng(1).integers(-8, 9, (2, 900)) / 500
    svg = figure_bytes(clouds(*draws, 0.02, unit=unit, interval=interval)).decode()
    assert "95% interval −0.4 to +4.4" in svg and "gap in points" in svg


@pytest.mark.parametrize(
    "alternative, count", [("two-sided", 3), ("greater", 1), ("less", 5)]
)
def test_draws_that_reach_the_gap(alternative, count):
    swaps = np.array([-3.0, -2.0, 0.0, 1.0, 2.0])
    svg = figure_bytes(clouds(swaps, swaps, 2.0, alternative=alternative)).decode()
    verb = "reaches" if count == 1 else "reach"
    assert f"{count} of 5 random swaps {verb} a gap of 2.0" in svg


@pytest.mark.parametrize("bad", [(np.nan, [1.0]), (np.inf, [1.0]), (1.0, [])])
def test_refusals(bad):
    effect, draws = bad
    with pytest.raises(ValueError, match="finite gap"):
        clouds(draws, draws, effect)
    with pytest.raises(ValueError, match="alternative"):
        clouds([1.0], [1.0], 1.0, alternative="both")


def test_save_is_all_or_nothing(tmp_path):
    fig = clouds(np.arange(5.0), np.arange(5.0), 1.0)
    path = save_figure(fig, str(tmp_path / "a.SVG"))
    assert path.read_bytes() == figure_bytes(fig)
    with pytest.raises(FileNotFoundError):
        save_figure(fig, tmp_path / "nowhere" / "a.svg")
    with pytest.raises(ValueError, match="svg, png or pdf"):
        save_figure(fig, tmp_path / "a")
    assert [x.name for x in tmp_path.iterdir()] == ["a.SVG"]


numbers = st.floats(-1e6, 1e6)
cloud = st.lists(numbers | st.just(float("nan")), min_size=1, max_size=30)


@settings(max_examples=25, deadline=None)
@given(
    cloud, cloud, numbers, st.text(max_size=40), st.sampled_from(["BLEU", "", "points"])
)
def test_words_never_touch(swaps, resamples, effect, name, unit):
    ends = sorted([effect, min([x for x in resamples if x == x], default=effect)])
    fig = clouds(swaps, resamples, effect, names=(name, "B"), unit=unit, interval=ends)
    assert faults(fig) == 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12), st.floats(0.1, 50))
def test_spread_is_the_least_move(heights, distance):
    moved = spread(heights, distance)
    assert (np.diff(np.sort(moved)) >= distance - 1e-6).all()
    # a point of a convex set is nearest if every direction into the set leads away
    other = np.sort(heights).mean() + distance * np.arange(len(heights))
    feasible = np.empty(len(heights))
    feasible[np.argsort(heights, kind="stable")] = other
    assert (moved - heights) @ (feasible - moved) >= -1e-5 * (
        1 + np.abs(other).max() ** 2
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=50), st.floats(0.01, 1), numbers)
def test_bars_hold_every_draw(draws, share, mark):
    draws = np.array(draws)
    edges = bars(draws, share * (np.ptp(draws) or 1.0), mark)
    assert np.histogram(draws, edges)[0].sum() == len(draws)
    assert len(edges) < 2 * 101 + 5 or np.ptp(draws) == 0


@given(st.text(max_size=80))
def test_short_names_are_short_and_steer_nothing(name):
    from sigtext.result import display_width

    assert display_width(short_name(name)) <= 22 and "\x1b" not in short_name(name)


def test_labels_of_lines_keep_clear_whatever_comes_later():
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", STYLE]):
        fig = Figure()
        ax = fig.add_subplot()
        for k in range(5):
            label_end(ax.plot([0, 1], [k, 0.01 * k])[0], f"line {k}")
        label_end(ax.plot([0, 1, 2], [0, 0, np.nan])[0], "gone after 1")
        ax.set(ylim=(-20, 20), xlim=(0, 1.5))
        with pytest.raises(ValueError, match="no finite point"):
            label_end(ax.plot([], [])[0], "nothing")
        ticks = ax.get_xticklabels() + ax.get_yticklabels()
        assert faults(fig, ticks) == 0
        with io.BytesIO() as stream:
            fig.savefig(stream, format="svg")
