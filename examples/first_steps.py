"""First steps: what plain PCA tells about people, and what fair PCA still tells.

Install ``fairpca[demo]`` (``make demo`` does) and run ``python examples/first_steps.py``.
Race and sex are not among the features of these loan applications, and yet the features give
them away. Read `encode` to learn the interface; the rest measures and prints.
"""

from argparse import ArgumentParser

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fairpca import FairPCA
from fairpca.datasets import load_loanapp
from fairpca.metrics import explained_variance_ratio, leakage, selection_rate_gap

K, SPLITS = 15, 5
REDUCTIONS = {
    "plain PCA": PCA(K),
    # 15 applicants did not state their sex: they count for race only.
    "fair PCA": FairPCA(K, missing_sensitive="ignore"),
    # Three races and two sexes cannot have equal covariances in 15 dimensions, but nearly.
    "fair PCA,\ncovariances": FairPCA(
        K, match="covariances", covariance_tol=0.05, missing_sensitive="ignore"
    ),
}


def encode(reduction, X, sensitive):
    """Fit on training rows. The attributes are needed here, and never again."""
    encoder = make_pipeline(SimpleImputer(), StandardScaler(), reduction)
    if isinstance(reduction, FairPCA):
        return encoder.fit(X, fairpca__sensitive_features=sensitive)
    return encoder.fit(X)


def held_out_thirds(loans, n_splits=SPLITS):
    """Race as white or other, and rounds of training rows and a third that is held out."""
    race = np.where(loans.sensitive["race"] == "white", "white", "other")
    splits = StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=0)
    return race, list(splits.split(loans.features, loans.target.astype(str) + race))


def means_over_rounds(measured):
    return {
        name: {what: np.mean([round_[what] for round_ in rounds]) for what in rounds[0]}
        for name, rounds in measured.items()
    }


def main(n_splits=SPLITS):
    loans = load_loanapp()
    X, y, sensitive = loans.features, loans.target, loans.sensitive
    race, rounds = held_out_thirds(loans, n_splits)
    sex = sensitive["sex"].astype(object).fillna("").to_numpy()
    measured = {name: [] for name in REDUCTIONS}
    for train, test in track(rounds, "Measuring", console=Console(stderr=True), transient=True):
        for name, reduction in REDUCTIONS.items():
            encoder = encode(reduction, X.iloc[train], sensitive.iloc[train])
            T, T_test = encoder.transform(X.iloc[train]), encoder.transform(X.iloc[test])
            X_test, U = encoder[:-1].transform(X.iloc[test]), encoder[-1].components_
            measured[name].append(
                recognition("race", T_test, race[test])
                | recognition("sex", T_test[sex[test] != ""], sex[test][sex[test] != ""])
                | decisions(T, y.iloc[train], T_test, y.iloc[test], race[test])
                | {"variance": explained_variance_ratio(X_test, U)}
            )
    show(means_over_rounds(measured), X.shape, n_splits, lenders_gap=selection_rate_gap(y, race))


def recognition(attribute, T, values):
    """How well a model recognises an attribute of people it has not met.

    The probes are cross-validated within the held-out rows. On the rows that fair PCA was fitted
    to the group means are exactly equal, so a linear probe trained there learns nothing and would
    score 0.50 on any row: true, but too easy. Here it may use all that new people bring along.
    """
    linear, boosting = (leakage(T, values, probe=p, random_state=0) for p in ("linear", "boosting"))
    return {
        f"{attribute}, linear": linear.auc,
        f"{attribute}, boosting": boosting.auc,
        f"{attribute}, luck": boosting.chance_interval[1],
    }


def decisions(T, y, T_test, y_test, groups):
    """How good and how even are the decisions of a model that approves as many as the lenders.

    They approved nearly 9 in 10, so plain accuracy would praise a model that approves everybody.
    """
    model = LogisticRegression(class_weight="balanced", max_iter=1000).fit(T, y)
    bar = np.quantile(model.decision_function(T), 1 - y.mean())
    scores = model.decision_function(T_test)
    return {
        "gap": selection_rate_gap(scores > bar, groups),
        "auc": roc_auc_score(y_test, scores),
        "balanced accuracy": balanced_accuracy_score(y_test, scores > bar),
    }


def show(means, shape, n_splits, lenders_gap):
    plain, fair, strict = means.values()
    luck = max(fair["race, luck"], fair["sex, luck"])
    n, d = shape
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"{n:,} mortgage applications, Boston 1990: {d} features -> {K} components",
        caption=f"Means over {n_splits} random thirds of the applicants, held out.\n"
        f"AUC 1.00 is always right, 0.50 is guessing; on one third luck reaches {luck:.2f}.",
    )
    table.add_column("", no_wrap=True)
    for name in means:
        style = "bold green" if name == "fair PCA" else None
        table.add_column(name, justify="right", vertical="bottom", style=style, min_width=10)

    def row(label, what, form="{:.2f}", **kwargs):
        table.add_row(f"  {label}", *(form.format(m[what]) for m in means.values()), **kwargs)

    for attribute in ("race", "sex"):
        table.add_row(f"[bold]{attribute.title()} recognised by[/bold] (0.50 = guessing)")
        row("a linear model", f"{attribute}, linear")
        row("boosted trees", f"{attribute}, boosting", end_section=True)
    table.add_row("[bold]Loans granted by a model[/bold]")
    row("approval gap, white or not", "gap", "{:.0%}", end_section=True)
    table.add_row("[bold]Usefulness[/bold]")
    row("agreement with the lenders (AUC)", "auc")
    row("... as balanced accuracy", "balanced accuracy")
    row("variance kept", "variance", "{:.0%}")

    console = Console(width=min(Console().width, 88), highlight=False)
    console.print(table)
    for heading, text in {
        "What changed": f"Race is no feature, yet plain PCA gives it away to a linear model "
        f"({plain['race, linear']:.2f}). After fair PCA that model is left with "
        f"{fair['race, linear']:.2f}, and the approval gap is {fair['gap']:.0%} instead of "
        f"{plain['gap']:.0%} (the lenders' own: {lenders_gap:.0%}).",
        "What it cost": f"Variance {plain['variance']:.0%} -> {fair['variance']:.0%}, agreement "
        f"with the lenders {plain['auc']:.2f} -> {fair['auc']:.2f}. What predicted their decisions "
        f"also told race, in part.",
        "What it cannot do": f"Equal group means do not hide what a non-linear model can see: "
        f"boosted trees still read race with {fair['race, boosting']:.2f} and sex with "
        f"{fair['sex, boosting']:.2f}.",
        "Try next": f"match='covariances' (last column: {strict['race, boosting']:.2f} and "
        f"{strict['sex, boosting']:.2f}, at the price of more variance), a smaller n_components, "
        f"or criterion='equal_opportunity'.",
    }.items():
        console.print(f"[bold]{heading}.[/bold] {text}")


if __name__ == "__main__":
    parser = ArgumentParser(description="Plain PCA and fair PCA on real loan applications.")
    parser.add_argument(
        "--splits",
        type=int,
        default=SPLITS,
        help="random thirds to hold out (default: %(default)s)",
    )
    splits = parser.parse_args().splits
    if splits < 1:
        parser.error(f"--splits {splits}: at least 1 third must be held out")
    with threadpool_limits(1):  # the fits are small: threads would only wait for each other
        main(splits)
