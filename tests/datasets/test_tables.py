"""Tables are read as they are written."""

from fairpca.datasets._dataset import floats_and_categories
from fairpca.datasets._source import read_csv


def test_only_an_empty_field_is_missing(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("score,job,n\nN/A,None,1\n,nan,\nLow,NULL,3\n")
    table = floats_and_categories(read_csv(path))
    assert table["job"].tolist() == ["None", "nan", "NULL"]
    assert table["score"].cat.categories.tolist() == ["Low", "N/A"]
    assert table.isna().to_numpy().tolist() == [[False] * 3, [True, False, True], [False] * 3]
    assert table["n"].dtype == float
