"""What is wrong with files is said by file, row group and column, before work is wasted on it."""

import gzip
import os
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairpca import FairKernelPCA, FairPCA, FairPLS, fit_table
from fairpca.errors import FairPCAError, MissingGroupError, MissingTargetError, TableError
from fairpca.io import CSVRows, ParquetRows
from fairpca.moments import collect_moments
from out_of_core.people_in_files import FEATURES, people, write_in_parts, write_parquet
from systems import links

PLAIN = {"sensitive": "race", "features": FEATURES}


@pytest.fixture
def folder(tmp_path):
    return write_in_parts(people(missing=0), tmp_path / "d", [400, 700], row_group_size=100)


def refused(folder, match, error=TableError, **how):
    with pytest.raises(error, match=match) as caught:
        FairPCA(2).fit(ParquetRows(folder, **{**PLAIN, **how}))
    assert isinstance(caught.value, FairPCAError)
    assert isinstance(caught.value, ValueError)


def test_a_truncated_file_is_refused_before_any_row_is_read(folder, monkeypatch):
    last = folder / "part-002.parquet"
    last.write_bytes(last.read_bytes()[:-100])
    monkeypatch.setattr(ParquetRows, "_batches", lambda *_: pytest.fail("rows were read"))
    refused(folder, r"part-002\.parquet' is a damaged or cut-off parquet file")


def test_a_file_that_is_damaged_inside_is_refused_by_row_group(folder):
    last = folder / "part-001.parquet"
    column = pq.ParquetFile(last).metadata.row_group(2).column(3)
    content = bytearray(last.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    content[start : start + 40] = b"\xff" * 40
    last.write_bytes(content)
    refused(folder, r"Row group 2 of '.*part-001\.parquet' cannot be read", batch_rows=60)
    refused(folder, r"Row groups 0 to 2 of '.*part-001\.parquet' cannot be read")


def test_one_flipped_bit_is_noticed_in_files_with_checksums(tmp_path):
    """Without checksums nobody can: the number is merely another one."""
    table = pa.Table.from_pandas(people(missing=0), preserve_index=False)
    path = tmp_path / "people.parquet"
    pq.write_table(table, path, use_dictionary=False, compression="none", write_page_checksum=True)
    fitted = FairPCA(2).fit(ParquetRows(path, **PLAIN))  # the file is fine until then
    assert fitted.components_.shape == (2, len(FEATURES))
    index = table.column_names.index(FEATURES[0])
    column = pq.ParquetFile(path).metadata.row_group(0).column(index)
    content = bytearray(path.read_bytes())
    content[column.data_page_offset + column.total_compressed_size - 100] ^= 1
    path.write_bytes(content)
    refused(path, "cannot be read.*checksum|cannot be read.*CRC")
    with pytest.raises(TableError, match="damaged"):
        fit_table(path, sensitive="race")


def test_files_that_are_no_parquet_are_refused(folder):
    last = folder / "part-001.parquet"
    last.write_bytes(b"")
    refused(folder, r"part-001\.parquet' is empty")
    last.write_text("a,b\n1,2\n", encoding="utf-8")
    refused(folder, r"part-001\.parquet' is not a Parquet file.*CSVRows")
    last.write_bytes(b"\x00" * 100)
    refused(folder, r"part-001\.parquet' is not a table: it is binary")


def test_a_later_file_with_other_columns_is_refused(folder):
    renamed = people(20, missing=0).rename(columns={"x3": "y3"})
    write_parquet(renamed, folder / "part-003.parquet")
    refused(folder, r"part-003\.parquet' lacks the column 'x3'.*'x\d+'")
    more = people(20, missing=0).assign(y3=0.0)
    write_parquet(more, folder / "part-003.parquet")
    ignored = ["hired", "w", "id", "age"]
    refused(folder, r"has the column 'y3', which", features=None, ignore=ignored)
    assert ParquetRows(folder, **PLAIN).n_rows == 1020


def test_a_later_file_with_other_types_is_refused(folder):
    write_parquet(people(20, missing=0).astype({"x3": str}), folder / "part-003.parquet")
    refused(folder, r"'x3' is of type .*string in '.*part-003\.parquet', but of type double")
    write_parquet(people(20, missing=0).assign(race=1), folder / "part-003.parquet")
    refused(folder, r"'race' is of type int64 in '.*part-003\.parquet'")
    coded = people(20, missing=0).astype({"race": "category"})
    write_parquet(coded, folder / "part-003.parquet")
    assert ParquetRows(folder, **PLAIN).n_rows == 1020


def test_missing_and_infinite_features_are_refused_by_place(folder):
    frame = people(300, missing=0)
    frame.loc[250, "x5"] = np.nan
    table = pa.Table.from_pandas(frame, preserve_index=False)  # NaN becomes null
    pq.write_table(table, folder / "part-003.parquet", row_group_size=120)
    where = r"of row group 2 of '.*part-003\.parquet'"
    refused(folder, rf"'x5' is missing in 1 of rows 0 to 59 {where}", batch_rows=100)
    frame = people(300, missing=0)
    for value, told in ((np.nan, "missing"), (np.inf, "infinite")):
        x5 = frame["x5"].to_numpy().copy()
        x5[250] = value
        odd = table.set_column(5, "x5", pa.array(x5, from_pandas=False))
        pq.write_table(odd, folder / "part-003.parquet", row_group_size=120)
        refused(folder, rf"'x5' is {told}.* in row 10 of rows 0 to 59 {where}", batch_rows=100)


def test_missing_attributes_are_refused_by_place(folder):
    write_parquet(people(300), folder / "part-003.parquet")
    refused(folder, r"In rows .* of '.*part-003\.parquet': .*missing", error=MissingGroupError)


def test_columns_that_are_no_numbers_are_refused_by_name(folder):
    refused(folder, r"'id' \(.*string\).*fairpca fit", features=None, ignore=["hired", "w"])
    dated = people(50, missing=0).assign(born=pd.Timestamp("2000-01-01"))
    write_parquet(dated, folder / "dated.parquet")
    refused(folder / "dated.parquet", r"'born' is of type timestamp", sensitive="born")
    refused(folder / "dated.parquet", r"'born' \(timestamp", features=["x1", "born"])
    refused(folder / "dated.parquet", r"weight 'id' is of type .*string", weight="id")


def test_misspelt_and_doubly_used_columns_are_refused(folder):
    refused(folder, r"no column 'rase' in '.*Did you mean 'race'", sensitive="rase")
    refused(folder, r"no column 'y1'", features=["y1"])
    refused(folder, r"'x1' is named twice, as weight and as features", weight="x1")
    refused(folder, "No sensitive column", sensitive=[], error=MissingGroupError)
    refused(folder, "No feature is left", features=[])


def test_no_file_and_the_same_file_twice_are_refused(folder, tmp_path):
    refused(folder / "*.parq", r"No file matches '.*\*\.parq'")
    refused(tmp_path / "nowhere.parquet", "There is no file")
    refused([], "empty")
    empty = tmp_path / "empty"
    empty.mkdir()
    refused(empty, "holds no file that ends in .parquet")
    refused([folder, folder / "part-001.parquet"], "is named twice")
    os.link(folder / "part-001.parquet", tmp_path / "link.parquet")
    refused([folder, tmp_path / "link.parquet"], "also as '.*part-001.parquet'")


def test_folders_skip_hidden_files_and_refuse_columns_in_their_names(folder, tmp_path):
    (folder / "_SUCCESS.parquet").write_text("", encoding="utf-8")
    (folder / ".part.parquet").write_text("", encoding="utf-8")
    (folder / "_delta_log").mkdir()
    (folder / "_delta_log" / "0.parquet").write_text("", encoding="utf-8")
    assert ParquetRows(folder, **PLAIN).n_rows == 1000
    keyed = tmp_path / "keyed"
    (keyed / "year=2024").mkdir(parents=True)
    write_parquet(people(50, missing=0), keyed / "year=2024" / "1.parquet")
    refused(keyed, "the column 'year' is in their names")
    assert ParquetRows(keyed / "*" / "*.parquet", **PLAIN).n_rows == 50


@pytest.mark.parametrize("content", ["other rows", "nothing"])
def test_a_file_that_changes_while_it_is_read_is_refused(folder, content):
    def change(done, total):
        if done == 100:
            (folder / "part-002.parquet").write_bytes(b"" if content == "nothing" else other)

    other = write_parquet(people(300, 5, missing=0), folder / "other", 100).read_bytes()
    how = {"batch_rows": 100, "progress": change, "n_jobs": 1}
    refused(folder, r"part-002\.parquet' was changed while it was read", **how)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_that_grows_between_two_passes_is_refused(tmp_path, ending):
    frame, path, passes = people(300, missing=0), tmp_path / f"people.{ending}", []

    def write(n):
        some = frame[:n]
        return write_parquet(some, path) if ending == "parquet" else some.to_csv(path, index=False)

    def grow(done, total):
        if done == 200:
            passes.append(done)
        if len(passes) == 2:
            write(300)

    write(200)
    rows = (ParquetRows if ending == "parquet" else CSVRows)(
        path, **PLAIN, target="hired", batch_rows=100, progress=grow, n_jobs=1
    )
    with pytest.raises(TableError, match=rf"people\.{ending}' was changed while it was read"):
        FairPLS().fit(rows)


def test_a_target_that_was_not_named_is_asked_for(folder):
    rows = ParquetRows(folder, **PLAIN)
    with pytest.raises(MissingTargetError, match="equalized_odds"):
        collect_moments(rows, None, criterion="equalized_odds")
    with pytest.raises(MissingTargetError, match="equalized_odds"):
        FairPCA(1, criterion="equalized_odds").fit(rows)


@pytest.mark.parametrize(
    "how", [{"n_jobs": 0}, {"n_jobs": 1.5}, {"batch_rows": 0}, {"dtype": "int8"}]
)
def test_settings_that_make_no_sense_are_refused(folder, how):
    with pytest.raises(ValueError, match=next(iter(how))):
        ParquetRows(folder, **PLAIN, **how)


def test_no_thread_is_left_after_an_error(folder):
    def broken(done, total):
        raise RuntimeError("broken")

    for n_jobs in (1, 3):
        with pytest.raises(RuntimeError, match="broken"):
            FairPCA(1).fit(
                ParquetRows(folder, progress=broken, batch_rows=10, n_jobs=n_jobs, **PLAIN)
            )
        assert not [t.name for t in threading.enumerate() if t.name.startswith("fairpca")]


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_of_several_errors_the_one_of_the_first_rows_is_told(folder, n_jobs):
    """However late it comes; and so many batches are in memory as there are threads."""
    there, most = [], []

    def collect(batch):
        there.append(batch.number)
        most.append(len(there))
        time.sleep(0.05 if batch.number == 3 else 0.001)
        there.remove(batch.number)
        if batch.number >= 3:
            raise TableError(f"batch {batch.number}")

    rows = ParquetRows(folder / "part-000.parquet", batch_rows=20, n_jobs=n_jobs, **PLAIN)
    with pytest.raises(TableError, match="batch 3"):
        rows.fold(collect)
    assert max(most) <= n_jobs


def test_ragged_and_wrong_lines_of_text_files_are_refused_by_place(tmp_path):
    frame = people(300, missing=0).drop(columns=["hired", "w", "id", "age"])
    frame.to_csv(tmp_path / "1.csv", index=False)
    lines = (tmp_path / "1.csv").read_text(encoding="utf-8").splitlines()
    second = tmp_path / "2.csv"
    second.write_text("\n".join([*lines[:200], "1,2,3"]), encoding="utf-8")
    with pytest.raises(TableError, match=r"2\.csv' has a line with 3 fields instead of 17"):
        collect_moments(CSVRows(tmp_path, sensitive="race"), None)
    second.write_text(
        "\n".join([*lines[:200], "oops," + lines[200].partition(",")[2]]), encoding="utf-8"
    )
    with pytest.raises(TableError, match=r"'x0' has 'oops' in rows .* of '.*2\.csv'"):
        collect_moments(CSVRows(tmp_path, sensitive="race"), None)
    second.write_text(
        "\n".join([*lines[:200], "?," + lines[200].partition(",")[2]]), encoding="utf-8"
    )
    with pytest.raises(TableError, match=r"'x0' is missing in 1 of rows .* of '.*2\.csv'"):
        collect_moments(CSVRows(tmp_path, sensitive="race"), None)
    second.write_text("\n".join(lines[:200]).replace("x3", "y3"), encoding="utf-8")
    with pytest.raises(TableError, match=r"2\.csv' lacks the column 'x3'"):
        collect_moments(CSVRows(tmp_path, sensitive="race"), None)


def test_text_files_that_are_cut_off_or_none_are_refused(tmp_path, folder):
    packed = tmp_path / "p.csv.gz"
    frame = people(3000, missing=0).drop(columns=["hired", "w", "id", "age"])
    packed.write_bytes(gzip.compress(frame.to_csv(index=False).encode())[:-2000])
    with pytest.raises(TableError, match=r"p\.csv\.gz"):
        collect_moments(CSVRows(packed, sensitive="race"), None)
    with pytest.raises(TableError, match="ParquetRows"):
        CSVRows(folder / "part-000.parquet", sensitive="race")
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    with pytest.raises(TableError, match="is empty"):
        CSVRows(tmp_path / "empty.csv", sensitive="race")


@links
def test_linked_folders_are_read(folder, tmp_path):
    elsewhere = write_in_parts(people(50, seed=3, missing=0), tmp_path / "elsewhere", [])
    (elsewhere / "part-000.parquet").rename(elsewhere / "more.parquet")
    (folder / "more").symlink_to(elsewhere)
    (elsewhere / "round").symlink_to(folder)  # a loop
    rows = ParquetRows(folder, **PLAIN)
    assert rows.n_rows == 1050
    assert str(rows.files[0].path) == str(folder / "more" / "more.parquet")


@links
def test_a_file_that_is_reached_twice_through_links_is_refused(folder, tmp_path):
    elsewhere = write_in_parts(people(50, missing=0), tmp_path / "elsewhere", [])
    (folder / "one").symlink_to(elsewhere)
    (folder / "two").symlink_to(elsewhere)
    refused(folder, r"part-000\.parquet' is named also as")


@links
def test_a_link_that_leads_nowhere_is_refused(folder):
    (folder / "part-009.parquet").symlink_to(folder / "gone.parquet")
    refused(folder, r"no file '.*part-009\.parquet'")


def test_an_infinite_value_is_placed_for_kernels_too(folder):
    frame = people(300, missing=0)
    frame.loc[123, "x3"] = np.inf
    write_parquet(frame, folder / "part-002.parquet", row_group_size=100)
    kernel = FairKernelPCA(2, approximation="nystroem", n_landmarks=20, random_state=0)
    with pytest.raises(TableError, match=r"'x3' is infinite in row \d+ of .*part-002\.parquet"):
        kernel.fit(ParquetRows(folder, **PLAIN))


@pytest.mark.parametrize("source", [ParquetRows, CSVRows])
def test_files_without_a_row_that_counts_are_refused(tmp_path, source):
    frame, file = people(50, missing=0).assign(w=0.0), tmp_path / "people"
    if source is ParquetRows:
        write_parquet(frame, file)
    else:
        frame.to_csv(file, index=False)
    odd = FairPCA(1, criterion="equal_opportunity", pos_label=7)
    with pytest.raises(MissingTargetError, match="no row has y == 7"):
        odd.fit(source(file, **PLAIN, target="hired"))
    with pytest.raises(ValueError, match="0 row"):
        FairPCA(1).fit(source(file, **PLAIN, weight="w"))


def test_a_batch_without_positive_rows_can_be_added_to_others(folder):
    rows = ParquetRows(folder, target="hired", **PLAIN)
    none = collect_moments(rows, None, criterion="equal_opportunity", pos_label=7)
    assert none.n_rows == 0
