import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_code_of_the_readme_runs_and_measures_little_linear_leakage(capsys):
    code = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)[0]
    exec(compile(code, str(README), "exec"), {})
    linear, boosting = capsys.readouterr().out.splitlines()
    assert re.match(r"linear probe: AUC 0\.[456]", linear), linear
    assert boosting.startswith("boosting probe: AUC")
