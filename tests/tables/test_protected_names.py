"""Features that look like attributes that the law may protect are pointed out, and others not."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairpca
from fairpca.tables import check_columns
from fairpca.tables._protected_names import about_protected, protected_attribute

PROTECTED = {
    "marital status": "married marital_status spouse husband divorced civil_status is_married "
    "personal_status spouse_income widowed maritalstatus",
    "nationality or origin": "nationality citizen citizenship country_of_birth native_country "
    "immigrant foreign_worker birth_country countryofbirth place_of_birth mother_tongue",
    "age": "age dob birthday date_of_birth year_of_birth old years_old age_group customer_age "
    "applicant_age age_at_loan senior_citizen dateofbirth car_owner_age birth",
    "religion": "religion religious_group faith church church_tax",
    "disability": "disability disabled is_disabled handicap handicapped disability_status",
    "pregnancy or parenthood": "pregnant pregnancy is_pregnant maternity maternity_leave",
    "ethnic origin": "race ethnicity ethnic_group race_ethnicity hispanic applicant_race",
    "sex": "sex gender male is_female gender_code applicant_sex",
    "sexual orientation": "sexual_orientation orientation",
    "union membership": "union union_member",
    "veteran status": "veteran is_veteran veterans",
    "place of residence": "postcode zip zip_code zipcode postal_code post_code home_zip",
}

HARMLESS = """
percentage average page usage package mortgage language manage stage wage acreage racetrack
account_age loan_age vehicle_age car_age house_age building_age property_age credit_age policy_age
age_of_vehicle age_of_oldest_account average_account_age housing_median_age birth_rate old_balance
oldest_account threshold household stock sextant trace grace terrace brace horse_race race_time
gross_weight sale storage coverage mileage image voltage unzip zip_file credit_union reunion
account_disabled disabled_at faithful good_faith income price screen_orientation marriott
education occupation hours_per_week capital_gain birch voyage management agent agency eager agenda
engaged package_weight management_level
"""
OTHERS = HARMLESS.split()

POSITIVE = [(name, label) for label, names in PROTECTED.items() for name in names.split()]
STYLES = {
    "snake": str,
    "capitals": str.upper,
    "dashes": lambda name: name.replace("_", "-"),
    "blanks": lambda name: name.replace("_", " ").capitalize(),
    "camel": lambda name: re.sub("_(.)", lambda found: found[1].upper(), name),
    "numbered": lambda name: f"{name}_2",
    "dotted": lambda name: name.replace("_", "."),
}
styles = pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)


@styles
def test_names_of_protected_attributes_are_found_however_they_are_written(style):
    assert {name: protected_attribute(style(name)) for name, _ in POSITIVE} == dict(POSITIVE)


@styles
def test_other_names_are_not_although_they_contain_such_words(style):
    assert [name for name in OTHERS if protected_attribute(style(name))] == []


@given(st.text(max_size=40))
def test_any_name_is_read(name):
    assert protected_attribute(name) in {None, *PROTECTED}


@given(st.lists(st.sampled_from([name for name, _ in POSITIVE] + OTHERS), unique=True))
def test_every_such_column_counts_and_nothing_else(names):
    found = [name for name in names if name not in OTHERS]
    told = about_protected(names)
    assert (told is None) == (not found)
    if told is not None:
        listed = told.partition(" look")[0]
        assert re.findall("'(.*?)'", listed) == found[:10]
        assert ("and " in listed) == (len(found) > 10)
        assert all(label in told for name, label in POSITIVE if name in found)


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "race": rng.choice(["x", "y"], n),
            "married": rng.choice(["no", "yes"], n),
            "Age": rng.integers(18, 80, n),
            "wage": rng.normal(size=n),
            "loan_age": rng.integers(1, 30, n),
            "paid": rng.integers(0, 2, n),
        }
    )


def noticed(frame, sensitive, target=None):
    return [n for n in check_columns(frame, sensitive, target) if n.kind == "protected"]


def test_a_notice_names_them_and_what_to_do():
    (notice,) = noticed(people(), ["race"], "paid")
    assert (notice.severity, notice.column, notice.other) == ("warning", "married", None)
    assert notice.text == (
        "'married', 'Age' look like attributes that the law may protect (marital status, age), "
        "and are features. Add them to sensitive=... (command line: --sensitive) to measure and "
        "protect them, or to ignore=... (--ignore) to leave them out."
    )
    (notice,) = noticed(people(), ["race", "married"])
    assert notice.text.startswith("'Age' looks like an attribute that the law may protect (age)")


def test_what_is_declared_left_out_or_the_target_is_not_noticed():
    frame = people()
    assert noticed(frame, ["race", "married", "Age"]) == []
    assert noticed(frame.drop(columns=["married", "Age"]), ["race"]) == []
    assert noticed(frame.drop(columns="married"), ["race"], "Age") == []


def test_what_has_no_information_or_copies_a_declared_attribute_is_not_noticed():
    frame = people().drop(columns=["married", "Age"])
    assert noticed(frame.assign(zip=12345, gender=None), ["race"]) == []
    assert noticed(frame.assign(ethnicity=frame["race"]), ["race"]) == []


@pytest.fixture
def audited(request):
    frame = people()
    how = {"n_components": 2, "quick": True, "n_jobs": 1}
    return fairpca.audit(frame, "race", "paid", **how, **request.param)


@pytest.mark.parametrize("audited", [{"ignore": ["Age"]}], indirect=True)
def test_an_audit_and_its_page_show_the_notice(audited, tmp_path):
    (notice,) = [n for n in audited.notices if n.kind == "protected"]
    assert notice.severity == "warning"
    assert notice.text.startswith("'married' looks like an attribute")
    page = tmp_path / "page.html"
    audited.to_html(page)
    assert notice.text in unescape(page.read_text(encoding="utf-8"))


def test_a_fitted_model_keeps_the_notice_and_its_card_shows_it():
    model = fairpca.fit_table(people(), "race", ignore=["paid", "married"], n_components=1)
    (text,) = [text for text in model.info_["notices"] if "the law may protect" in text]
    assert text.startswith("'Age' looks like")
    assert "the law may protect (age)" in fairpca.models.model_card(model)
    others = {"ignore": ["paid", "Age"], "n_components": 1}
    model = fairpca.fit_table(people().assign(x=range(600)), ["race", "married"], **others)
    assert not any("the law may protect" in text for text in model.info_.get("notices", []))


ADULT = {"age", "marital-status", "race", "sex", "native-country"}
GERMAN = {"personal_status", "age", "foreign_worker"}
COMPAS = {"sex", "dob", "age", "age_cat", "race"}


def columns_of(data_folder, name):
    from fairpca_paper.datasets import people as tables

    if name == "compas":
        return list(pd.read_csv(data_folder / "compas" / "compas-scores-two-years.csv", nrows=5))
    return {"adult": tables.ADULT_COLUMNS, "german": tables.GERMAN_COLUMNS}[name]


@pytest.mark.parametrize(
    ("name", "expected"), [("adult", ADULT), ("german", GERMAN), ("compas", COMPAS)]
)
def test_columns_of_real_tables(data_folder, name, expected):
    found = {column for column in columns_of(data_folder, name) if protected_attribute(column)}
    assert found == expected


def test_the_loans_declare_all_that_looks_protected():
    loans = fairpca.datasets.load_loanapp()
    assert about_protected(list(loans.features)) is None
    assert about_protected(list(loans.sensitive)).startswith("'race', 'sex', 'married', 'old'")
