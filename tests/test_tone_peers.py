"""The learners and features of the tone testbed against scikit-learn's."""

import numpy as np
import pytest

from sigtext.testbeds.tone import (
    WORDS,
    class_sums,
    draw_filings,
    features,
    logistic,
    make,
    naive_bayes,
    text,
    vocabulary,
)

pytest.importorskip("sklearn")
both = pytest.mark.parametrize("bigrams", [False, True], ids=["uni", "bi"])


@pytest.fixture(scope="module")
def world():
    return make()


def counts(world, bigrams):
    known = vocabulary(world.train, bigrams)
    return known, features(world.train, bigrams, known)


def name(code):
    """A word, or two words with a blank, from the code of a term."""
    first, second = divmod(int(code), len(WORDS))
    return f"{WORDS[first - 1]} {WORDS[second]}" if first else WORDS[second]


@both
def test_features_are_those_of_count_vectorizer(world, bigrams):
    from sklearn.feature_extraction.text import CountVectorizer

    peer = CountVectorizer(
        ngram_range=(1, 1 + bigrams), min_df=12, token_pattern=r"\S+", dtype=float
    )
    theirs = peer.fit_transform([text(tokens) for tokens in world.train])
    known, ours = counts(world, bigrams)
    names = [name(code) for code in known]
    assert sorted(names) == sorted(peer.get_feature_names_out())
    order = [peer.vocabulary_[term] for term in names]
    assert (ours != theirs[:, order]).nnz == 0
    new = peer.transform([text(tokens) for tokens in world.test])[:, order]
    assert (features(world.test, bigrams, known) != new).nnz == 0


@both
def test_naive_bayes_is_multinomial_nb(world, bigrams):
    from sklearn.naive_bayes import MultinomialNB

    _, x = counts(world, bigrams)
    peer = MultinomialNB(alpha=1).fit(x, world.train_labels)
    sizes = np.bincount(world.train_labels)
    weights, bias = naive_bayes(class_sums(x, world.train_labels), sizes)
    np.testing.assert_allclose(weights, np.diff(peer.feature_log_prob_, axis=0)[0])
    np.testing.assert_allclose(
        naive_bayes(np.ones((2, 3)), sizes - 1)[1],  # there one is added, here not
        np.diff(peer.class_log_prior_)[0],
    )
    assert bias == np.log((sizes[1] + 1) / (sizes[0] + 1))


@both
@pytest.mark.parametrize("ridge", [0.1, 0.003])
@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
def test_logistic_is_logistic_regression(bigrams, ridge, dense):
    from sklearn.linear_model import LogisticRegression

    tokens, labels = draw_filings(np.random.default_rng(7), 400)
    x = features(tokens, bigrams, vocabulary(tokens, bigrams))
    x = x.toarray() if dense else x
    peer = LogisticRegression(
        C=1 / (len(labels) * ridge), solver="newton-cg", tol=1e-10, max_iter=1_000
    ).fit(x, labels)
    weights, bias = logistic(x, labels, ridge)
    np.testing.assert_allclose(weights, peer.coef_[0], atol=1e-6)
    np.testing.assert_allclose(bias, peer.intercept_[0], atol=1e-6)


def test_six_classifiers_are_right_where_scikit_learn_is(world):
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB

    y, n = world.train_labels, len(world.train)
    for kind, bigrams in (("uni", False), ("bi", True)):
        known, x = counts(world, bigrams)
        new = features(world.test, bigrams, known)
        nb = MultinomialNB().fit(x, y).predict(new)
        assert np.array_equal(nb == world.test_labels, world.right[f"nb-{kind}"])
        once = MultinomialNB().fit((x > 0).astype(float), y)
        ratio = np.diff(once.feature_log_prob_, axis=0)[0]
        for short, ridge, scale in (("lr", 0.01, 1), ("nbw", 0.003, ratio)):
            a, b = x, new
            if short == "nbw":
                a, b = ((z > 0).astype(float).multiply(scale).tocsr() for z in (x, new))
            how = {"solver": "newton-cg", "tol": 1e-9, "max_iter": 1_000}
            peer = LogisticRegression(C=1 / (n * ridge), **how).fit(a, y)
            right = peer.predict(b) == world.test_labels
            assert np.array_equal(right, world.right[f"{short}-{kind}"])
