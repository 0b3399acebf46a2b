"""A file of vectors beside a table, on the command line."""

import numpy as np
import pandas as pd

from cli.commands import run_command
from fairpca import Audit
from fairpca.auditing._recipes import audit_again


def test_the_command_takes_a_file_of_vectors(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], size=200), "topic": 0})
    vectors = rng.normal(size=(200, 12)).astype(np.float32)
    vectors[:, 0] += 2 * (frame["sex"] == "f")
    monkeypatch.chdir(tmp_path)
    frame.to_csv("people.csv", index=False)
    np.save("emb.npy", vectors)
    asked = ["audit", "people.csv", "--vectors", "emb.npy", "-s", "sex", "--ignore", "topic"]
    code, said = run_command([*asked, "--quick", "-j", "1", "--json", "found.json"])
    assert code == 0, said
    found = Audit.from_json((tmp_path / "found.json").read_text("utf-8"))
    assert found.data.reading.vectors == "emb.npy"
    assert "--vectors emb.npy" in audit_again(found)
    assert "read_table('people.csv', vectors='emb.npy')" in found.advice.code
    assert not found.advice.command
    np.save("emb.npy", vectors[:9])
    code, said = run_command([*asked, "--quick", "-f"])
    assert code == 2
    assert "has 9 rows, but the table has 200" in " ".join(said.split())
