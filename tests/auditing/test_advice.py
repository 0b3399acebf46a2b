import dataclasses
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fairpca import fit_table
from fairpca._cli import app
from fairpca.auditing import audit
from fairpca.auditing._advice import advise, summarise
from fairpca.auditing._evidence import FAIR, Evidence
from fairpca.auditing._question import ask, prepare
from fairpca.auditing._recipes import python_recipe, shell_recipe
from fairpca.auditing._representations import METHODS, fit_method
from fairpca.auditing._splits import QUICK, halves
from fairpca.models import FairModel


def evidence(found, **settings):
    return Evidence(
        dataclasses.replace(found, settings=dataclasses.replace(found.settings, **settings))
    )


def with_parts(some, **parts):
    return Evidence(dataclasses.replace(some.audit, **parts))


def summary_of(some, advice):
    return summarise(with_parts(some, advice=advice))


def gap_of(found, advice):
    if advice.representation == "fair_pca":
        (point,) = [p for p in found.curves[0].points if p.tradeoff == advice.tradeoff]
        parities = point.parities
    else:
        (parities,) = [
            d.parities
            for d in found.downstream
            if (d.representation, d.model) == (advice.representation, "linear")
        ]
    return max(p.dp_gap.value for p in parities)


@pytest.mark.parametrize("max_gap", [0.1, 0.2, 0.4])
def test_to_decide_takes_a_setting_within_the_allowed_gap(found, max_gap):
    advice = advise(evidence(found, aim="decide", max_gap=max_gap))
    assert gap_of(found, advice) <= max_gap


def test_a_budget_that_nothing_meets_is_said(found):
    advice = advise(evidence(found, aim="decide", max_gap=0.0))
    assert "None of the" in advice.reasons[1]
    best = gap_of(found, advice)
    assert all(best <= gap_of(found, advise(evidence(found, max_gap=g))) for g in (0.1, 0.3))


def test_to_hide_takes_what_hides_best_as_far_as_can_be_told(found):
    some = evidence(found, aim="hide")
    advice = advise(some)
    best = min(some.fair(), key=lambda key: some.worst(key).auc.value)
    assert some.worst(advice.representation).auc.value <= some.worst(best).auc.high


def test_to_keep_all_columns_takes_leace(found):
    advice = advise(evidence(found, aim="keep"))
    assert advice.representation == "leace"
    assert "--n-components" not in advice.command


def test_every_advice_says_what_is_not_protected(found):
    for aim in ("hide", "decide", "keep"):
        advice = advise(evidence(found, aim=aim))
        alike = "one column, on rows like these, up to a number"
        limit = alike if advice.representation == "fair_pls" else "non-linear model can see"
        assert limit in advice.caveats[0]
        assert any("Audit again" in caveat for caveat in advice.caveats)


def of_fair_pls(found, aim):
    """The evidence where no other fair representation could be fitted."""
    two = [r for r in found.representations if r.key in ("raw", "fair_pls")]
    return with_parts(evidence(found, aim=aim), representations=two, curves=[])


@pytest.mark.parametrize("aim", ["hide", "decide"])
def test_a_column_for_the_target_is_advised_with_its_number_and_its_limits(found, aim):
    some = of_fair_pls(found, aim)
    advice = advise(some)
    assert (advice.representation, advice.tradeoff) == ("fair_pls", None)
    for bound in (c for c in found.certificates if c.representation == "fair_pls"):
        said = f"{100 * bound.bound:.1f} points between the groups of {bound.attribute}"
        assert said in advice.caveats[0]
    assert "95 % confidence" in advice.caveats[0]
    assert "made for paid only" in advice.caveats[1]
    assert "when it is fitted, not when rows are transformed" in advice.caveats[1]
    assert "another target needs a fair PLS of its own" in advice.caveats[1]
    summary = summary_of(some, advice)
    assert "After fair PLS, one column made for paid, a linear model" in summary.sentences[1]
    words = [summary.headline, *summary.sentences, *advice.reasons, *advice.caveats]
    assert not any("every model" in sentence for sentence in words)


def test_a_single_column_does_not_keep_the_others(found):
    advice = advise(of_fair_pls(found, "keep"))
    assert advice.representation is None
    assert advice.reasons == ["No representation that keeps columns could be fitted to these."]


def test_a_tradeoff_comes_with_a_warning(found):
    some = evidence(found, aim="decide", max_gap=1.0)
    two = [r for r in found.representations if r.key in ("raw", "fair_pca")]
    advice = advise(with_parts(some, representations=two))
    assert advice.tradeoff > 0
    assert any("guarantee" in caveat for caveat in advice.caveats)
    summary = summary_of(some, advice)
    assert "does not hide it" in summary.headline
    assert "as from plain PCA" in " ".join(summary.sentences)
    assert "indistinguishable" not in " ".join(summary.sentences)


@pytest.mark.parametrize("key", FAIR)
def test_the_python_and_the_command_of_every_advice_fit_the_same(
    found, people, key, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    people.to_csv("table.csv", index=False)
    recipe = (found, key, 1 if key == "fair_pls" else 2, None)
    names = {"table": "table.csv", "new_rows": people.drop(columns=["sex", "race", "paid"])}
    exec(python_recipe(*recipe), names)
    Path("model.fairpca").unlink()
    _, *arguments = shlex.split(shell_recipe(*recipe))
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    again = FairModel.load("model.fairpca").transform(names["new_rows"])
    assert (again == names["representation"]).all()
    assert again.shape == (len(people), {"fair_pls": 1, "leace": again.shape[1]}.get(key, 2))


def test_what_was_measured_is_what_is_advised(people):
    """A table's fair PLS is that of the audit, whose target is a yes or no already."""
    asked = {"positive": None, "ignore": (), "sensitive_kinds": None, "n_components": 2}
    question = ask(people, "sex", "paid", **asked, effort=QUICK, seed=0, data=None)
    (split, _) = halves(question.strata, 1, np.random.default_rng(0))
    measured = fit_method(METHODS["fair_pls"], prepare(question, split).rows).estimator
    advised = fit_table(people, "sex", "paid", positive="yes", method="fair_pls").estimator
    assert advised.get_params() == {
        **measured.get_params(),
        "target_kinds": {"paid": "categorical"},
    }


def test_the_command_of_the_advice_runs(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people.to_csv("some people.csv", index=False)
    advice = audit("some people.csv", "sex", "paid", quick=True, n_jobs=1).advice
    program, *arguments = shlex.split(advice.command)
    result = CliRunner().invoke(app, arguments)
    assert program == "fairpca"
    assert result.exit_code == 0, result.output
    assert (tmp_path / "model.fairpca").exists()


def test_the_summary_has_the_numbers_of_the_tables(found):
    some = evidence(found, aim="decide")
    advice = advise(some)
    summary = summary_of(some, advice)
    text = " ".join(summary.sentences)
    for name in ("sex", "race"):
        best = max(
            (leak for leak in some.leaks("raw") if leak.attribute == name),
            key=lambda leak: leak.auc.value,
        )
        assert f"{name} with AUC {best.auc.value:.2f}" in text
    assert "none of which is sex or race" in text
    assert "indistinguishable" in text or "non-linear" in text


def test_a_fitted_table_equalises_means_and_ignores_the_target(people):
    model = fit_table(people, ["sex", "race"], "paid", n_components=3)
    assert "paid" not in model.encoder.feature_names_in_
    assert not {"sex", "race"} & set(model.encoder.feature_names_in_)
    T = model.transform(people)
    for name in ("sex", "race"):
        gaps = [
            T[people[name] == level].mean(axis=0) - T.mean(axis=0)
            for level in people[name].unique()
        ]
        assert max(abs(gap).max() for gap in gaps) < 1e-8
    assert model.info["groups"]["sex"] == people["sex"].value_counts().to_dict()


@pytest.mark.parametrize(
    "options",
    [
        {"match": "covariances", "covariance_tol": 0.3},
        {"method": "fair_kernel_pca"},
        {"method": "leace", "n_components": None},
        {"method": "pca"},
        {"tradeoff": 0.5},
        {"criterion": "equal_opportunity", "positive": "yes"},
        {"intersectional": True},
    ],
)
def test_every_method_fits_saves_and_comes_back(people, options, tmp_path):
    model = fit_table(people, ["sex", "race"], "paid", **({"n_components": 2} | options))
    model.save(tmp_path / "model.fairpca")
    again = FairModel.load(tmp_path / "model.fairpca")
    assert (again.transform(people) == model.transform(people)).all()


def test_equal_opportunity_without_a_target_is_refused(people):
    from fairpca.auditing import TargetError

    with pytest.raises(TargetError, match="no target was named"):
        fit_table(people, "sex", criterion="equal_opportunity")


def changed(leaks, **by_representation):
    """Leaks with other AUCs and verdicts, by representation."""
    return [
        dataclasses.replace(
            leak,
            auc=dataclasses.replace(leak.auc, value=by_representation[leak.representation][0]),
            above_chance=by_representation[leak.representation][1],
        )
        if leak.representation in by_representation
        else leak
        for leak in leaks
    ]


def test_nothing_is_called_a_guess_that_chance_explains(found):
    some = evidence(found, aim="hide")
    quiet = with_parts(
        some, leakage=[dataclasses.replace(k, above_chance=False) for k in found.leakage]
    )
    summary = summary_of(quiet, advise(quiet))
    assert "none of three models guesses sex or race better than chance" in summary.headline
    assert "does not recognise" in advise(quiet).reasons[0]


def test_a_noisy_attribute_does_not_hide_one_that_is_recognised(found):
    """The largest AUC may be that of a tiny group; a leak counts first if chance is ruled out."""
    some = evidence(found, aim="hide")
    noisy = [
        dataclasses.replace(k, above_chance=False, auc=dataclasses.replace(k.auc, value=0.99))
        if k.attribute == "sex"
        else k
        for k in found.leakage
    ]
    assert with_parts(some, leakage=noisy).worst("raw").attribute == "race"


def test_what_is_said_of_a_tradeoff_is_not_measured_at_lambda_zero(found):
    """With lambda above 0 a model reads what plain PCA gives away, not what fair PCA does."""
    some = evidence(found, aim="decide", max_gap=1.0)
    two = [r for r in found.representations if r.key in ("raw", "fair_pca")]
    leaks = changed(found.leakage, pca=(0.87, True), fair_pca=(0.5, False))
    advice = advise(with_parts(some, representations=two, leakage=leaks))
    assert advice.tradeoff > 0
    assert "AUC 0.87" in advice.caveats[0]


def test_a_linear_leak_on_new_rows_is_a_caveat(found):
    leaks = changed(found.leakage, leace=(0.9, True))
    advice = advise(with_parts(evidence(found, aim="keep"), leakage=leaks))
    assert any("a linear model still recognises" in caveat for caveat in advice.caveats)


def test_how_far_the_gap_may_reach_is_said(found):
    advice = advise(evidence(found, aim="decide", max_gap=0.1))
    assert any("may be as large as" in reason for reason in advice.reasons)
    every = advise(evidence(found, aim="decide", max_gap=1.0))
    assert any("nothing need be changed" in reason for reason in every.reasons)


def with_aucs(found, **by_setting):
    """The evidence with other AUCs of linear models; points of the curve are called `point`."""
    some = evidence(found, aim="decide", max_gap=1.0)

    def as_said(model, key):
        auc = dataclasses.replace(model.auc, value=by_setting.get(key, 0.7))
        return dataclasses.replace(model, auc=auc)

    curves = [
        dataclasses.replace(c, points=[as_said(p, "point") for p in c.points]) for c in found.curves
    ]
    downstream = [as_said(d, d.representation) for d in found.downstream]
    return with_parts(some, curves=curves, downstream=downstream)


def test_of_equally_good_settings_the_fairest_with_a_guarantee_is_taken(found):
    advice = advise(with_aucs(found))  # all alike
    models = [
        max(p.dp_gap.value for p in d.parities)
        for d in found.downstream
        if d.model == "linear" and d.representation in FAIR[1:]
    ]
    at_zero = max(p.dp_gap.value for p in found.curves[0].points[0].parities)
    assert not advice.tradeoff
    assert gap_of(found, advice) == min(*models, at_zero)


def test_a_clearly_better_setting_without_a_guarantee_is_taken(found):
    assert advise(with_aucs(found, leace=0.8)).representation == "leace"
    better = with_aucs(found, point=0.8)
    points = [p for p in better.audit.curves[0].points if p.tradeoff > 0]
    curves = [dataclasses.replace(better.audit.curves[0], points=points)]
    assert advise(with_parts(better, curves=curves)).tradeoff > 0


def test_odd_names_keep_sentences_in_one_line(people):
    odd = people[["sex", "height", "skill", "paid"]].set_axis(
        ["{s}\n<b>ex", "%s" * 50, "a;b", "p\taid"], axis=1
    )
    found = audit(odd, odd.columns[0], odd.columns[3], quick=True, n_jobs=1, n_components=1)
    said = [found.summary.headline, *found.summary.sentences]
    said += found.advice.reasons + found.advice.caveats
    assert not any(set("\n\t") & set(sentence) for sentence in said)
    assert "{s} <b>ex" in found.summary.headline


def test_a_handful_of_people_does_not_choose_the_advice(found):
    """A tiny group with a rate far from the others is shown, and does not decide."""
    linear = [d for d in found.downstream if d.model == "linear"]
    plain = advise(evidence(found, aim="decide", max_gap=0.3))

    def with_a_tiny_group(item):
        first = item.parities[0]
        rate = dataclasses.replace(first.groups[0].selection_rate, value=0.0, low=0.0)
        tiny = dataclasses.replace(first.groups[0], label="tiny", n_rows=25, selection_rate=rate)
        gap = max(g.selection_rate.value for g in first.groups)
        wide = dataclasses.replace(first.dp_gap, value=gap, high=1.0)
        changed = dataclasses.replace(first, groups=[*first.groups, tiny], dp_gap=wide)
        return dataclasses.replace(item, parities=[changed, *item.parities[1:]])

    curves = [
        dataclasses.replace(c, points=[with_a_tiny_group(p) for p in c.points])
        for c in found.curves
    ]
    some = with_parts(
        evidence(found, aim="decide", max_gap=0.3),
        downstream=[with_a_tiny_group(d) for d in linear],
        curves=curves,
    )
    advice = advise(some)
    assert (advice.representation, advice.tradeoff) == (plain.representation, plain.tradeoff)
    assert any("did not take part" in reason and "tiny" in reason for reason in advice.reasons)
    assert any("as large as 100.0 points" in reason for reason in advice.reasons)
    sentences = " ".join(summary_of(some, advice).sentences)
    assert "Between groups of at least 100 rows it is" in sentences
