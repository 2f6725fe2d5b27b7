"""What counts as the same output of a page, and what does not."""

import pytest

from tools.outputs import outputs

SAME = (
    ("W7.r holds: z; measured 1.5e-15, band [0, 1e-10]",) * 2,
    (
        "W7.r holds: z; measured 1.52e-15, band [0, 1e-10], n = 3",
        "W7.r holds: z; measured 9.8e-16, band [0, 1e-10], n = 3",
    ),
    (
        "| E4.a holds | every | measured 1.11e-15 | band [0, 1e-10] |",
        "| E4.a holds | every | measured 1.332e-15 | band [0, 1e-10] |",
    ),
    ("(0.7649172194440439, 0.0005)", "(0.764917219444051, 0.0005)"),
    ("log_low=-1.5302117183682187", "log_low=-1.5302117183682196"),
    ("E3.f missed; measured 3.4e+7, band [0, 1e-10]",) * 2,
)
OTHER = (
    ("measured 0.05, band [0, 0.06]", "measured 0.051, band [0, 0.06]"),
    ("holds: a; measured 0, band [0, 0]", "holds: a; measured 1, band [0, 0]"),
    (
        "W holds: z; measured 1e-15, band [0, 1e-10]",
        "W missed: z; measured 1e-3, band [0, 1e-10]",
    ),
    ("0.7649172194", "0.7649172195"),
    ("p = 3.1386e-27", "p = 3.1387e-27"),
    ("12.76491721944", "12.76591721944"),
)


def seen(text):
    out = {"output_type": "stream", "name": "stdout", "text": text}
    cell = {"id": "a", "cell_type": "code", "metadata": {}, "source": "x"}
    return outputs({"cells": [cell | {"outputs": [out]}]})


@pytest.mark.parametrize("one, two", SAME)
def test_rounding_is_left_out(one, two):
    assert seen(one) == seen(two)


@pytest.mark.parametrize("one, two", OTHER)
def test_everything_else_counts(one, two):
    assert seen(one) != seen(two)
