"""Every registered check, one test each: `pytest -k T1.f` runs that one."""

import pytest

from sigtext.harness import load_checks

CHECKS = load_checks()
each_check = pytest.mark.parametrize("label", CHECKS)


@each_check
def test_check(label):
    record = CHECKS[label].run()
    assert record.holds is not False, repr(record)


@each_check
def test_claim_prints_on_any_terminal(label):
    claim = CHECKS[label].claim
    assert claim.isascii() and claim == " ".join(claim.split()), claim


@each_check
def test_check_stands_on_a_page(label):
    assert CHECKS[label].page, f"{CHECKS[label].__module__} is exported from no page"
