"""Files as people have them, and files that are no tables."""

import csv
import gzip
import pickle
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

from cli.commands import invoke
from fairpca import fit_table
from fairpca._attributes import assign_roles
from fairpca.errors import MissingExtraError, TableError
from fairpca.io import CSVRows
from fairpca.models import transform_file
from fairpca.moments import collect_moments
from fairpca.tables import (
    Table,
    _text,
    check_same_columns,
    open_table,
    open_tables,
    read_table,
    require_columns,
)
from fairpca.tables._files import different_names

PEOPLE = pd.DataFrame(
    {"age": [30, 41, 52], "job": ["nurse, night", "cook", None], "ok": [True, False, True]}
)


def text_file(folder, text, name="people.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def one_line(error):
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_delimiter_is_found(tmp_path, delimiter):
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, sep=delimiter, index=False)
    table = read_table(path)
    pd.testing.assert_frame_equal(table.frame, PEOPLE, check_dtype=False)
    assert table.name == "people"
    assert table.renamed == ()


def test_a_gzipped_file_is_unpacked_and_named_without_its_endings(tmp_path):
    path = tmp_path / "people.csv.gz"
    PEOPLE.to_csv(path, index=False)
    assert read_table(path).name == "people"
    assert read_table(path).frame["age"].tolist() == [30, 41, 52]


def test_parquet_and_feather_are_known_by_their_bytes_and_not_by_their_names(tmp_path):
    PEOPLE.to_parquet(tmp_path / "one.csv")
    pa.feather.write_feather(PEOPLE, tmp_path / "two.txt")
    for name in ("one.csv", "two.txt"):
        pd.testing.assert_frame_equal(read_table(tmp_path / name).frame, PEOPLE)


DOORS = {
    "whole": read_table,
    "opened": open_table,
    "rows": lambda path, **how: CSVRows(path, sensitive="sex", features=["age"], **how),
    "moments": lambda path, **how: collect_moments(
        CSVRows(path, sensitive="sex", features=["age"], **how), None
    ),
    "fit": lambda path, **how: fit_table(path, "sex", n_components=1, **how),
    "fit in batches": lambda path, **how: fit_table([path], "sex", n_components=1, **how),
    "transform": lambda path, **how: transform_file(
        fit_table(PEOPLE_WITH_SEX, "sex", n_components=1), path, path.with_name("out.csv"), **how
    ),
    "audit": lambda path, **how: command("audit", path, **how),
}
"""All that read text files."""

PEOPLE_WITH_SEX = pd.DataFrame(
    {"age": np.arange(400) * 7 % 61, "sex": ["f", "m"] * 200, "ort": ["Köln", "Málaga"] * 200}
)


def command(name, path, **how):
    options = [word for key, value in how.items() for word in (f"--{key}", str(value))]
    out = ["--out", str(path.with_name("report.html")), "--quick", "--jobs", "1", "-q"]
    result = invoke([name, str(path), "-s", "sex", *out, *options])
    if result.exit_code:
        raise TableError(" ".join(result.output.split()))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("packed", [False, True])
def test_utf_8_needs_no_word_and_a_mark_says_enough(tmp_path, encoding, packed):
    path = text_file(tmp_path, "größe,ort\n1,Köln\n2,Málaga\n", encoding=encoding)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    for told in ({}, {"encoding": encoding}):
        frame = read_table(path, **told).frame
        assert frame.columns.tolist() == ["größe", "ort"]
        assert frame["ort"].tolist() == ["Köln", "Málaga"]


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        *(("cp1252", "cp1252"), ("latin-1", "ISO-8859-1"), ("utf-16-le", "UTF-16LE")),
        *(("utf-16-be", "utf-16-be"), ("utf-16", "utf-16-le"), ("mac_roman", "mac-roman")),
    ],
)
def test_other_encodings_are_read_where_they_are_named(tmp_path, encoding, told):
    path = text_file(tmp_path, "größe,ort\n1,Köln\n2,Málaga\n", encoding=encoding)
    table = read_table(path, encoding=told)
    assert table.frame.columns.tolist() == ["größe", "ort"]
    assert table.frame["ort"].tolist() == ["Köln", "Málaga"]
    assert table.reading == {"encoding": told}


@pytest.mark.parametrize("encoding", ["utf-9", "", "rot13", "zlib", "idna", "a\0b", 5])
def test_what_is_no_encoding_of_texts_is_refused(tmp_path, encoding):
    with pytest.raises(TableError, match="is no encoding of texts") as error:
        read_table(text_file(tmp_path, "a,b\n1,x\n2,y\n"), encoding=encoding)
    one_line(error)


@pytest.mark.parametrize("door", DOORS)
def test_a_byte_that_is_no_text_is_refused_with_its_line_at_every_door(tmp_path, door):
    path = tmp_path / "people.csv"
    PEOPLE_WITH_SEX.to_csv(path, index=False)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[300] = b"30,f,K\xf6ln\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(
        TableError, match=r"line 301 is none, because of the byte 0xF6.*--encoding cp1252"
    ):
        DOORS[door](path)
    assert [file.name for file in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("door", DOORS)
def test_a_file_of_windows_is_read_at_every_door_where_that_is_said(tmp_path, door):
    path = tmp_path / "people.csv"
    PEOPLE_WITH_SEX.to_csv(path, index=False, encoding="cp1252")
    with pytest.raises(TableError, match=r"line 2 is none, because of the byte 0xF6"):
        DOORS[door](path)
    DOORS[door](path, encoding="cp1252")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_line_far_down_is_counted(tmp_path, encoding):
    path = tmp_path / "people.csv"
    start = ("a,b\n" + "1,xé\n" * 200_000).encode(encoding)
    end = "2,y\n".encode(encoding)
    path.write_bytes(start + (b"\xff" if encoding == "utf-8" else b"\xdc\xdc") + end)
    with pytest.raises(TableError, match=r"line 200,002 is none, because of the byte"):
        read_table(path, encoding=encoding)


def test_an_encoding_that_is_not_that_of_the_file_is_refused_too(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\n1,x\n2,\x81\n")
    with pytest.raises(
        TableError, match="not all text in CP1252: line 3 is none, because of the byte 0x81"
    ):
        read_table(path, encoding="cp1252")


def test_text_that_lacks_the_mark_of_its_encoding_is_refused(tmp_path):
    path = text_file(tmp_path, "a,b\n1,x\n2,y\n")
    with pytest.raises(TableError, match=r"not all text in UTF-16: line 1 is none \(.*BOM\)"):
        read_table(path, encoding="utf-16")


def test_names_of_columns_may_begin_with_a_bracket(tmp_path):
    path = text_file(tmp_path, "<30,30-50,>50\n1,2,3\n4,5,6\n")
    assert read_table(path).frame.columns.tolist() == ["<30", "30-50", ">50"]
    path = text_file(tmp_path, "<age>;<sex>\n1;f\n2;m\n")
    assert read_table(path).frame.columns.tolist() == ["<age>", "<sex>"]


def test_only_ends_of_lines_end_lines(tmp_path):
    text = "a\u2028b,c\x85d\n" + "1\x0c,x\u2029y\n2,z\n" * 20
    frame = read_table(text_file(tmp_path, text)).frame
    assert frame.columns.tolist() == ["a\u2028b", "c\x85d"]
    assert frame.shape == (40, 2)


def test_quoted_fields_may_hold_delimiters_quotes_and_line_breaks(tmp_path):
    path = text_file(tmp_path, 'a,"b\nc"\n1,"x, ""y""\nz"\n2,w\n')
    frame = read_table(path).frame
    assert frame.columns.tolist() == ["a", "b\nc"]
    assert frame["b\nc"].tolist() == ['x, "y"\nz', "w"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('a, "b"\n1, "x, y"\n2, "z"\n', "a blank before a quote"),
        ("a b\n1  x\n2  y\n", "several blanks between the fields of a line: '1  x'"),
        (" a b\n 1 x\n 2 y\n", "several blanks between the fields of a line: ' a b'"),
    ],
)
def test_blanks_that_quote_or_divide_nothing_are_refused(tmp_path, text, why):
    with pytest.raises(TableError, match=why):
        read_table(text_file(tmp_path, text))


def test_one_blank_may_divide(tmp_path):
    path = text_file(tmp_path, "a b\n1 'x\n2.5 y\n")
    assert read_table(path).frame.to_dict("list") == {"a": [1.0, 2.5], "b": ["'x", "y"]}


def test_decimal_commas_are_read_where_commas_do_not_divide(tmp_path):
    path = text_file(tmp_path, "a;b\n1,5;x\n-2,25;y\n")
    assert read_table(path).frame["a"].tolist() == [1.5, -2.25]


def test_a_column_is_numeric_only_where_all_of_it_is(tmp_path):
    path = text_file(tmp_path, "a,b,c\n" + "1,1,true\n" * 100_000 + "x, 2.5,False\n")
    frame = read_table(path).frame
    assert frame["a"].iloc[[0, -1]].tolist() == ["1", "x"]
    assert frame["b"].dtype == float
    assert frame["c"].dtype == bool


def test_question_marks_are_missing_numbers_but_values_among_texts(tmp_path):
    frame = read_table(text_file(tmp_path, "a,b,c\n1,x,NA\n?,?,y\n3,z,z\n")).frame
    assert frame["a"].isna().tolist() == [False, True, False]
    assert frame["b"].tolist() == ["x", "?", "z"]
    assert frame["c"].isna().tolist() == [True, False, False]


def test_names_that_occur_twice_or_not_at_all_are_changed_and_reported(tmp_path):
    table = read_table(text_file(tmp_path, "a,a,,a (2)\n1,2,3,4\n"), header=True)
    assert table.frame.columns.tolist() == ["a", "a (3)", "column_3", "a (2)"]
    assert table.renamed == (("a", "a (3)"), ("", "column_3"))


def test_the_fingerprint_is_that_of_the_bytes(tmp_path):
    one = read_table(text_file(tmp_path, "a,b\n1,x\n", "one.csv")).fingerprint
    two = read_table(text_file(tmp_path, "a,b\n1,x\n", "two.csv")).fingerprint
    other = read_table(text_file(tmp_path, "a,b\n1,y\n", "two.csv")).fingerprint
    assert one.startswith("sha256:")
    assert one == two != other


@pytest.mark.parametrize(
    "text", ["39,Private,13\n50,State,9\n", "x y 3\nz y 4\n", "a,b\nc,b\na,d\n"]
)
def test_a_first_line_of_data_is_never_taken_for_names(tmp_path, text):
    path = text_file(tmp_path, text)
    with pytest.raises(TableError, match="looks like data") as error:
        read_table(path)
    assert "header=False" in one_line(error)
    numbered = read_table(path, header=False).frame
    assert len(numbered) == len(text.splitlines())
    assert numbered.columns[0] == "column_1"
    names = [f"n{i}" for i in range(numbered.shape[1])]
    assert read_table(path, columns=names).frame.columns.tolist() == names


def test_years_may_be_names_where_the_user_says_so(tmp_path):
    path = text_file(tmp_path, "land,2019,2020\nde,1,2\nfr,3,4\n")
    assert read_table(path, header=True).frame.columns.tolist() == ["land", "2019", "2020"]


def test_lines_before_the_table_are_left_out_on_request(tmp_path):
    path = text_file(tmp_path, "made by somebody\n\na,b\n1,x\n2,y\n3,z\n4,u\n")
    with pytest.raises(TableError, match="skip_lines"):
        read_table(path)
    assert read_table(path, skip_lines=1).frame["a"].tolist() == [1, 2, 3, 4]


def test_the_wrong_number_of_given_names_is_refused(tmp_path):
    with pytest.raises(TableError, match="2 columns in most of its lines, but columns= names 3"):
        read_table(text_file(tmp_path, "1,x\n2,y\n"), columns=["a", "b", "c"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n \n\n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "HTML"),
        ("<!DOCTYPE html><html></html>".encode("utf-16"), "HTML"),
        (b'<?xml version="1.0"?><a><b>1, 2</b></a>', "XML"),
        (b'<people kind="all">\n<person/>\n</people>', "XML"),
        (b'{"a": [1, 2]}', "JSON"),
        (b"PK\x03\x04rest", "Excel"),
        (bytes(range(256)) * 9, "binary"),
        (b"word\nanother\nthird\n", "is not a table"),
        (
            b"It was, all in all, a day\nlike others: dull, grey.\nNobody, she said\n",
            "is not a table",
        ),
        (b"a,b\n1,x\n2,y\n3,z\n4,u\n5\n", "1 fields instead of 2"),
        (b"a,b\n1,x\n2,y\n3,z\n4,u\n5,6,7\n", "3 fields instead of 2"),
        (b"a b\n1 x\n2 y\n3 z\n4 u\n5\n", "1 fields instead of 2"),
        (b",\n,1\n,2\n", "most of its 2 columns have no name"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path, content, words):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=words) as error:
        read_table(path)
    assert "people.csv" in one_line(error)


@pytest.mark.parametrize("kind", ["csv.gz", "parquet", "feather"])
def test_a_truncated_file_is_refused(tmp_path, kind):
    path = tmp_path / f"people.{kind}"
    frame = pd.DataFrame({"a": np.arange(50_000) * 7919 % 1009, "b": "x"})
    if kind == "csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        pa.feather.write_feather(frame, path)
    assert len(read_table(path).frame) == 50_000
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(TableError, match=r"damaged|cut.off") as error:
        read_table(path)
    one_line(error)


def test_a_missing_file_is_answered_with_names_that_are_close(tmp_path):
    text_file(tmp_path, "a,b\n1,x\n", "People.csv")
    with pytest.raises(TableError, match=r"Did you mean 'People\.csv'\?") as error:
        read_table(tmp_path / "poeple.csv")
    one_line(error)
    with pytest.raises(TableError, match="Did you mean 'loanapp'"):
        read_table("lonapp")
    with pytest.raises(TableError, match=r"folder .* does not exist"):
        read_table(tmp_path / "nowhere" / "people.csv")


def test_a_folder_is_answered_with_what_it_holds(tmp_path):
    text_file(tmp_path, "a,b\n1,x\n")
    with pytest.raises(TableError, match=r"is a folder, not a table\. It holds 'people\.csv'"):
        read_table(tmp_path)


def test_a_table_without_rows_is_refused_in_every_format(tmp_path):
    PEOPLE.head(0).to_parquet(tmp_path / "none.parquet")
    with pytest.raises(TableError, match="no rows"):
        read_table(tmp_path / "none.parquet")
    with pytest.raises(TableError, match="no rows"):
        Table.from_frame(PEOPLE.head(0))


def test_arguments_for_text_files_are_refused_for_others(tmp_path):
    PEOPLE.to_parquet(tmp_path / "people.parquet")
    with pytest.raises(TableError, match="Leave them out"):
        read_table(tmp_path / "people.parquet", header=False)


def test_the_built_in_name_is_known_where_no_file_is_called_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loans = read_table("loanapp")
    assert loans.sensitive == ("race", "sex", "married", "old")
    assert loans.labels["loanprc"] == "loan-to-price ratio"
    assert loans.title
    assert loans.target == "approve"
    assert {"race", "sex", "approve"} < set(loans.frame.columns)
    assert loans.fingerprint == read_table("loanapp").fingerprint
    text_file(tmp_path, "a,b\n1,x\n", "loanapp")
    assert read_table("loanapp").frame.shape == (1, 2)


def test_frames_of_other_libraries_are_taken():
    arrow = pa.Table.from_pandas(PEOPLE, preserve_index=False)
    for frame in (PEOPLE, pl.from_pandas(PEOPLE), pl.from_pandas(PEOPLE).lazy(), arrow):
        table = Table.from_frame(frame, name="people")
        pd.testing.assert_frame_equal(table.frame, PEOPLE, check_dtype=False)
    twice = Table.from_frame(arrow.rename_columns(["a", "b", "a"]))
    assert twice.renamed == (("a", "a (2)"),)
    with pytest.raises(TypeError, match="list was given"):
        Table.from_frame([1, 2])


def test_values_have_a_fingerprint_whatever_their_types():
    strange = pd.DataFrame(
        {"a": [1, "x", None], "b": [[1], [2], [3]], "c": pd.Categorical([1, 2, 1])}
    )
    same = Table.from_frame(strange.copy()).fingerprint
    assert Table.from_frame(strange).fingerprint == same
    strange.loc[0, "a"] = 2
    assert Table.from_frame(strange).fingerprint != same


@pytest.mark.parametrize(
    "values", [[["x1", "y"], ["z"]], [b"\xff\x00", b"\x80"], [[[1], [2, 3]], [[4]]]]
)
def test_equal_values_have_one_fingerprint_wherever_they_are_in_memory(values):
    prints = set()
    for copy in (values, pickle.loads(pickle.dumps(values))):
        frame = pd.DataFrame({"a": pd.Series([*copy, None] * 20, dtype=object)})
        prints |= {Table.from_frame(f).fingerprint for f in (frame, frame.copy())}
        arrow = pa.table({"a": [*copy, None] * 20})
        both = [Table.from_frame(arrow) for _ in range(2)]  # in memory at once
        assert both[0].fingerprint == both[1].fingerprint
    assert len(prints) == 1
    other = pd.DataFrame({"a": pd.Series([*values, values[0]] * 20, dtype=object)})
    assert Table.from_frame(other).fingerprint not in prints


def test_a_missing_library_is_named_with_its_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"fairpca\[tables\]"):
        read_table(text_file(tmp_path, "a,b\n1,x\n"))


def test_the_raw_files_of_the_papers_data_are_read(data_folder):
    bank = read_table(data_folder / "bank" / "bank-additional-full.csv")
    assert bank.frame.shape == (41_188, 21)
    compas = read_table(data_folder / "compas" / "compas-scores-two-years.csv")
    assert compas.frame.shape == (7214, 53)
    assert ("priors_count", "priors_count (2)") in compas.renamed
    adult = read_table(data_folder / "adult" / "adult.data", header=False)
    assert adult.frame.shape == (32_561, 15)
    assert set(adult.frame["column_10"]) == {"Male", "Female"}
    test = read_table(data_folder / "adult" / "adult.test", header=False, skip_lines=1)
    assert test.frame.shape == (16_281, 15)
    german = read_table(data_folder / "german" / "german.data", header=False)
    assert german.frame.shape == (1000, 21)
    for name in ("adult/adult.data", "adult/adult.test", "adult/adult.names", "german/german.data"):
        with pytest.raises(TableError):
            read_table(data_folder / name)


def test_a_first_line_of_empty_fields_shifts_no_row(tmp_path):
    path = text_file(tmp_path, ",,\na,b,c\n1,2,x\n3,4,y\n")
    with pytest.raises(TableError, match="no name"):
        read_table(path)
    assert read_table(path, skip_lines=1).frame["a"].tolist() == [1, 3]


@pytest.mark.parametrize("name", ["x", "gene_{}", "x ({})"])
def test_a_header_of_many_columns_is_read_in_time_that_grows_with_it(tmp_path, name):
    names = [name.format(i) for i in range(60_000)]
    rows = "".join(",".join([str(i)] * 60_000) + "\n" for i in range(3))
    path = text_file(tmp_path, ",".join(names) + "\n" + rows)
    table = open_table(path, header=True)
    assert len(set(table.names)) == 60_000
    assert len(table.renamed) == 60_000 - len(set(names))
    some = table.names[::20_000]
    assert [batch.num_rows for batch in table.batches(some, 16)] == [3]
    open_tables(
        [path, text_file(tmp_path, path.read_text(encoding="utf-8"), "more.csv")], header=True
    )


class Counted(str):
    """A name that counts how often it is compared with another."""

    __slots__ = ()
    comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.comparisons += 1
        return str.__eq__(self, other)


def test_names_are_looked_up_and_not_compared_with_each_other(tmp_path):
    one, other = ([Counted(f"column {i}") for i in range(2000)] for _ in range(2))
    frame = pd.DataFrame(np.zeros((1, 2000)), columns=[str(name) for name in one])
    frame.to_feather(tmp_path / "people.feather")
    table = open_table(tmp_path / "people.feather")
    first, file = (replace(table, names=tuple(n), written=tuple(n)) for n in (one, other))
    steps = {
        "different": lambda: different_names(one),
        "same columns": lambda: check_same_columns([first, file]),
        "needed columns": lambda: check_same_columns([first, file], other),
        "once": lambda: first.check_once(other),
        "required": lambda: require_columns(one, other),
        "roles": lambda: assign_roles(one, sensitive=other[0], features=other[1:], file="it"),
        "ignored": lambda: list(
            map(assign_roles(one, sensitive=other[:1], ignore=other[1:1999]).of, one)
        ),
    }
    for step, do in steps.items():
        Counted.comparisons = 0
        do()
        assert Counted.comparisons <= 20 * 2000, step


@pytest.mark.parametrize("field", ["x" * 200_000, "one two " * 50_000])
@pytest.mark.parametrize("delimiter", [",", ";", " "])
def test_fields_may_be_long(tmp_path, delimiter, field):
    lines = ["a" + delimiter + "b", *(f'{i}{delimiter}"{field}{i}"' for i in range(12))]
    path = text_file(tmp_path, "\n".join(lines))
    limit = csv.field_size_limit()
    whole, table = read_table(path).frame, open_table(path)
    parts = [text for batch in table.batches(["b"], 5) for text in batch.column(0).to_pylist()]
    assert whole["b"].tolist() == parts == [f"{field}{i}" for i in range(12)]
    assert csv.field_size_limit() == limit


def test_a_quote_that_is_never_closed_is_refused_in_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "_LONGEST", 2**20)
    for text, start in (("a b\n" + "1 x\n" * 100_000, "2 "), ("a,b\n" + "1,x\n" * 100_000, "2,")):
        path = text_file(tmp_path, text + start + '"' + "y\n" * 2**23)
        with pytest.raises(TableError, match=r"a row is longer than .*Is a quote open") as error:
            read_table(path)
        one_line(error)


def test_a_line_without_end_is_no_table(tmp_path, monkeypatch):
    monkeypatch.setattr(_text, "_LONGEST", 2**20)
    with pytest.raises(TableError, match=r"is not a table: the first 1,048,576 characters are 0"):
        read_table(text_file(tmp_path, "a," * 2**21))


def test_a_line_that_is_no_text_is_counted_where_what_stands_before_it_is_none(tmp_path):
    content = bytearray("a,b\n1,2\n3,4\n".encode("utf-32"))
    content[4 + 4 * 2 + 2] = content[4 + 4 * 5 + 2] = 0xFF  # two characters that do not exist
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(TableError, match=r"UTF-32: line 1 is none"):
        read_table(tmp_path / "table.csv", encoding="utf-32")


def test_long_fields_are_shown_in_part(tmp_path):
    (tmp_path / "table.csv").write_text(f"{'x' * 9000},1.5,2.5\n" * 4, encoding="utf-8")
    with pytest.raises(TableError, match="looks like data") as refusal:
        read_table(tmp_path / "table.csv")
    assert len(str(refusal.value)) < 700


def test_lists_are_no_groups():
    table = pd.DataFrame({"x": np.arange(60.0), "parts": [[1], [2]] * 30})
    with pytest.raises(TableError, match="'parts' holds lists"):
        fit_table(table, "parts")


def test_utf_16_that_is_none_is_refused(tmp_path):
    (tmp_path / "table.csv").write_bytes("ä;b\n1;2\n".encode("utf-8-sig") * 40 + b"\xd8\x00\xd8")
    with pytest.raises(TableError, match="is not all text in UTF-16"):
        read_table(tmp_path / "table.csv", encoding="utf-16")
