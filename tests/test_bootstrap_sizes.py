"""The stored study of sizes is what its code makes: its hash, and a part run again."""

import json

import pytest

from sigtext import bootstrap_sizes as study
from tools.notebooks import root

STORED = json.loads(
    (root / "nbs/theorems/bootstrap_sizes.json").read_text(encoding="utf-8")
)


def test_code_is_that_of_the_stored_study():
    again = "bootstrap_sizes.study() makes nbs/theorems/bootstrap_sizes.json"
    assert STORED["code"] == study.code_hash(), again
    how = {"seed": study.SEED, "streams": study.STREAMS, "draws": study.M}
    assert {key: STORED[key] for key in how} == how


@pytest.mark.parametrize("world, prompts, seed", [("short", 188, 3), ("long", 94, 5)])
def test_a_part_run_again(world, prompts, seed):
    again = study.study_cell(world, prompts, seed, study.STREAMS, study.SEED)
    keys = ("world", "prompts", "world_seed")
    same = [c for c in STORED["cells"] if all(c[k] == again[k] for k in keys)]
    assert same == [again]


def test_all_cells_are_there():
    cells = {(c["world"], c["prompts"], c["world_seed"]) for c in STORED["cells"]}
    assert len(cells) == len(STORED["cells"]) == 90
    assert sum(c["experiments"] for c in STORED["cells"]) == 18 * 4_352
