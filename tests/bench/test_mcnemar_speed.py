"""McNemar's exact test on 30,000 right and wrong outcomes against SciPy's permutations.

The outcomes are made up, with as many discordant segments as two models of HANS have.
"""

import numpy as np

from sigtext.mcnemar import mcnemar_test


def test_right_and_wrong_of_30_000(race):
    from scipy.stats import permutation_test

    rng = np.random.default_rng(0)
    a, b = (rng.random((2, 30_000)) < 0.6).astype(int)

    def theirs():
        how = {"permutation_type": "samples", "n_resamples": 9_999, "rng": 1}
        return permutation_test((a - b,), np.mean, vectorized=True, batch=100, **how)

    title = "McNemar, N = 30,000: SciPy, 9,999 permutations"
    race(title, lambda: mcnemar_test(a, b), theirs, 10_000, rounds=20, peer_rounds=1)
