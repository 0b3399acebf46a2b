"""audit, fit, transform, inspect and export, as somebody types them."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from cli.refusals import assert_refused
from fairpca import FairTableTransformer
from fairpca._cli import app
from fairpca.auditing import audit_schema
from fairpca.errors import TableError
from fairpca.models import inspect_model
from fairpca.tables import read_table
from people import made_up_people
from systems import posix

AUDIT = ("audit", "people.csv", "--quick", "--jobs", "1", "--sensitive", "sex")
FIT = ("fit", "people.csv", "--sensitive", "sex", "--target", "paid", "--out", "model.fairpca")


@pytest.fixture
def fairpca(command):
    """Run the command line in a folder that holds people.csv."""
    made_up_people(n=240).to_csv("people.csv", index=False)
    return command


def test_an_audit_writes_a_page_and_valid_json_and_says_where(fairpca):
    result = fairpca(*AUDIT, "--target", "paid", "--json", "found.json")
    assert result.exit_code == 0, result.output
    assert "Report  report.html" in result.output
    assert "AUC for predicting sex" in result.output
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, audit_schema())
    assert found["data"]["source"] == "people.csv"
    assert "<!doctype html>" in Path("report.html").read_text(encoding="utf-8")[:200].lower()


def test_quiet_prints_nothing(fairpca):
    result = fairpca(*AUDIT, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert os.path.exists("report.html")


def test_an_existing_report_is_kept_unless_forced(fairpca):
    Path("report.html").write_text("mine", encoding="utf-8")
    assert_refused(fairpca(*AUDIT), "report.html exists and is kept. Use --force")
    assert Path("report.html").read_text(encoding="utf-8") == "mine"
    assert fairpca(*AUDIT, "--force").exit_code == 0
    assert Path("report.html").read_text(encoding="utf-8") != "mine"


def test_moments_are_in_the_file_on_request(fairpca):
    assert fairpca(*FIT, "--moments").exit_code == 0
    assert inspect_model("model.fairpca")["left_out"] == []
    assert fairpca(*FIT, "--force").exit_code == 0
    assert inspect_model("model.fairpca")["left_out"] == ["moments_"]
    kernel = (*FIT[:-1], "other.fairpca", "--method", "fair-kernel-pca", "--moments")
    assert_refused(fairpca(*kernel), "this FairKernelPCA has no partial_fit")
    assert not os.path.exists("other.fairpca")


def test_a_csv_may_be_gzipped_and_separated_by_anything(fairpca):
    table = made_up_people(n=240)
    with gzip.open("people.csv", "wt") as file:
        file.write(table.to_csv(index=False, sep=";"))
    assert fairpca(*AUDIT).exit_code == 0


def corrupted(path):
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 2] ^= 1
    Path(path).write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("people.cvs", "--sensitive", "sex"), "people.cvs"),
        (("people.csv",), "No sensitive column"),
        (("people.csv", "--sensitive", "sx"), "Did you mean 'sex'?"),
        (("people.csv", "--sensitive", "sex", "--target", "payed"), "Did you mean 'paid'?"),
        (("people.csv", "--sensitive", "sex", "--target", "race", "--pos-label", "no"), "is 'no'"),
        (
            ("people.csv", "--sensitive", "sex", "--target", "sex"),
            "named twice, as sensitive and as target",
        ),
        (("people.csv", "--sensitive", "luck", "--target", "one"), "no column 'one'"),
        (("one.csv", "--sensitive", "sex"), "fewer than two groups"),
        (("prose.csv", "--sensitive", "sex"), "prose.csv"),
        (("picture.png", "--sensitive", "sex"), "picture.png"),
        (("empty.csv", "--sensitive", "sex"), "empty"),
        ((".", "--sensitive", "sex"), "folder"),
        (("people.csv", "--sensitive", "sex", "--out", "people.csv/report.html"), "cannot be"),
        (("people.csv", "--sensitive", "sex", "--out", "folder"), "folder is a folder"),
        (("people.csv", "--sensitive", "sex", "--json", "report.html"), "same name"),
        (("people.csv", "--sensitive", "sex", "--n-components", "99"), "n_components=99"),
        (("few.csv", "--sensitive", "sex"), "at least 100"),
    ],
)
def test_every_bad_input_of_an_audit_ends_with_one_line(fairpca, arguments, message):
    table = pd.read_csv("people.csv")
    table[table["sex"] == "f"].to_csv("one.csv", index=False)
    table.head(20).to_csv("few.csv", index=False)
    Path("prose.csv").write_text(
        "It was the best of times\n\nit was the worst of times\nand on\n", encoding="utf-8"
    )
    Path("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    Path("empty.csv").touch()
    os.mkdir("folder")
    result = fairpca("audit", "--quick", "--jobs", "1", *arguments)
    assert_refused(result, message, absent=["report.html"])


def test_a_fitted_model_transforms_new_files_with_unseen_levels(fairpca):
    result = fairpca(*FIT, "--n-components", "3")
    assert result.exit_code == 0, result.output
    assert "The model is in model.fairpca, its card in model.md" in result.output
    warned = "Non-linear models may still predict the groups"
    assert warned in result.output
    assert warned in Path("model.md").read_text(encoding="utf-8")

    new = made_up_people(n=50, seed=1).drop(columns=["sex", "race", "paid"])
    new["id"] = np.arange(50)
    new["town"] = "Atlantis"
    new.to_parquet("new.parquet")
    result = fairpca(
        "transform", "model.fairpca", "new.parquet", "--out", "fair.parquet", "--keep", "id", "-q"
    )
    assert result.exit_code != 0  # `race` was a feature, and is not there
    assert_refused(result, "race", absent=["fair.parquet"])

    result = fairpca(*FIT, "--ignore", "race", "--force", "--n-components", "3")
    assert result.exit_code == 0, result.output
    result = fairpca(
        "transform", "model.fairpca", "new.parquet", "--out", "fair.parquet", "--keep", "id"
    )
    assert result.exit_code == 0, result.output
    assert "50 rows are in fair.parquet" in result.output
    fair = pd.read_parquet("fair.parquet")
    assert fair["id"].tolist() == list(range(50))
    expected = FairTableTransformer.load("model.fairpca").transform(new)
    np.testing.assert_allclose(fair.drop(columns="id").to_numpy(), expected, atol=1e-5)


PREDICTED = ("fit", "people.csv", "-s", "sex", "--method", "fair-pls", "--out", "model.fairpca")


@pytest.mark.parametrize(
    ("arguments", "targets"),
    [
        (("--target", "paid"), {"paid": [0, 1]}),
        (("--target", "paid", "--linear", "--match", "covariances"), {"paid": [0, 1]}),
        (("--target", "race"), {"race": ["x", "y", "z"]}),
        (
            ("--target", "race", "--pos-label", "y", "--criterion", "equalized-odds"),
            {"race": [0, 1]},
        ),
        (("--target", "height"), {"height": "numeric"}),
        (("--target", "shoe", "--numeric", "shoe"), {"shoe": "numeric"}),
    ],
)
def test_what_predicts_a_target_is_fitted_saved_and_applied(fairpca, arguments, targets):
    people = pd.read_csv("people.csv")
    people.assign(shoe=(9 * people["height"]).round().astype(int)).to_csv("people.csv", index=False)
    result = fairpca(*PREDICTED, *arguments)
    assert result.exit_code == 0, result.output
    model = FairTableTransformer.load("model.fairpca")
    assert model.estimator_.targets_ == targets
    (target,) = targets
    assert f"share of {target} that each column explains: " in result.output
    card = Path("model.md").read_text(encoding="utf-8")
    assert f"that the columns predict: {target}, " in card
    assert ("the positive class is" in card) == (targets[target] == [0, 1])
    assert ("gap at any threshold on the training data" in result.output) == (
        "--match" not in arguments
    )
    assert ("rows of the training data" in card) == ("--linear" not in arguments)
    new = made_up_people(n=50, seed=1).assign(shoe=40)
    new.to_csv("new.csv", index=False)
    result = fairpca("transform", "model.fairpca", "new.csv", "--out", "fair.csv", "--double")
    assert result.exit_code == 0, result.output
    np.testing.assert_allclose(pd.read_csv("fair.csv"), model.transform(new), rtol=1e-12)
    assert "FairPLS" in fairpca("inspect", "model.fairpca").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no target was named"),
        (("--target", "shoe"), "--numeric shoe"),
        (("--target", "town", "--numeric", "town"), "not numbers"),
        (("--target", "paid", "--numeric", "height"), "names the column 'height'"),
        (("--target", "paid", "--n-components", "2"), "too large"),
        (("--target", "paid", "--tradeoff", "0.5"), "tradeoff"),
        (("--method", "fair-pca", "--linear"), "--linear is for"),
        (("--method", "leace", "--match", "distributions"), "fair_pls"),
        (("--method", "leace", "--target", "shoe", "--numeric", "shoe"), "is for 'fair_pls', and"),
    ],
)
def test_a_target_that_cannot_be_predicted_ends_with_one_line(fairpca, arguments, message):
    people = pd.read_csv("people.csv")
    people.assign(shoe=(9 * people["height"]).round().astype(int)).to_csv("people.csv", index=False)
    result = fairpca(*PREDICTED, *arguments)
    assert_refused(result, message, absent=["model.fairpca", "model.md"])


def test_inspect_tells_what_a_model_is(fairpca):
    assert fairpca(*FIT).exit_code == 0
    brief = fairpca("inspect", "model.fairpca")
    assert brief.exit_code == 0
    assert len(brief.output.splitlines()) <= 12
    for told in ("FairPCA, match means", "people, 240 rows", "f: ", "paid", "sha256", "--all"):
        assert told in brief.output
    shown = fairpca("inspect", "model.fairpca", "--all")
    assert shown.exit_code == 0
    fingerprint = inspect_model("model.fairpca")["fingerprint"]
    assert shown.output.count(fingerprint) == 1
    lines = [line.rstrip() for line in shown.output.splitlines()]
    start = lines.index("parameters")  # its entries stand below it, one a line
    assert all(line.startswith("  ") for line in lines[start + 1 : start + 10])
    assert "  n_components" in [line[:14] for line in lines[start:]]
    counts = pd.read_csv("people.csv")["sex"].value_counts()
    sex = lines.index("    sex")
    assert [line.split() for line in lines[sex + 1 : sex + 3]] == [
        [label, str(n)] for label, n in counts.items()
    ]
    header = json.loads(fairpca("inspect", "model.fairpca", "--json").output)
    assert header["info"]["sensitive"] == ["sex"]


def test_inspect_tells_the_legitimate_factors(fairpca):
    assert fairpca(*FIT, "--given", "town").exit_code == 0
    lines = [line.split() for line in fairpca("inspect", "model.fairpca").output.splitlines()]
    assert ["given", "town"] in lines


@pytest.mark.parametrize("linear", [False, True])
def test_a_model_that_holds_training_data_is_told_when_it_is_fitted(fairpca, linear):
    fitted = fairpca(*PREDICTED, "--target", "paid", *(["--linear"] if linear else []))
    held = "240 rows of the training data are in the model file (none with --linear): protect it"
    assert (held in fitted.output) != linear
    shown = fairpca("inspect", "model.fairpca", "--all").output
    assert "n_components" in shown
    assert not {"coef0", "degree"} & set(shown.split())
    assert ("gamma" in shown.split()) != linear


def test_a_file_that_is_no_model_is_told_in_words_of_the_command_line(fairpca):
    for command in (
        ("inspect", "people.csv"),
        ("transform", "people.csv", "people.csv", "--out", "fair.csv"),
        ("export", "people.csv", "--to", "onnx"),
    ):
        assert_refused(fairpca(*command), "Pass a file that `fairpca fit` wrote.")


def test_export_to_onnx_gives_the_same_numbers(fairpca):
    onnxruntime = pytest.importorskip("onnxruntime")
    assert fairpca(*FIT).exit_code == 0
    result = fairpca("export", "model.fairpca", "--to", "onnx", "--map-only")
    assert result.exit_code == 0, result.output
    model = FairTableTransformer.load("model.fairpca")
    X = model.encoder_.transform(pd.read_csv("people.csv")).astype(np.float32)
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {session.get_inputs()[0].name: X})
    np.testing.assert_allclose(found, model._map(X.astype(float)), atol=1e-5)


def test_export_to_torch_writes_code_and_numbers(fairpca):
    assert fairpca(*FIT).exit_code == 0
    result = fairpca("export", "model.fairpca", "--to", "torch", "--out", "fair_map")
    assert result.exit_code == 0, result.output
    assert os.path.exists("fair_map.py")
    assert os.path.exists("fair_map.safetensors")


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "model.fairpca"),
        ("transform", "model.fairpca", "people.csv", "--out", "fair.csv"),
        ("export", "model.fairpca", "--to", "onnx"),
    ],
)
@pytest.mark.parametrize("damage", ["corrupted", "truncated", "absent", "another file"])
def test_a_damaged_model_ends_with_one_line(fairpca, arguments, damage):
    if damage == "another file":
        os.rename("people.csv", "model.fairpca")
        made_up_people(n=20).to_csv("people.csv", index=False)
    elif damage != "absent":
        assert fairpca(*FIT).exit_code == 0
        if damage == "corrupted":
            corrupted("model.fairpca")
        else:
            os.truncate("model.fairpca", 1000)
    assert_refused(fairpca(*arguments), "model.fairpca", absent=["fair.csv", "model.onnx"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--n-components", "50"), "too large"),
        (("--criterion", "equal-opportunity", "--pos-label", "maybe"), "No row of the target"),
        (("--sensitive", "nobody"), "no column 'nobody'"),
        (("--out", "people.csv"), "exists and is kept"),
    ],
)
def test_every_bad_input_of_a_fit_ends_with_one_line(fairpca, arguments, message):
    before = sorted(os.listdir())
    assert_refused(fairpca(*FIT, *arguments), message, absent=["model.fairpca", "model.md"])
    assert sorted(os.listdir()) == before


def test_a_truth_value_is_named_as_the_file_writes_it(fairpca):
    table = pd.read_csv("people.csv")
    table["paid"] = (table["paid"] == "yes").map({True: "true", False: "false"})
    table.to_csv("people.csv", index=False)
    asked = ("--target", "paid", "--criterion", "equal-opportunity", "--pos-label", "true")
    assert fairpca(*FIT, *asked).exit_code == 0
    assert (
        FairTableTransformer.load("model.fairpca").estimator_.n_samples_seen_
        == (table["paid"] == "true").sum()
    )


def test_a_transform_of_other_columns_names_them(fairpca):
    assert fairpca(*FIT).exit_code == 0
    pd.read_csv("people.csv").rename(columns={"luck": "fortune"}).to_csv("other.csv", index=False)
    result = fairpca("transform", "model.fairpca", "other.csv", "--out", "fair.csv", "-q")
    assert_refused(result, "luck", absent=["fair.csv"])


def test_help_has_examples(fairpca):
    for command in ("audit", "fit", "transform"):
        shown = fairpca(command, "--help")
        assert shown.exit_code == 0
        assert f"fairpca {command} " in shown.output


def test_the_command_works_from_a_shell(tmp_path):
    made_up_people(n=240).to_csv(tmp_path / "people.csv", index=False)
    command = [sys.executable, "-m", "fairpca", *AUDIT, "--out", "r.html"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Auditing: " in done.stderr  # word of how far it is, not among the results
    assert "Report  r.html" in done.stdout


def test_whole_numbers_are_groups_unless_said_otherwise_and_both_is_said(fairpca):
    table = made_up_people(n=600).assign(region=np.arange(600) % 12 + 1)
    table.to_csv("people.csv", index=False)
    fit = ("fit", "people.csv", "-s", "region", "--n-components", "1", "--out", "a.fairpca")
    result = fairpca(*fit)
    told = "region has 12 whole-number values, which are taken as groups"
    if result.exit_code:  # twelve groups may leave nothing
        assert_refused(result, "--numeric region")
    else:
        assert told in " ".join(result.output.split())
        assert told in Path("a.md").read_text(encoding="utf-8")
    result = fairpca(*fit, "--numeric", "region", "--force")
    assert result.exit_code == 0, result.output
    assert "region is taken as a number. " in result.output
    assert "largest correlation left with a numeric attribute" in result.output
    assert "difference of group means left" not in result.output
    card = Path("a.md").read_text(encoding="utf-8")
    assert "no column is correlated with region" in card
    assert "all groups have the same mean" not in card
    both = fairpca(*fit, "--numeric", "region", "--categorical", "region", "--force")
    assert_refused(both, "cannot be --numeric and --categorical")
    assert_refused(fairpca(*fit, "--numeric", "sex", "--force"), "sensitive_kinds names")


@pytest.mark.parametrize("numeric", [True, False])
def test_an_audit_takes_the_same_columns_for_numbers(fairpca, numeric):
    table = made_up_people(n=600).assign(region=np.arange(600) % 11 + 1)
    table.to_csv("people.csv", index=False)
    said = ("--numeric", "region") if numeric else ()
    audit = ("audit", "people.csv", "--quick", "--jobs", "1", "-s", "region", *said)
    result = fairpca(*audit, "--json", "a.json")
    assert result.exit_code == 0, result.output
    found = json.loads(Path("a.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, audit_schema())
    (region,) = found["data"]["attributes"]
    assert region["kind"] == ("numeric" if numeric else "levels")
    assert len(region["groups"]) == (2 if numeric else 11)
    output = " ".join(result.output.split())
    assert ("taken as a number" if numeric else "region has 11 whole-number values") in output
    assert found["settings"]["sensitive_kinds"] == ({"region": "numeric"} if numeric else None)
    page = Path("report.html").read_text(encoding="utf-8")
    assert ("--numeric region" in page) or not numeric


@pytest.fixture
def piped(fairpca, tmp_path, monkeypatch):
    """Run a command with people.csv, or other bytes, as its standard input; nothing is left."""
    places = tmp_path / "temporary"
    places.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(places))

    def run(*arguments, content=None):
        content = Path("people.csv").read_bytes() if content is None else content
        result = CliRunner().invoke(app, list(arguments), input=content)
        assert list(places.iterdir()) == []
        assert str(places) not in result.output
        return result

    return run


def test_an_audit_reads_standard_input(piped):
    result = piped("audit", "-", *AUDIT[2:], "--json", "found.json")
    assert result.exit_code == 0, result.output
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert (found["data"]["source"], found["data"]["name"]) == ("-", "standard input")
    assert found["data"]["n_rows"] == 240


@pytest.mark.parametrize("packed", [False, True])
def test_a_model_of_standard_input_is_that_of_the_file(fairpca, piped, packed):
    content = Path("people.csv").read_bytes()
    content = gzip.compress(content) if packed else content
    assert fairpca(*FIT).exit_code == 0
    result = piped("fit", "-", *FIT[2:-1], "piped.fairpca", content=content)
    assert result.exit_code == 0, result.output
    result = piped("transform", "piped.fairpca", "-", "--out", "piped.csv", content=content)
    assert result.exit_code == 0, result.output
    assert fairpca("transform", "model.fairpca", "people.csv", "--out", "fair.csv").exit_code == 0
    assert Path("piped.csv").read_bytes() == Path("fair.csv").read_bytes()


@posix
def test_a_pipe_with_a_name_is_read_once_and_fitted_to(fairpca):
    os.mkfifo("pipe")
    content = Path("people.csv").read_bytes()
    writer = threading.Thread(target=Path("pipe").write_bytes, args=(content,))
    writer.start()
    result = fairpca("fit", "pipe", *FIT[2:])
    writer.join()
    assert result.exit_code == 0, result.output
    assert FairTableTransformer.load("model.fairpca").info_["n_rows"] == 240
    with pytest.raises(TableError, match="'pipe' is a pipe or a device, which can be read only"):
        read_table("pipe")


@pytest.mark.parametrize(
    ("arguments", "content", "words"),
    [
        (("audit", "-", *AUDIT[2:]), b"", "'standard input' is empty"),
        (("audit", "-", *AUDIT[2:]), b"sex,a\nf,1\n\xff,2\n", "'standard input' is not all text"),
        (("fit", "-", *FIT[2:]), b"PK\x03\x04", "'standard input' is a zip archive"),
        (("fit", "-", "-", *FIT[2:]), b"a,b\n1,x\n2,y\n", "'standard input' is empty"),
    ],
)
def test_what_is_wrong_with_standard_input_is_called_that(piped, arguments, content, words):
    assert_refused(piped(*arguments, content=content), words)


def test_a_fit_prints_the_notices_of_the_table_whom_it_compares_and_the_weight(command, tmp_path):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"sex": rng.choice(["f", "m", "M."], 300), "age": rng.normal(size=300)})
    people["pay"], people["w"] = rng.normal(size=300), rng.integers(1, 4, 300)
    people["out"] = rng.choice(["hired", "rejected"], 300)
    people["choice"] = rng.choice(["blue", "red"], 300)
    people.to_csv(tmp_path / "people.csv", index=False)
    given = ["fit", "people.csv", "-s", "sex", "--weight", "w", "--n-components", "1", "--force"]
    given += ["--criterion", "equal-opportunity", "--out", "model.fairpca"]
    done = command(*given, "--target", "out", "--ignore", "choice")
    assert done.exit_code == 0, done.output
    assert "groups are compared among the rows whose out is hired only" in done.output
    assert "! 'sex' has several spellings of a level" in done.output
    card = (tmp_path / "model.md").read_text()
    assert "'sex' has several spellings of a level" in card
    assert "Rows count by their weight in w" in card
    assert "This holds among the rows whose out is hired" in card
    done = command(*given, "--target", "choice", "--ignore", "out")
    assert "! 'choice' is 'blue' or 'red', and neither is clearly the positive class" in done.output
    done = command(*given, "--target", "choice", "--ignore", "out", "--pos-label", "blue")
    assert "whose choice is blue only" in done.output
    assert "nothing says" not in done.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "arguments", [["--help"], ["fit", "people.csv", "-s", "sex", "--out", "m.fairpca"]]
)
def test_a_full_disk_behind_standard_output_ends_with_one_line(tmp_path, arguments):
    made_up_people(n=240).to_csv(tmp_path / "people.csv", index=False)
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "fairpca", *arguments]
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: standard output cannot be written: No space left on device.")
    assert arguments == ["--help"] or (tmp_path / "m.fairpca").exists()
