"""The advice as Python and as a command, ready to be pasted."""

from __future__ import annotations

import shlex

from ._results import Data, Settings

METHODS = {
    "fair_pca": {"method": "fair_pca"},
    "fair_pca_covariances": {"method": "fair_pca", "match": "covariances"},
    "fair_kernel_pca": {"method": "fair_kernel_pca"},
    "leace": {"method": "leace"},
    "pca": {"method": "pca"},
}
"""What `fairpca.fit_table` takes for each representation."""


def python_recipe(
    settings: Settings, data: Data, key: str, k: int | None, tradeoff: float | None
) -> str:
    """Return Python that fits the recommended model to all rows and saves it."""
    table = _read(data) if data.source else "table"
    arguments = [f"    {table},", f"    sensitive={settings.sensitive!r},"]
    if settings.target is not None:
        arguments.append(f"    target={settings.target!r},")
    if data.ignored:
        arguments.append(f"    ignore={data.ignored!r},")
    arguments += [f"    {name}={value!r}," for name, value in METHODS[key].items()]
    if key != "leace":
        arguments.append(f"    n_components={k},")
    if tradeoff:
        arguments.append(f"    tradeoff={tradeoff:g},")
    return "\n".join(
        [
            "import fairpca.tables" if data.reading else "import fairpca",
            "",
            "model = fairpca.fit_table(",
            *arguments,
            ")",
            'model.save("model.fairpca")',
            "representation = model.transform(new_rows)  # new_rows: a frame with the same columns",
            "",
        ]
    )


def _read(data: Data) -> str:
    """Return Python for the table: its path, or how a file is read that needs to be explained."""
    if data.reading is None:
        return repr(data.source)
    told = {name: value for name, value in vars(data.reading).items() if value not in (None, 0)}
    if data.reading.header is not None:
        told["header"] = data.reading.header
    options = "".join(f", {name}={value!r}" for name, value in told.items())
    return f"fairpca.tables.read_table({data.source!r}{options})"


def _reading_options(data: Data) -> list[str]:
    """Return the same as options of the command line."""
    reading = data.reading
    if reading is None:
        return []
    words = ["--columns", ",".join(reading.columns)] if reading.columns else []
    if reading.header is not None:
        words.append("--header" if reading.header else "--no-header")
    return [*words, "--skip-lines", str(reading.skip_lines)] if reading.skip_lines else words


def shell_recipe(
    settings: Settings, data: Data, key: str, k: int | None, tradeoff: float | None
) -> str:
    """Return the command that does the same."""
    words = ["fairpca", "fit", data.source or "table.csv"]
    words += _reading_options(data)
    for name in settings.sensitive:
        words += ["--sensitive", name]
    if settings.target is not None:
        words += ["--target", settings.target]
    for name in data.ignored:
        words += ["--ignore", name]
    for name, value in METHODS[key].items():
        words += [f"--{name}", value.replace("_", "-")]
    if key != "leace":
        words += ["--n-components", str(k)]
    if tradeoff:
        words += ["--tradeoff", f"{tradeoff:g}"]
    return " ".join(shlex.quote(word) for word in [*words, "--out", "model.fairpca"])
