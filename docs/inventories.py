"""Links from this site to the documentation of Python, NumPy, SciPy, pandas and scikit-learn.

Intersphinx reads an inventory of each project, and usually downloads it. The site is built without
a network, so the inventories are written here, from the names that our pages use: `write` makes
the same files as those projects do, with fewer entries.
"""

import zlib

PYTHON = {
    "py:class": {
        "library/functions.html": ["bool", "float", "int", "object"],
        "library/stdtypes.html": ["dict", "list", "str", "tuple"],
        "library/pathlib.html": ["pathlib.Path"],
    },
    "py:function": {"library/functions.html": ["callable"]},
    "py:data": {"library/constants.html": ["False", "None", "True"]},
    "py:exception": {
        "library/exceptions.html": [
            "Exception",
            "FileExistsError",
            "ImportError",
            "UserWarning",
            "ValueError",
        ]
    },
    "std:term": {"glossary.html": ["generator", "iterable", "sequence"]},
}

NUMPY = {
    "py:class": {
        "reference/generated/{name}.html": ["numpy.ndarray", "numpy.memmap"],
        "reference/random/generator.html": ["numpy.random.Generator"],
        "reference/random/legacy.html": ["numpy.random.RandomState"],
    },
    "py:function": {
        "reference/generated/{name}.html": [
            f"numpy.{name}"
            for name in [
                "abs",
                "allclose",
                "arange",
                "argsort",
                "array",
                "asarray",
                "bincount",
                "column_stack",
                "concatenate",
                "corrcoef",
                "cov",
                "linalg.eigh",
                "linspace",
                "mean",
                "quantile",
                "sort",
                "sqrt",
                "stack",
                "testing.assert_allclose",
                "unique",
                "where",
            ]
        ],
        "reference/random/generator.html": ["numpy.random.default_rng"],
    },
    "std:term": {"glossary.html": ["array_like"]},
}

SCIPY = {
    "py:class": {
        "reference/generated/{name}.html": [
            "scipy.sparse.csr_array",
            "scipy.sparse.csr_matrix",
            "scipy.stats.gaussian_kde",
        ]
    },
    "py:function": {"reference/generated/{name}.html": ["scipy.linalg.eigh", "scipy.linalg.orth"]},
}

PANDAS = {
    "py:class": {"reference/api/{name}.html": ["pandas.DataFrame", "pandas.Series"]},
    "py:function": {
        "reference/api/{name}.html": ["pandas.concat", "pandas.cut", "pandas.read_parquet"]
    },
}

SKLEARN = {
    "py:class": {
        "modules/generated/{name}.html": [
            f"sklearn.{name}"
            for name in [
                "compose.ColumnTransformer",
                "cross_decomposition.PLSRegression",
                "decomposition.KernelPCA",
                "decomposition.PCA",
                "decomposition.TruncatedSVD",
                "ensemble.HistGradientBoostingClassifier",
                "ensemble.HistGradientBoostingRegressor",
                "ensemble.RandomForestClassifier",
                "feature_extraction.text.TfidfVectorizer",
                "impute.SimpleImputer",
                "kernel_ridge.KernelRidge",
                "linear_model.LinearRegression",
                "linear_model.LogisticRegression",
                "linear_model.Ridge",
                "linear_model.RidgeClassifier",
                "linear_model.SGDClassifier",
                "model_selection.GridSearchCV",
                "model_selection.GroupKFold",
                "model_selection.StratifiedGroupKFold",
                "model_selection.StratifiedKFold",
                "model_selection.StratifiedShuffleSplit",
                "neighbors.KNeighborsClassifier",
                "neural_network.MLPClassifier",
                "pipeline.Pipeline",
                "preprocessing.FunctionTransformer",
                "preprocessing.StandardScaler",
                "svm.SVC",
                "base.BaseEstimator",
                "base.TransformerMixin",
            ]
        ]
    },
    "py:function": {
        "modules/generated/{name}.html": [
            f"sklearn.{name}"
            for name in [
                "base.clone",
                "compose.make_column_transformer",
                "metrics.accuracy_score",
                "metrics.balanced_accuracy_score",
                "metrics.make_scorer",
                "metrics.precision_score",
                "metrics.roc_auc_score",
                "model_selection.cross_val_predict",
                "model_selection.cross_val_score",
                "model_selection.train_test_split",
                "pipeline.make_pipeline",
            ]
        ]
    },
}

PROJECTS = {
    "python": ("https://docs.python.org/3/", PYTHON),
    "numpy": ("https://numpy.org/doc/stable/", NUMPY),
    "scipy": ("https://docs.scipy.org/doc/scipy/", SCIPY),
    "pandas": ("https://pandas.pydata.org/docs/", PANDAS),
    "sklearn": ("https://scikit-learn.org/stable/", SKLEARN),
}

TYPES = {
    **{name: f":data:`python:{name}`" for name in ("None", "True", "False")},
    "bool": ":class:`python:bool`",
    "DataFrame": "pandas.DataFrame",
    "Generator": "numpy.random.Generator",
    "Path": "pathlib.Path",
    "Series": "pandas.Series",
}
"""Words in types of parameters, beside numpydoc's own, and what they link to."""


def write(folder):
    """Write an inventory of each project into `folder`; return what intersphinx wants to know."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (url, entries) in PROJECTS.items():
        file = folder / f"{project}.inv"
        file.write_bytes(_inventory(project, entries))
        mapping[project] = (url, str(file))
    return mapping


def _inventory(project, entries):
    """Return an inventory in the format of Sphinx, version 2."""
    lines = []
    for role, pages in entries.items():
        for page, names in pages.items():
            for name in names:
                anchor = f"term-{name}" if role == "std:term" else name
                where = f"{page.format(name=name)}#{anchor}"
                lines.append(f"{name} {role} 1 {where} -\n")
    head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    return head.encode() + zlib.compress("".join(lines).encode())
