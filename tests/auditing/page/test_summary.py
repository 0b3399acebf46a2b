"""The few lines for notebooks."""

import pytest

from auditing.page.made_up_audit import (
    SCRIPT,
    bare_audit,
    hostile_audit,
    made_up_audit,
    render_summary,
)
from fairpca.errors import AuditError


def test_the_summary_holds_the_findings_and_leakage_before_and_after():
    audit = made_up_audit()
    fragment = render_summary(audit)
    assert audit["summary"]["headline"] in fragment
    assert all(sentence in fragment for sentence in audit["summary"]["sentences"])
    assert fragment.count("<table") == len(audit["data"]["attributes"])
    for name in ("Raw features", "Fair kernel PCA"):
        assert fragment.count(f">{name}</th>") == len(audit["data"]["attributes"])
    raw = next(one for one in audit["leakage"] if one["representation"] == "raw")
    assert f"{raw['auc']['value']:.3f}" in fragment


def test_the_summary_is_small_and_has_no_scripts():
    fragment = render_summary(hostile_audit())
    assert "<script" not in fragment
    assert "<img" not in fragment
    assert SCRIPT.replace("<", "&lt;").replace(">", "&gt;") in fragment
    assert len(fragment) < 20_000


def test_numbers_that_are_missing_are_called_so():
    assert "n/a" in render_summary(bare_audit())


def test_something_else_than_an_audit_is_refused():
    with pytest.raises(AuditError):
        render_summary({})
