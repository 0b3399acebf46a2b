"""The words of the recommendation, of decisions as they may come out."""

import dataclasses
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from cli.commands import invoke
from fairpca import FairTableTransformer, fit_table
from fairpca.auditing._advice import advise, summarise
from fairpca.auditing._asking import ask
from fairpca.auditing._decision import Decision
from fairpca.auditing._evidence import Evidence, largest
from fairpca.auditing._question import prepare
from fairpca.auditing._recipes import python_recipe, shell_recipe
from fairpca.auditing._representations import METHODS, fit_method
from fairpca.auditing._results import Estimate, Setting
from fairpca.auditing._splits import QUICK, halves


def evidence(found, **settings):
    return Evidence(
        dataclasses.replace(found, settings=dataclasses.replace(found.settings, **settings))
    )


def with_parts(some, **parts):
    return Evidence(dataclasses.replace(some.audit, **parts))


def options_of(found):
    """Return the raw features and one setting that differs from them in all that is said."""
    raw, *others = found.advice.options
    return raw, others[0]


def decided(found, verdict="recommended", *, chosen=None, tied=(), sure=0.9, **changes):
    """Return a decision about the options of an audit, changed as said."""
    raw, other = options_of(found)
    chosen = dataclasses.replace(chosen or other, **changes)
    taken = verdict in ("recommended", "tie")
    options = [raw, chosen, *(o for o in found.advice.options[1:] if o.name != chosen.name)]
    return Decision(verdict, chosen if taken else None, list(tied), options, raw, 5, sure)


def said(some, decision):
    """Return headline and sentences, and the advice."""
    return summarise(some, decision), advise(some, decision)


@pytest.mark.parametrize(
    ("verdict", "aim", "start"),
    [
        ("no action needed", "decide", "No action needed: decisions differ by"),
        ("no method helps", "decide", "No tested method helps: decisions differ by"),
        ("not settled", "decide", "Not settled by these data: decisions differ by"),
        ("limit not reached", "decide", "No tested option reaches the limit: decisions differ by"),
        ("no action needed", "hide", "No action needed: from these 16 columns no probe predicts"),
        (
            "no method helps",
            "hide",
            "No tested method helps: from these 16 columns a model predicts",
        ),
    ],
)
def test_where_nothing_is_advised_there_is_nothing_to_copy(found, verdict, aim, start):
    """Seen: 'Take X', with code, and two lines below that nothing need be changed."""
    summary, advice = said(evidence(found, aim=aim), decided(found, verdict, sure=0.83))
    assert summary.headline.startswith(start)
    assert (advice.verdict, advice.representation, advice.tradeoff) == (verdict, None, None)
    assert advice.code == advice.command == ""
    words = " ".join([*advice.reasons, *advice.caveats, *summary.sentences])
    assert "Take" not in words
    assert ("83 % of resamples" in words) == (verdict in ("no action needed", "not settled"))
    assert "Audit again" in advice.caveats[-1]


def test_one_setting_that_does_not_help_is_not_called_none_of_the_one(found):
    decision = dataclasses.replace(decided(found, "no method helps"), n_settings=1)
    reasons = " ".join(advise(evidence(found), decision).reasons)
    assert "The one option tested does not reduce the gap" in reasons
    decision = dataclasses.replace(decision, n_settings=0)
    assert "could be fitted" in advise(evidence(found), decision).reasons[0]


def gap_of_model(option, model, gap):
    models = [dataclasses.replace(m, gap=gap) if m.model == model else m for m in option.models]
    return {"models": models}


def test_the_advice_says_with_which_models_it_is_void(found):
    """Seen: 'Take LEACE', linear 21.8 -> 4.6 points, and nothing of the trees' 17.3 -> 17.9."""
    _, other = options_of(found)
    wide = Estimate(0.179, 0.15, 0.21)
    changes = gap_of_model(other, "boosting", wide)
    advice = advise(evidence(found, model="linear"), decided(found, **changes))
    (void,) = [c for c in advice.caveats if "does not hold for every model family" in c]
    assert "with boosted trees decisions differ by 17.9 points (15.0 to 21.0)" in void
    assert "linear" not in void
    quiet = advise(evidence(found), decided(found))
    assert not any("does not hold for every model family" in c for c in quiet.caveats)


def test_options_that_do_not_differ_significantly_are_all_named(found):
    """Seen: three different methods for six seeds, each as if there were no other."""
    _, first = options_of(found)
    tied = found.advice.options[2].name
    summary, advice = said(evidence(found), decided(found, "tie", tied=[tied], sure=0.48))
    gap = next(o.gap.value for o in found.advice.options if o.name == tied)
    assert (
        f"({100 * gap:.0f} points)" in summary.headline.partition("not significantly different")[2]
    )
    assert "at most" not in summary.headline  # its interval reaches further
    assert advice.ties == [tied]
    (sure,) = [r for r in advice.reasons if "not significantly different" in r]
    assert f"{first.name} is recommended in 48 %" in sure
    assert f"{tied} in " in sure
    assert advice.code != ""
    hiding, _ = said(evidence(found, aim="hide"), decided(found, "tie", tied=[tied], sure=0.48))
    assert f"(or {tied}, not significantly different)" in hiding.headline


def test_the_runners_up_are_named_with_their_numbers(found):
    advice = advise(evidence(found), decided(found))
    (others,) = [r for r in advice.reasons if "Alternatives:" in r]
    for one in found.advice.options[2:]:
        assert one.name.split(",")[0].lower() in others.lower()
        assert f"{100 * one.gap.value:.1f} points, AUC {one.utility.value:.2f}" in others


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (Estimate(0.02, 0.0, 0.04), "The whole interval is within the limit of 5 points"),
        (
            Estimate(0.06, 0.0, 0.13),
            "above the limit of 5 points, but not sig.* as large as 13.0 points",
        ),
    ],
)
def test_the_gap_is_held_against_what_is_accepted(found, gap, words):
    advice = advise(evidence(found, max_gap=0.05), decided(found, gap=gap))
    assert sum(re.search(words, reason) is not None for reason in advice.reasons) == 1


def test_a_headline_says_that_what_is_recommended_may_exceed_the_limit(found):
    """Seen: 'with fair PLS by 13.2 points', of 5 accepted, and not that it may be 0 or 49."""
    rough = decided(found, gap=Estimate(0.132, 0.0, 0.491), gap_attribute="sex")
    summary, _ = said(evidence(found, max_gap=0.05), rough)
    words = "13 points (above the limit of 5 points; interval 0 to 49 points), at AUC"
    assert words in summary.headline
    within = decided(found, gap=Estimate(0.03, 0.0, 0.09), gap_attribute="sex")
    summary, _ = said(evidence(found, max_gap=0.05), within)
    assert "3 points, at AUC" in summary.headline


def test_joint_groups_are_in_the_advice(found):
    """Seen: race x sex still 12.7 points apart, and no word of it in the advice."""
    wide = Estimate(0.127, 0.05, 0.2)
    decision = decided(found, joint_gap=wide, joint_attribute="sex × race")
    reasons = " ".join(advise(evidence(found), decision).reasons)
    assert "Between the groups of sex × race the gap is 12.7 points (5.0 to 20.0)" in reasons


def test_groups_that_gaps_leave_out_are_named(found):
    first = found.downstream[0]
    (group, *others) = first.parities[0].groups
    tiny = dataclasses.replace(group, label="tiny", n_rows=25, compared=False)
    parity = dataclasses.replace(first.parities[0], groups=[tiny, *others])
    changed = dataclasses.replace(first, parities=[parity, *first.parities[1:]])
    some = with_parts(evidence(found), downstream=[changed, *found.downstream[1:]])
    caveats = " ".join(advise(some, decided(found)).caveats)
    rule = "Gaps leave out groups of fewer than 100 people (20 where no two groups have 100): tiny"
    assert rule in caveats


def test_a_gap_of_another_attribute_than_before_is_said_to_be_one(found):
    """Seen: 'with fair PLS by 1.8 points, between those of MARRIAGE', which was that of SEX."""
    raw, first = options_of(found)
    moved = dataclasses.replace(first, gap_attribute="another")
    summary, advice = said(evidence(found), decided(found, chosen=moved))
    assert f"{100 * moved.gap.value:.0f} points, between those of another" in summary.headline
    before = rf"features by {100 * raw.gap.value:.1f} points \([^)]*\), between those of "
    assert re.search(before + raw.gap_attribute, advice.reasons[0])
    same = decided(found, gap_attribute=raw.gap_attribute)
    assert "between those of" not in advise(evidence(found), same).reasons[0]


def test_the_headline_says_which_models_it_is_about(found):
    summary, _ = said(evidence(found, model="linear"), decided(found))
    assert "decisions of a linear model differ" in summary.headline


def test_every_advice_says_what_is_not_protected(found):
    for aim in ("hide", "decide", "keep"):
        for one in found.advice.options[1:]:
            advice = advise(evidence(found, aim=aim), decided(found, chosen=one))
            assert "non-linear models" in advice.caveats[0]
            assert any("Audit again" in caveat for caveat in advice.caveats)


def fair_pls_of(found):
    (one,) = [o for o in found.advice.options if o.representation == "fair_pls"]
    return one


def test_a_column_for_the_target_is_advised_with_its_number_and_its_limits(found):
    advice = advise(evidence(found), decided(found, chosen=fair_pls_of(found)))
    words = " ".join(advice.caveats)
    for bound in Evidence(found).certified():
        if bound.attribute in ("sex", "race"):
            assert (
                f"{100 * bound.bound:.1f} points between the groups of {bound.attribute}" in words
            )
    assert "made for paid only" in words
    assert "when it is fitted, not when rows are transformed" in words
    assert "another target needs a fair PLS of its own" in words
    assert "every model" not in words


def test_a_tradeoff_comes_with_a_warning(found):
    """With lambda above 0 a model reads what plain PCA gives away, not what fair PCA does."""
    _, other = options_of(found)
    chosen = dataclasses.replace(
        other, representation="fair_pca", tradeoff=0.3, name="Fair PCA, lambda = 0.3"
    )
    leaks = changed(found.leakage, pca=(0.87, True), fair_pca=(0.5, False))
    summary, advice = said(
        with_parts(evidence(found, model="linear"), leakage=leaks), decided(found, chosen=chosen)
    )
    assert "AUC 0.87" in advice.caveats[0]
    assert any("guarantee" in caveat for caveat in advice.caveats)
    assert "tradeoff=0.3" in advice.code
    assert "AUC 0.87" in summary.sentences[1]


def test_a_linear_leak_on_new_rows_is_a_caveat(found):
    leaks = changed(found.leakage, leace=(0.9, True))
    chosen = dataclasses.replace(options_of(found)[1], representation="leace", name="LEACE")
    advice = advise(with_parts(evidence(found), leakage=leaks), decided(found, chosen=chosen))
    assert any("a linear model still predicts" in caveat for caveat in advice.caveats)


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


def test_a_noisy_attribute_does_not_hide_one_that_leaks(found):
    """The largest AUC may be that of a tiny group; a leak counts first if chance is ruled out."""
    noisy = [
        dataclasses.replace(k, above_chance=False, auc=dataclasses.replace(k.auc, value=0.99))
        if k.attribute == "sex"
        else k
        for k in found.leakage
    ]
    leaks = with_parts(evidence(found), leakage=noisy).leaks("raw")
    assert largest(leaks).attribute == "race"


def test_nothing_is_called_a_leak_that_chance_explains(found):
    quiet = [dataclasses.replace(k, above_chance=False) for k in found.leakage]
    some = with_parts(evidence(found, aim="hide"), leakage=quiet)
    raw, _ = options_of(found)
    decision = dataclasses.replace(
        decided(found, "no action needed"), raw=dataclasses.replace(raw, leak_above_chance=False)
    )
    summary, advice = said(some, decision)
    assert "no probe predicts sex or race better than chance" in summary.headline
    assert "does not predict" in advice.reasons[0]
    assert summary.sentences[0].count("no better than chance") == 2


@pytest.mark.parametrize("key", [key for key, one in METHODS.items() if one.recipe])
def test_the_python_and_the_command_of_every_advice_fit_the_same(
    found, people, key, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    people.to_csv("table.csv", index=False)
    recipe = (found, Setting(key, n_components=1 if key == "fair_pls" else 2))
    names = {"table": "table.csv", "new_rows": people.drop(columns=["sex", "race", "paid"])}
    exec(python_recipe(*recipe), names)
    Path("model.fairpca").unlink()
    _, *arguments = shlex.split(shell_recipe(*recipe))
    result = invoke(arguments)
    assert result.exit_code == 0, result.output
    again = FairTableTransformer.load("model.fairpca").transform(names["new_rows"])
    assert (again == names["representation"]).all()
    assert again.shape == (len(people), {"fair_pls": 1, "leace": again.shape[1]}.get(key, 2))


def test_what_was_measured_is_what_is_advised(people):
    """A table's fair PLS is that of the audit, whose target is a yes or no already."""
    asked = {"pos_label": None, "ignore": (), "sensitive_kinds": None, "n_components": 2}
    question = ask(people, "sex", "paid", **asked, effort=QUICK, seed=0)
    (split, _) = halves(question.strata, 1, np.random.default_rng(0))
    measured = fit_method(Setting("fair_pls"), prepare(question, split).rows).estimator
    advised = fit_table(people, "sex", "paid", pos_label="yes", method="fair_pls").estimator_
    assert advised.get_params() == {
        **measured.get_params(),
        "target_kinds": {"paid": "categorical"},
    }


def test_the_code_and_the_command_of_the_advice_run(audited, people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people[["sex", "height", "skill", "luck", "paid"]].to_csv("some people.csv", index=False)
    found = audited("some people.csv", "sex", "paid", n_components=2)
    assert found.advice.verdict in ("recommended", "tie")
    program, *arguments = shlex.split(found.advice.command)
    result = invoke(arguments)
    assert program == "fairpca"
    assert result.exit_code == 0, result.output
    Path("model.fairpca").unlink()
    exec(found.advice.code, {"new_rows": people[["height", "skill", "luck"]]})
    assert Path("model.fairpca").exists()


def test_a_fitted_table_equalises_means_and_ignores_the_target(people):
    model = fit_table(people, ["sex", "race"], "paid", n_components=3)
    assert "paid" not in model.encoder_.feature_names_in_
    assert not {"sex", "race"} & set(model.encoder_.feature_names_in_)
    T = model.transform(people)
    for name in ("sex", "race"):
        gaps = [
            T[people[name] == level].mean(axis=0) - T.mean(axis=0)
            for level in people[name].unique()
        ]
        assert max(abs(gap).max() for gap in gaps) < 1e-8
    assert model.info_["groups"]["sex"] == people["sex"].value_counts().to_dict()


@pytest.mark.parametrize(
    "options",
    [
        {"match": "covariances", "covariance_tol": 0.3},
        {"method": "fair_kernel_pca"},
        {"method": "leace", "n_components": None},
        {"method": "pca"},
        {"tradeoff": 0.5},
        {"criterion": "equal_opportunity", "pos_label": "yes"},
        {"intersectional": True},
    ],
)
def test_every_method_fits_saves_and_comes_back(people, options, tmp_path):
    model = fit_table(people, ["sex", "race"], "paid", **({"n_components": 2} | options))
    model.save(tmp_path / "model.fairpca")
    again = FairTableTransformer.load(tmp_path / "model.fairpca")
    assert (again.transform(people) == model.transform(people)).all()


def test_equal_opportunity_without_a_target_is_refused(people):
    from fairpca.errors import MissingTargetError

    with pytest.raises(MissingTargetError, match="no target was named"):
        fit_table(people, "sex", criterion="equal_opportunity")


def test_odd_names_keep_sentences_in_one_line(audited, people):
    odd = people[["sex", "height", "skill", "paid"]].set_axis(
        ["{s}\n<b>ex", "%s" * 50, "a;b", "p\taid"], axis=1
    )
    found = audited(odd, odd.columns[0], odd.columns[3], n_components=1)
    words = [found.summary.headline, *found.summary.sentences]
    words += found.advice.reasons + found.advice.caveats
    assert not any(set("\n\t") & set(sentence) for sentence in words)
    assert "{s} <b>ex" in " ".join(words)
