"""What is sensitive is no feature, nor is what it was derived from."""

import pandas as pd
import pytest

from fairpca_paper.datasets.faces import _chosen_besides_target as chosen_besides_target
from fairpca_paper.datasets.source import Derived, _floats_and_categories, chosen_names, read_csv
from fairpca_paper.datasets.source import _separate as separate

TABLE = pd.DataFrame({"age": [20, 50], "sex": ["f", "m"], "job": ["b", "a"], "pay": [1, 2]})
DERIVED = {"age_group": Derived(("age",), lambda t: (t["age"] > 40).map({True: "o", False: "y"}))}


def test_a_derived_attribute_hides_its_source():
    features, sensitive = separate(TABLE, None, ["age_group"], DERIVED)
    assert list(features) == ["sex", "job", "pay"]
    assert sensitive["age_group"].tolist() == ["y", "o"]


def test_the_source_may_be_sensitive_itself_and_stays_a_number():
    features, sensitive = separate(TABLE, ["age"], ["age_group"], DERIVED)
    assert list(features) == ["sex", "job", "pay"]
    assert sensitive["age"].dtype == float


def test_what_is_not_chosen_stays_a_feature():
    features, sensitive = separate(TABLE, ["sex"], ["age_group", "sex"], DERIVED)
    assert list(features) == ["age", "job", "pay"]
    assert list(sensitive) == ["sex"]


def test_numbers_become_floats_and_texts_sorted_categories():
    features, sensitive = separate(TABLE, None, ["sex"], {})
    assert features.dtypes.astype(str).tolist() == ["float64", "category", "float64"]
    assert features["job"].cat.categories.tolist() == ["a", "b"]
    assert sensitive["sex"].dtype == "category"


def test_attributes_keep_the_order_in_which_they_were_named_and_come_once():
    _, sensitive = separate(TABLE, ["sex", "age_group", "sex"], ["sex"], DERIVED)
    assert list(sensitive) == ["sex", "age_group"]


def test_one_name_may_be_given_without_a_list():
    assert chosen_names("sex", ["age"], ["age", "sex"]) == ("sex",)


def test_an_unknown_name_is_answered_by_the_known_ones():
    with pytest.raises(ValueError, match=r"'gender', which.*'age_group'.*'pay'"):
        separate(TABLE, ["gender"], ["sex"], DERIVED)


def test_no_attribute_at_all_is_refused():
    with pytest.raises(ValueError, match=r"sensitive is empty.*Leave it out for 'sex'"):
        separate(TABLE, [], ["sex"], {})


def test_the_target_leaves_the_default_and_cannot_be_sensitive():
    names = ["age", "sex"]
    assert chosen_besides_target(None, None, names, names) == ("age", "sex")
    assert chosen_besides_target("sex", None, names, names) == ("age",)
    with pytest.raises(ValueError, match="target='sex' is among the sensitive"):
        chosen_besides_target("sex", ["age", "sex"], names, names)
    with pytest.raises(ValueError, match=r"target='job', which these data do not have"):
        chosen_besides_target("job", None, names, names)


def test_only_an_empty_field_is_missing(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("score,job,n\nN/A,None,1\n,nan,\nLow,NULL,3\n", encoding="utf-8")
    table = _floats_and_categories(read_csv(path))
    assert table["job"].tolist() == ["None", "nan", "NULL"]
    assert table["score"].cat.categories.tolist() == ["Low", "N/A"]
    assert table.isna().to_numpy().tolist() == [[False] * 3, [True, False, True], [False] * 3]
    assert table["n"].dtype == float
