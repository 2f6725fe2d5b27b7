"""Speed against other libraries: both sides timed in the same run, from the same numbers.

pytest tests/bench prints a table of ratios, and fails where one is under its floor.
"""

import os
import platform
import time
import tracemalloc
from itertools import count

# One thread for both sides; NumPy looks when it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest

ROWS = []


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@pytest.fixture
def race(benchmark):
    """Times both sides equally often, and asserts how many times faster ours is.

    They take turns, the peer first, some calls at a turn; the best call of either counts.
    What is loaded or compiled once is nobody's speed: both run once before the clock.
    """

    def run(name, ours, peer, at_least, *, turns=3, calls=3, times=1, warm=True):
        ours()
        if warm:
            peer()
        other, number = [], count()

        def before():
            if next(number) % calls == 0:
                other.extend([seconds(peer) for _ in range(calls)])

        benchmark.pedantic(ours, rounds=turns * calls, setup=before)
        best, least = benchmark.stats.stats.min, times * min(other)
        benchmark.extra_info.update(peer=least, ratio=least / best)
        ROWS.append((name, len(other), best, least, least / best, at_least))
        assert least / best >= at_least, (
            f"{least / best:.1f} times faster, needs {at_least}"
        )

    return run


@pytest.fixture
def peak():
    """Extra memory of a call in MB, as NumPy and Python report it."""

    def run(work):
        work()
        tracemalloc.start()
        work()
        top = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        return top

    return run


@pytest.fixture(scope="session")
def bleu_statistics(data_or_none):
    """(S, 2000, 10) statistics of BLEU: real systems, their segments drawn again.

    Without the real data, counts of the same size are made up.
    """
    rng = np.random.default_rng(2_000)
    if data_or_none is None:
        lengths = rng.poisson(30, size=2_000) + 4
        total = lengths[:, None] - np.arange(4)
        rates = rng.beta(8, 6, size=(10, 2_000, 1)) * np.array([1, 0.6, 0.4, 0.25])
        correct = rng.binomial(total, rates)
        sides = np.stack([np.broadcast_to(lengths, (10, 2_000))] * 2, axis=-1)
        total = np.broadcast_to(total, correct.shape)
        return np.concatenate([sides, correct, total], axis=-1).astype(float)
    from sacrebleu.metrics import BLEU

    folder = data_or_none / "wmt24_ende"
    names = "Claude-3.5 GPT-4 ONLINE-B TSU-HITs Unbabel-Tower70B CycleL".split()
    reference = lines(folder / "refA.txt")
    rows = [
        BLEU()._extract_corpus_statistics(lines(folder / f"sys.{n}.txt"), [reference])
        for n in names
    ]
    rows = np.array(rows, dtype=float)
    mixed = rng.random(rows.shape[1]) < 0.5  # four more systems, half and half of two
    more = [np.where(mixed[:, None], rows[i], rows[i + 1]) for i in range(4)]
    rows = np.concatenate([rows, more])
    return rows[:, rng.integers(0, rows.shape[1], size=2_000)]


def lines(path):
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


@pytest.fixture(scope="session")
def data_or_none(request):
    try:
        return request.getfixturevalue("data")
    except pytest.skip.Exception:
        return None


def pytest_terminal_summary(terminalreporter):
    if not ROWS:
        return
    write = terminalreporter.write_line
    write(
        f"\n{os.cpu_count()} cores, {os.environ['OPENBLAS_NUM_THREADS']} BLAS thread, {platform.processor() or platform.machine()}, best of as many calls on either side"
    )
    write(
        f"{'work':<58} {'calls':>6} {'ours':>10} {'peer':>9} {'ratio':>7} {'floor':>7}"
    )
    for name, calls, ours, peer, ratio, floor in ROWS:
        write(
            f"{name:<58} {calls:>6} {ours:>8.4f} s {peer:>7.3f} s {ratio:>7.1f} {floor:>7g}"
        )
