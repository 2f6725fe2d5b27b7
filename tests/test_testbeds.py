"""The five testbeds together: the same bytes for a seed everywhere, and fast enough.

`python tests/test_testbeds.py` prints the digests; it needs the package alone, so that
any Python can be asked. What is stored came from Python 3.11.
"""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import pytest

here = Path(__file__).resolve()
STORED = here.parent / "expected" / "testbeds.json"
LIMITS = {"summaries": 5, "trigram": 10, "tone": 15, "bursty": 10, "aspects": 3}


def summaries():
    from sigtext.testbeds.summaries import make

    world = make()
    facts = [world.facts[name] for name in world.facts]
    return [world.references, world.documents, *world.outputs.values(), *facts]


def trigram():
    import numpy as np

    from sigtext.testbeds.trigram import LENGTHS, bleu_counts, continuations, make

    for how in LENGTHS.values():
        world = make(**how)
        tokens = continuations(world, np.random.default_rng(0))
        yield from (world.references, tokens, bleu_counts(world, tokens))


def tone():
    from sigtext.testbeds.tone import make

    world = make()
    for part in ("train", "test"):
        yield from (getattr(world, part), getattr(world, f"{part}_labels"))
    yield from world.right.values()


def bursty():
    from sigtext.testbeds.bursty import make, study

    yield make().burst
    yield study().wins


def aspects():
    from sigtext.testbeds.aspects import make

    world = make()
    yield from (world.filing, world.sentence, world.polarity, *world.right.values())


def digest(things):
    """A short digest of texts and of whole numbers, whatever type holds these."""
    import numpy as np

    seen = sha256()
    for thing in things:
        if isinstance(thing[0], str):
            seen.update("\n".join(thing).encode())
            continue
        whole = np.asarray(thing).astype("<i8")
        assert (whole == thing).all()
        seen.update(str(whole.shape).encode() + whole.tobytes())
    return seen.hexdigest()[:16]


def run():
    """Generate all testbeds; {name: [digest, seconds]}."""
    found = {}
    for make in (summaries, trigram, tone, bursty, aspects):
        start = perf_counter()
        found[make.__name__] = digest(make()), round(perf_counter() - start, 2)
    return found


@pytest.fixture(scope="module")
def found():
    """All testbeds, generated in one process of their own."""
    run = subprocess.run([sys.executable, here], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("name", LIMITS)
def test_same_bytes_for_a_seed(found, name):
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    assert found[name][0] == stored[name]


@pytest.mark.parametrize("name", LIMITS)
def test_fast_enough_for_a_notebook(found, name):
    assert found[name][1] < LIMITS[name]


def test_all_of_them_in_a_minute(found):
    assert sum(seconds for _, seconds in found.values()) < 60


if __name__ == "__main__":
    sys.path.insert(0, str(here.parent.parent))
    print(json.dumps(run()))
