"""Every registered check, one test each: `pytest -k T1.f` runs that one."""

import pytest

from sigtext.harness import load_checks
from sigtext.verification import plain

CHECKS = load_checks()
each_check = pytest.mark.parametrize("label", CHECKS)


@each_check
def test_check(label):
    record = CHECKS[label].run()
    assert record.holds is not False, repr(record)


@each_check
def test_claim_is_one_line_that_prints_on_any_terminal(label):
    claim = CHECKS[label].claim
    assert claim == " ".join(claim.split()) and claim
    assert plain(claim).isascii(), f"signs that verify does not spell out: {claim}"


@each_check
def test_check_stands_on_a_page(label):
    assert CHECKS[label].page, f"{CHECKS[label].__module__} is exported from no page"
