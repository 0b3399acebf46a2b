"""Sex given education on Adult as published: fitted to adult.data, measured on adult.test."""

import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from assertions import assert_same_subspace
from fairpca import FairPCA
from fairpca.erasers import LEACE
from fairpca.metrics import explained_difference, leakage
from fairpca.tables import TableEncoder

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "legitimate_factors.md"
N_FITTED = 32_561
HOUSEHOLD = ("relationship", "marital-status", "native-country")


@cache
def encoded(folder, *left_out):
    """Rows of both files as numbers, with sex and education."""
    adult = pytest.importorskip("fairpca_paper.datasets").load_adult(data=folder)
    features = adult.features.drop(columns=list(left_out))
    encoder = TableEncoder().fit(features[:N_FITTED])
    male = (adult.sensitive["sex"] == "Male").to_numpy()
    return encoder.transform(features), male, adult.features["education"].to_numpy()


def fitted(estimator, X, male, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # capital gains are far from all other values
        return estimator.fit(X, sensitive_features=male, **given)


def contrasts(X, male, education):
    """Sums of (z - mean) x, one row for each level of education: what is to be zero."""
    rows = []
    for level in np.unique(education):
        i = education == level
        rows.append((male[i] - male[i].mean()) @ (X[i] - X[i].mean(axis=0)))
    return np.array(rows)


def test_leace_given_education_is_the_naive_oracle(data_folder):
    X, male, education = (part[:N_FITTED] for part in encoded(data_folder))
    fair = fitted(LEACE(), X, male, given=education)
    values, V = np.linalg.eigh(np.cov(X.T, bias=True))
    V, values = V[:, values > 1e-10 * values[-1]], values[values > 1e-10 * values[-1]]
    W, inverse = (V * values**-0.5) @ V.T, (V * values**0.5) @ V.T
    A = W @ contrasts(X, male, education).T
    P = inverse @ A @ np.linalg.pinv(A, rcond=1e-9) @ W
    expected = X - (X - X.mean(axis=0)) @ P.T
    np.testing.assert_allclose(fair.transform(X), expected, atol=1e-9)
    left = contrasts(expected, male, education) / N_FITTED
    assert np.abs(left).max() < 1e-9 < 1e-3 < np.abs(contrasts(X, male, education) / N_FITTED).max()


def test_fair_pca_given_education_is_the_naive_oracle(data_folder):
    X, male, education = (part[:N_FITTED] for part in encoded(data_folder))
    fair = fitted(FairPCA(10), X, male, given=education)
    C = contrasts(X, male, education)
    values, Q = np.linalg.eigh(C.T @ C)
    R = Q[:, values < 1e-12 * values[-1]]
    top = np.linalg.eigh(R.T @ np.cov(X.T, bias=True) @ R)[1][:, -10:]
    assert_same_subspace(fair.components_.T, R @ top)
    assert np.abs(contrasts(fair.transform(X), male, education)).max() / N_FITTED < 1e-9


@pytest.mark.parametrize("Method", [LEACE, FairPCA])
def test_a_linear_model_of_the_same_people_tells_nothing_within_a_level(Method, data_folder):
    """It is a constant, so its AUC is 0.5 among new people, too."""
    X, male, education = (part[:N_FITTED] for part in encoded(data_folder))
    T = fitted(Method(), X, male, given=education).transform(X)
    plain = fitted(Method(), X, male).transform(X)
    for level in ("HS-grad", "Bachelors", "Masters", "Doctorate"):
        i = education == level
        z = male[i] - male[i].mean()

        def explained(of, i=i, z=z):
            V = of[i] - of[i].mean(axis=0)
            fit = V @ np.linalg.lstsq(V, z, rcond=1e-7)[0]
            return 1 - np.sum((z - fit) ** 2) / np.sum(z**2)

        assert explained(T) < 1e-9
        assert explained(plain) > 0.4  # equal means of all are not those of a stratum


def measured(folder, left_out):
    """What representations tell of sex, and what they cost, among the people of adult.test."""
    X, male, education = encoded(folder, *left_out)
    rich = pytest.importorskip("fairpca_paper.datasets").load_adult(data=folder).target.to_numpy()
    fit, new = np.split(np.arange(len(X)), [N_FITTED])
    chance = {"n_permutations": 200, "random_state": 0}
    for name, T in (
        ("as they are", X),
        ("LEACE", fitted(LEACE(), X[fit], male[fit]).transform(X)),
        ("LEACE given", fitted(LEACE(), X[fit], male[fit], given=education[fit]).transform(X)),
    ):
        within = leakage(T[new], male[new], given=education[new], **chance)
        model = LogisticRegression(C=0.1, max_iter=2000).fit(T[fit], rich[fit])
        p = model.predict_proba(T[new])[:, 1]
        gap = explained_difference(
            None, p, sensitive_features=male[new], given=education[new], between=(True, False)
        )
        numbers = [
            within.auc,
            leakage(T[new], male[new], **chance).auc,
            roc_auc_score(rich[new], p),
            *(gap.difference, gap.explained, gap.unexplained),
        ]
        yield name, within.above_chance, numbers


@pytest.mark.parametrize("left_out", [(), HOUSEHOLD])
def test_among_new_people_a_linear_probe_is_near_chance_within_levels(left_out, data_folder):
    """And the page "Allow for legitimate factors" has the numbers."""
    aucs, found = {}, {}
    for name, above, numbers in measured(data_folder, left_out):
        aucs[name], found[name] = (above, numbers[0]), numbers
    assert aucs["as they are"][1] > 0.75
    assert aucs["LEACE"][1] > 0.75  # means of all are equal, not those within a level
    assert aucs["LEACE given"][1] < 0.54
    assert aucs["LEACE given"][0] == (not left_out)  # the price of few people in a level
    n = 12 - len(left_out)
    shown = {
        cells[1].strip(): [float(cell.replace("−", "-")) for cell in cells[2:]]
        for cells in (line.split("|")[1:-1] for line in PAGE.read_text().splitlines())
        if len(cells) == 8 and cells[0].strip() == str(n)
    }
    assert list(shown) == list(found)
    for name, numbers in found.items():
        assert numbers == pytest.approx(shown[name], abs=0.006), name
