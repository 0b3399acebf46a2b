import json

import jsonschema
import pytest

from fairpca.auditing import audit_schema
from fairpca.auditing._results import SCHEMA_VERSION


def test_the_schema_itself_is_valid():
    jsonschema.Draft202012Validator.check_schema(audit_schema())


def test_an_audit_follows_its_schema(found):
    jsonschema.validate(json.loads(found.to_json()), audit_schema())


def test_an_audit_without_target_and_with_failures_follows_it_too(of_one_column):
    jsonschema.validate(json.loads(of_one_column.to_json()), audit_schema())


@pytest.mark.parametrize(
    "damage",
    [
        lambda audit: audit.pop("leakage"),
        lambda audit: audit.update(surprise=1),
        lambda audit: audit["leakage"][0].update(auc="high"),
        lambda audit: audit["data"].update(n_rows=None),
    ],
)
def test_something_else_does_not(found, damage):
    plain = found.to_dict()
    damage(plain)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain, audit_schema())


def test_every_field_is_described():
    for part in audit_schema()["$defs"].values():
        assert all(entry["description"] for entry in part["properties"].values())


def test_the_version_is_in_schema_and_audit(found):
    assert found.schema_version == SCHEMA_VERSION
    assert SCHEMA_VERSION in audit_schema()["description"]
