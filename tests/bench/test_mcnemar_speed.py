"""McNemar's exact test on 30,000 right and wrong outcomes against SciPy's permutations.

The outcomes are those of two models on HANS where `data/hans_nli` is present. Elsewhere
they are made, with the same counts: 2,358 that only one gets right and 1,073 that only
the other does. The title of the race says which.
"""

import csv

import numpy as np

from sigtext.mcnemar import mcnemar_test

N, COUNTS = 30_000, (2_358, 1_073)


def made():
    """Outcomes with the counts of HANS, in an order of chance."""
    rng, (wins, losses) = np.random.default_rng(0), COUNTS
    kinds = np.repeat([1, -1, 0], [wins, losses, N - wins - losses])
    x = rng.permutation(kinds)
    alike = (rng.random(N) < 0.5).astype(int)
    return np.where(x == 0, alike, x > 0), np.where(x == 0, alike, x < 0)


def right(file):
    """Whether a model's answers are right, by the number of the pair."""
    with open(file, newline="", encoding="utf-8") as rows:
        said = {int(r["pairID"][2:]): r["gold_label"] for r in csv.DictReader(rows)}
    return np.array(
        [(said[i] == "entailment") == (i // 1_000 % 10 >= 5) for i in sorted(said)],
        dtype=int,
    )


def outcomes(data):
    """Real outcomes if they are there, and what they are called."""
    files = [data / "hans_nli" / f"{x}_preds.csv" for x in ("bert", "spinn") if data]
    if files and all(file.exists() for file in files):
        return *map(right, files), "HANS"
    return *made(), "made as HANS"


def test_right_and_wrong_of_30_000(race, data_or_none):
    from scipy.stats import permutation_test

    a, b, name = outcomes(data_or_none)
    assert ((a > b).sum(), (a < b).sum(), len(a)) == (*COUNTS, N)

    def theirs():
        how = {"permutation_type": "samples", "n_resamples": 9_999, "rng": 1}
        return permutation_test((a - b,), np.mean, vectorized=True, batch=100, **how)

    title = f"McNemar, 30,000 ({name}): SciPy, 9,999 permutations"
    race(
        title, lambda: mcnemar_test(a, b), theirs, 10_000, turns=2, calls=1, warm=False
    )
