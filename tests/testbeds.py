"""Generate all testbeds and print their digests: python tests/testbeds.py

It needs nothing but the package, so that any Python can be asked. Whole numbers and
texts are digested, and nothing that rounding could touch.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path
from time import perf_counter


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


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    print(json.dumps(run()))
