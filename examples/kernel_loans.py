"""Does a kernel help on real loan applications? The measurements of `first_steps`, for kernels.

Install ``fairpca[demo]``, then run ``python examples/kernel_loans.py`` (a minute or two).
"""

import numpy as np
from first_steps import held_out_thirds, means_over_rounds, recognition
from rich.progress import track
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fairpca import FairKernelPCA, FairPCA
from fairpca.datasets import load_loanapp

REDUCTIONS = {
    "FairPCA(15)": FairPCA(15),
    "FairKernelPCA(15)": FairKernelPCA(15),
    "FairKernelPCA(15, gamma=0.005)": FairKernelPCA(15, gamma=0.005),
    "FairKernelPCA(15, kernel='poly', degree=2)": FairKernelPCA(15, kernel="poly", degree=2),
    "FairKernelPCA(40)": FairKernelPCA(40),
}


def main():
    loans = load_loanapp()
    X, y = loans.features, loans.target
    race, rounds = held_out_thirds(loans)
    sex = loans.sensitive["sex"]
    measured = {name: [] for name in REDUCTIONS}
    for train, test in track(rounds, description="splits"):
        for name, reduction in REDUCTIONS.items():
            reduction.set_params(missing_sensitive="ignore")
            encoder = make_pipeline(SimpleImputer(), StandardScaler(), reduction)
            step = type(reduction).__name__.lower()
            attributes = {f"{step}__sensitive_features": loans.sensitive.iloc[train]}
            encoder.fit(X.iloc[train], **attributes)
            T, T_new = encoder.transform(X.iloc[train]), encoder.transform(X.iloc[test])
            known = sex.iloc[test].notna().to_numpy()
            model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
            scores = model.fit(T, y.iloc[train]).decision_function(T_new)
            measured[name].append(
                recognition("race", T_new, race[test])
                | recognition("sex", T_new[known], sex.iloc[test][known].to_numpy())
                | {"decisions": roc_auc_score(y.iloc[test], scores)}
            )
    means = means_over_rounds(measured)
    for name, values in means.items():
        print(f"{name:44s}", *(f"{what} {np.round(v, 2):.2f} " for what, v in values.items()))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
