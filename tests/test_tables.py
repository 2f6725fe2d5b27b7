"""Numbers as people hold them: single precision, Series, DataFrames, things that are none."""

import numpy as np
import pytest

import sigtext
from sigtext.result import InputError, InputTypeError

pd = pytest.importorskip("pandas")

A = np.array([0, 6, 5, 0, 9, 2, 2, 1, 3, 1]) / 10
B = np.array([3, 8, 4, 9, 4, 2, 7, 8, 8, 8]) / 10
TESTS = (
    sigtext.exact_test,
    sigtext.randomization_test,
    lambda a, b, m: sigtext.compare(a, b, metric=m, rng=1),
)
ERRORS = pd.DataFrame({"edits": [1, 2, 4], "reference words": [5, 6, 9]})
OTHER = pd.DataFrame({"reference words": [5, 6, 9], "edits": [2, 2, 3]})


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_single_precision_keeps_ties(test, kind):
    want = test(A, B, "mean")
    assert test(A.astype(kind), B.astype(kind), "mean").pvalue == want.pvalue
    assert want.pvalue == pytest.approx(0.0546875)


@pytest.mark.parametrize("test", TESTS)
def test_columns_are_taken_by_name(test):
    want = test(ERRORS.to_numpy(), OTHER.to_numpy()[:, ::-1], "wer")
    assert test(ERRORS, OTHER, "wer").effect == want.effect
    assert test(ERRORS[["reference words", "edits"]], OTHER, "wer").effect == (
        want.effect
    )
    assert test(ERRORS.to_numpy(), OTHER, "wer").effect == want.effect


@pytest.mark.parametrize("test", TESTS)
def test_columns_of_other_names(test):
    other = OTHER.rename(columns={"edits": "errors"})
    with pytest.raises(InputError, match="columns of the same names"):
        test(ERRORS, other, "wer")
    same = [x.rename(columns={"edits": "err"}) for x in (ERRORS, OTHER)]
    want = test(ERRORS, OTHER, "wer").effect  # B in the order of A
    assert test(*same, "wer").effect == want


@pytest.mark.parametrize("test", TESTS)
def test_labels_in_another_order(test):
    one = pd.Series([1.0, 0, 1], index=[0, 1, 2])
    with pytest.raises(InputError, match="same index"):
        test(one, one.iloc[::-1], "mean")
    assert test(one, one + 1, "mean").effect == -1


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("wrong", [10, None, object()])
def test_what_is_no_list(test, wrong):
    with pytest.raises(InputTypeError, match=r"list or an array|came as"):
        test(wrong, [1.0, 0.0], "mean")


@pytest.mark.parametrize("test", TESTS)
def test_numbers_that_no_float_holds(test):
    with pytest.raises(InputError, match="a float can hold"):
        test([10**400, 3], [1, 2], "mean")


@pytest.mark.parametrize("wrong", [{"documents": [1, 1]}, "ab", 5])
def test_clusters_that_are_no_labels(wrong):
    with pytest.raises(InputTypeError, match="one label for each"):
        sigtext.exact_test([1.0, 0.0], [0.0, 1.0], "mean", clusters=wrong)


def test_labels_of_references_and_clusters():
    texts = pd.Series(["a b c d", "e f g h", "i j k l"], index=list("abc"))
    turned = texts.iloc[::-1]
    with pytest.raises(InputError, match="same index"):
        sigtext.compare(texts, texts, turned, rng=1)
    with pytest.raises(InputError, match="same index"):
        sigtext.compare(texts, texts, [texts, turned], rng=1)
    scores = pd.Series([1.0, 0.0, 1.0], index=list("abc"))
    labels = pd.Series([1, 1, 2], index=list("cba"))
    for call in (sigtext.exact_test, sigtext.bootstrap_interval):
        with pytest.raises(InputError, match="same index"):
            call(scores, 1 - scores, "mean", clusters=labels)
    with pytest.raises(InputError, match="same index"):
        sigtext.mcnemar_test(scores, scores.iloc[::-1])


def test_an_infinite_interval_is_shown():
    a = np.array([[0, 0]] * 8 + [[1, 3], [2, 5]])
    b = np.array([[0, 0]] * 8 + [[2, 3], [0, 5]])
    c = sigtext.compare(a, b, metric="wer", rng=1)
    assert np.isinf(c.interval.low) and c._repr_html_() and c.plot()
    assert r"\infty" in c.render("latex")
