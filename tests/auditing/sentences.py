"""What sentences of an audit say, read back against its JSON.

A sentence is matched as a whole, so that no number of it is overlooked; each number is then looked
up in what was measured, for exactly the setting, attribute and models that the sentence names. A
sentence with a number that no reader knows is an error: write one.
"""

import re
from copy import copy

import pytest

NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?"
ENDS = rf"\({NUMBER} to {NUMBER}\)"
PLAIN = rf"{NUMBER} points|{NUMBER} standard deviations"
GAP = (
    rf"{NUMBER} points {ENDS}|"
    rf"{NUMBER} standard deviations of wage \({NUMBER} to {NUMBER}; {NUMBER} in its unit\)"
)


class Measured:
    """What was measured, from the JSON alone, by the names that sentences use."""

    def __init__(self, found):
        self.json = json = found.to_dict()
        self.settings, self.target = json["settings"], json["data"]["target"]
        self.number = self.target is not None and self.target["kind"] == "number"
        self.unit = self.target["deviation"] if self.number else None
        one = self.settings["model"]
        self.models = ("linear", "boosting", "kernel") if one == "any" else (one,)
        self.attributes = [one["name"] for one in json["data"]["attributes"]]
        self.singles = self.settings["sensitive"]
        self.keys = {spoken(one["name"]): (one["key"], None) for one in json["representations"]}
        self.keys |= {
            f"fair PCA, lambda = {point['tradeoff']:g}": ("fair_pca", point["tradeoff"])
            for curve in json["curves"]
            for point in curve["points"]
        }
        self.own = {
            one["key"]: one["kind"]
            for one in json["representations"]
            if one["kind"] in ("score", "decision")
        }

    def of_model(self, model):
        """Return the same for who asks for one model family."""
        one = copy(self)
        one.models = (model,)
        return one

    def found(self, setting):
        """Return what models make of a setting: downstream models, or points of a curve."""
        key, tradeoff = self.keys[setting]
        if tradeoff is None:
            models = ("existing_model",) if key in self.own else self.models
            return [
                one
                for one in self.json["downstream"]
                if one["representation"] == key and one["model"] in models
            ]
        return [
            point
            for curve in self.json["curves"]
            if curve["model"] in self.models
            for point in curve["points"]
            if point["tradeoff"] == tradeoff
        ]

    def parities(self, setting, attribute):
        return [p for one in self.found(setting) for p in one["parities"]
                if p["attribute"] == attribute]  # fmt: skip

    def worst(self, setting, attribute):
        """Return how the model compares whose gap is the largest."""
        return max(self.parities(setting, attribute), key=lambda p: p["gap"]["value"])

    def gap(self, setting, *attributes):
        """Return the largest gap of models and attributes, with what it may be at most."""
        gaps = [p["gap"] for a in attributes for p in self.parities(setting, a) if p["gap"]]
        return {end: max(gap[end] for gap in gaps) for end in ("value", "low", "high")}

    def worst_attribute(self, setting):
        return max(self.singles, key=lambda a: self.gap(setting, a)["value"])

    def utility(self, setting):
        known = [one["utility"] for one in self.found(setting) if one["utility"]]
        if known:
            return max(known, key=lambda u: u["value"])
        key, _ = self.keys[setting]
        (shown,) = [one for one in self.json["representations"] if one["key"] == key]
        return shown["variance_kept"]

    def leaks(self, setting, *attributes, probes=("linear", "boosting", "kernel")):
        """Return what probes predict; above lambda 0 a model reads plain PCA."""
        key, tradeoff = self.keys[setting]
        key = "pca" if tradeoff else key
        return [
            leak
            for leak in self.json["leakage"]
            if leak["representation"] == key
            and leak["attribute"] in attributes
            and leak["probe"] in probes
        ]

    def leak(self, setting, *attributes, **which):
        found = self.leaks(setting, *attributes, **which)
        return max(found, key=lambda leak: (leak["above_chance"], leak["auc"]["value"]))


def spoken(name):
    if name == "Raw features":
        return "the raw features"
    return name[0].lower() + name[1:] if name[1:2].islower() else name


def named(text):
    return text[0].lower() + text[1:] if text.startswith(("Score", "Decision")) else text


# What a sentence may say, and how that is compared with what was measured


def near(text, value, scale=1.0):
    """Whether a printed number is this one, to the digits that are printed."""
    digits = len(text.partition(".")[2]) if "e" not in text else 0
    if "e" in text:
        return float(text) == pytest.approx(scale * value, rel=0.01)
    return abs(float(text) - scale * value) <= 0.5000001 * 10**-digits


def assert_gap(said, gap, measured, *, points=False):
    """A gap with its interval, in points or in standard deviations and the target's own unit."""
    numbers = re.findall(NUMBER, said)
    in_points = points or not measured.number
    assert said.count("points") == in_points, said
    scale = 100 if in_points else 1
    for text, end in zip(numbers, ("value", "low", "high"), strict=False):
        assert near(text, gap[end], scale), (said, gap)
    if len(numbers) == 4:
        assert float(numbers[3]) == pytest.approx(gap["value"] * measured.unit, rel=0.01)
    else:
        assert len(numbers) in (1, 3)


def assert_value(said, estimate):
    for text, end in zip(re.findall(NUMBER, said), ("value", "low", "high"), strict=False):
        assert near(text, estimate[end]), (said, estimate)


def assert_compared(said, parity):
    """ "(2 of 3 groups compared)" where some are left out, and nothing elsewhere."""
    few = parity["n_compared"] < parity["n_groups"]
    assert said == (f" ({counted(parity)})" if few else "")


def counted(parity):
    return f"{parity['n_compared']} of {parity['n_groups']} groups compared"


def assert_left_out(said, parity, measured):
    """Each group that is not compared, with its people, and its rate and interval."""
    rare = [group for group in parity["groups"] if not group["compared"]]
    assert bool(said.strip()) == bool(rare)
    if not rare:
        return
    assert f"Too few people to compare by {parity['attribute']}, with " in said
    numbers = rf"({NUMBER})(?: %)? \(({NUMBER}) to ({NUMBER})\)"
    each = rf"([^,:(]+) \((\d+) (?:people|person), {numbers}\)"
    told = re.findall(each, said.partition(": ")[2])
    assert len(told) == len(rare)
    for (label, people, *numbers), group in zip(told, rare, strict=True):
        assert label.removeprefix(" and ").strip() == group["label"]
        assert int(people) == group["n_rows"]
        rate = group["mean_score" if measured.number else "selection_rate"]
        for text, end in zip(numbers, ("value", "low", "high"), strict=True):
            assert near(text, rate[end], 1 if measured.number else 100)


def pattern(template, measured):
    """Return a pattern from a sentence with places such as {a:attribute}."""
    names = sorted(map(re.escape, measured.keys), key=len, reverse=True)
    attributes = sorted(map(re.escape, measured.attributes), key=len, reverse=True)
    kinds = {
        "number": NUMBER,
        "setting": "|".join(names),
        "model": r"(?:Score|Decision) '\w+'",
        "attribute": "|".join(attributes),
        "gap": GAP,
        "plain": PLAIN,
        "value": rf"{NUMBER} {ENDS}",
        "compared": r"(?: \(\d+ of \d+ groups compared\))?",
        "elsewhere": rf"(?:, between those of (?:{'|'.join(attributes)})"
        r"(?: \(\d+ of \d+ groups compared\))?)?",
        "left_out": r"(?: ?Too few people to compare by .*?, with .*?\)\.)*",
        "chance": r"(?:[;,] no better than chance| \(no better than chance\))?",
        "list": ".+?",
        "words": r"[^\d]*?",
        "own": r"(?:Between the groups of .*?\. (?=[ON]))?",
        "beyond": r"(?: \(above the limit of [^)]*; interval [^)]*\))?",
        "ties": r"(?:; not significantly different: .*)?",
        "or_ties": r"(?: \(or .*?, not significantly different\))?",
        "above": r"(?: \((?:" + "|".join(attributes) + r")\))?",
        "kinds": "a linear model|boosted trees|a kernel model|"
        "the model family with the largest gap",
        "still": r"(?:, but a linear model still predicts .*? \(AUC \d\.\d\d\))?",
        "size": r"one column|\d+ columns",
        "utility": rf"(?:, at (?:AUC|R²) {NUMBER} {ENDS})?",
    }
    parts = re.split(r"\{(\w+):(\w+)\}", template)
    made = re.escape(parts[0]).replace(r"\ ", " ")
    for name, kind, rest in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        made += f"(?P<{name}>{kinds[kind]})" + re.escape(rest).replace(r"\ ", " ")
    return re.compile(made)


READERS = []


def reads(template):
    def keep(check):
        READERS.append((" ".join(template.split()), check))
        return check

    return keep


def read_back(sentence, measured, chosen, decision):
    """Find the one reader of a sentence, and let it compare all numbers."""
    if not re.search(r"\d", sentence):
        return None
    matches = [
        (check, match)
        for template, check in READERS
        if (match := pattern(template, measured).fullmatch(sentence))
    ]
    assert len(matches) == 1, f"{len(matches)} readers of: {sentence}"
    ((check, match),) = matches
    check(measured, chosen, decision, **match.groupdict())
    return check


def elsewhere(said, setting, before, measured):
    """Compare a gap's attribute with the one named before; return the attribute of the gap."""
    worst = measured.worst_attribute(setting)
    if worst == before:
        assert said == ""
    else:
        rest = said.removeprefix(f", between those of {worst}")
        assert rest != said, (said, worst)
        assert_compared(rest, measured.worst(setting, worst))
    return worst


def assert_own(said, measured):
    """'score 'risk' differs by 26.9 points', of each model that exists, where it is worst."""
    for clause in re.split(r"\. (?=Between)", said.strip().removesuffix(".")) if said else []:
        head, _, rest = clause.removeprefix("Between the groups of ").partition(", ")
        name, few = re.fullmatch(r"(.*?)( \(\d+ of \d+ groups compared\))?", head).groups()
        for one in re.split(r" and |; |(?<=s), (?=score|decision)", rest):
            own, gap = re.fullmatch(
                r"((?:score|decision) '\w+') differs by ([^:]+)(?:: .*)?", one
            ).groups()
            own = own[0].upper() + own[1:]
            setting = next(key for key in measured.keys if key.lower() == own.lower())
            assert measured.worst_attribute(setting) == name
            is_decision = own.startswith("Decision")
            assert_gap(gap, measured.gap(setting, name), measured, points=is_decision)
            assert_compared(few or "", measured.worst(setting, name))


RAW = "the raw features"


# The headline


@reads("""{own:own}On all columns, {what:words} differ by {g:plain} between the groups of
    {a:attribute}{c:compared}; with {s:setting} by {sg:plain}{e:elsewhere}{b:beyond}, at
    {unit:words} {u:number} instead of {ru:number}{ties:ties}.""")
def headline(m, chosen, decision, *, own, what, g, a, c, s, sg, e, b, unit, u, ru, ties):
    assert s == chosen
    assert a == m.worst_attribute(RAW)
    assert_gap(g, m.gap(RAW, a), m)
    assert_compared(c, m.worst(RAW, a))
    worst = elsewhere(e, s, a, m)
    assert_gap(sg, m.gap(s, worst), m)
    whole = m.gap(s, *m.singles)
    assert bool(b) == (whole["value"] > m.settings["max_gap"])
    if b:
        limit, high = re.findall(PLAIN, b)
        (low,) = re.findall(rf"interval ({NUMBER}) to ", b)
        assert_limit(limit, m)
        assert near(low, whole["low"], 1 if m.number else 100)
        assert_gap(high, {"value": whole["high"]}, m)
    assert near(u, m.utility(s)["value"])
    assert near(ru, m.utility(RAW)["value"])
    assert_own(own, m)
    told = ties.removeprefix("; not significantly different: ")
    assert bool(told) == bool(decision.ties)
    for tie in [spoken(name) for name in decision.ties]:
        rest = told.partition(f"{tie} (")[2]
        said = re.match(rf"({NUMBER} (?:points|standard deviations))(.*?)\)(?= and|,|$)", rest)
        assert_gap(said[1], m.gap(tie, *m.singles), m)
        elsewhere(said[2], tie, worst, m)


@reads("""{own:own}No action needed: {what:words} differ by {g:plain} between the groups of
    {a:attribute}{c:compared}, within the limit of {limit:plain}.""")
@reads("""{own:own}No tested method helps: {what:words} differ by {g:plain} between the groups of
    {a:attribute}{c:compared}, and no option reduces that significantly.""")
def nothing(m, chosen, decision, *, own, what, g, a, c, limit=None):
    assert a == m.worst_attribute(RAW)
    assert_gap(g, m.gap(RAW, a), m)
    assert_compared(c, m.worst(RAW, a))
    assert_own(own, m)
    if limit:
        assert_limit(limit, m)


def assert_limit(said, m, *, points=False):
    in_points = points or not m.number
    assert ("points" in said) == in_points
    assert near(re.findall(NUMBER, said)[0], m.settings["max_gap"], 100 if in_points else 1)


@reads("""No action needed: from these {n:number} columns no probe predicts {who:words} better
    than chance (AUC {auc:number}).""")
@reads("""No tested method helps: from these {n:number} columns a model predicts {a:attribute} with
    AUC {auc:number}, and no option reduces that much.""")
@reads("""From these {n:number} columns a model predicts {a:attribute} with AUC {auc:number};
    after {s:setting}{ties:or_ties} the best probe is at chance ({left:number}).""")
@reads("""From these {n:number} columns a model predicts {a:attribute} with AUC {auc:number};
    after {s:setting}{ties:or_ties} the best probe reaches {left:number}{other:above}.""")
def hiding(m, chosen, decision, *, n, auc, who="", a=None, s=None, ties="", left="", other=""):
    assert int(n) == m.json["data"]["n_features"]
    worst = m.leak(RAW, *m.singles)
    assert near(auc, worst["auc"]["value"])
    assert a in (None, worst["attribute"])
    if s:
        assert s == chosen
        after = m.leak(s, *m.singles)
        assert near(left, after["auc"]["value"])
        moved = after["attribute"] != worst["attribute"]
        assert other == (f" ({after['attribute']})" if moved and after["above_chance"] else "")


@reads("""{own:own}Nothing is recommended: {columns:list} alone {tells:words} (AUC
    {auc:number}), and models of these columns only repeat it. Declare {rest:words}.""")
def target_leak(m, chosen, decision, *, own, columns, tells, auc, rest):
    assert_own(own, m)
    assert_telling(columns, auc, m)


def assert_telling(column, auc, m):
    (notice,) = [n for n in m.json["notices"] if n["kind"] == "leak" and n["value"] >= 0.99]
    assert column.startswith(notice["column"])
    assert near(auc, notice["value"])


@reads("""{own:own}Not settled by these data: {what:words} differ by {g:plain} between the groups of
    {a:attribute}{c:compared} (interval {low:number} to {high:plain}); the limit is
    {limit:plain}.""")
def not_settled(m, chosen, decision, *, own, what, g, a, c, low, high, limit):
    nothing(m, chosen, decision, own=own, what=what, g=g, a=a, c=c, limit=limit)
    gap = m.gap(RAW, *m.singles)
    for said, end in ((low, "low"), (high, "high")):
        assert near(re.findall(NUMBER, said)[0], gap[end], 1 if m.number else 100)


@reads("""{own:own}No tested option reaches the limit: {what:words} differ by {g:plain} between the
    groups of {a:attribute}{c:compared}, and with {s:setting}, the closest, by
    {sg:plain}{e:elsewhere}; the limit is {limit:plain}.""")
def out_of_reach(m, chosen, decision, *, own, what, g, a, c, s, sg, e, limit):
    nothing(m, chosen, decision, own=own, what=what, g=g, a=a, c=c, limit=limit)
    assert_gap(sg, m.gap(s, elsewhere(e, s, a, m)), m)


# The findings


@reads("""From {n:number} columns, none of which is {who:words}, the best of three model
    families predicts {aucs:list}: given {pairs:words} in {cases:number} of 100 cases{over:words};
    50 is chance.""")
def given(m, chosen, decision, *, n, who, aucs, pairs, cases, over):
    assert int(n) == m.json["data"]["n_features"]
    for name in m.singles:
        leak = m.leak(RAW, name)
        said = re.search(rf"{name} with AUC ({NUMBER}) \(({NUMBER}) to ({NUMBER})(.*?)\)", aucs)
        assert_value(" ".join(said.groups()[:3]), leak["auc"])
        assert ("no better than chance" in said[4]) == (not leak["above_chance"])
    worst = m.leak(RAW, *m.singles)
    assert near(cases, worst["auc"]["value"], 100)
    assert worst["attribute"] in pairs
    (attribute,) = [a for a in m.json["data"]["attributes"] if a["name"] == worst["attribute"]]
    several = sum(group["measured"] for group in attribute["groups"]) > 2
    assert ("on average over the groups" in over) == several == ("one other person" in pairs)


@reads("After {s:setting} it predicts {aucs:list}.")
def left(m, chosen, decision, *, s, aucs):
    assert s == chosen
    for name in m.singles:
        leak = m.leak(s, name)
        said = re.search(rf"{name} with AUC ({NUMBER})( \(no better than chance\))?", aucs)
        assert near(said[1], leak["auc"]["value"])
        assert bool(said[2]) == (not leak["above_chance"])


@reads("""Linear models predict {a:attribute} with AUC {auc:number} after {s:setting}, with AUC
    {raw:number} from the raw features. Fitted to {n:number} people of the smallest group, half of
    the data, it is expected to leave {few:value}: the price of so few people. With {n4:number} of
    them it would be {more:number}.{rest:words}""")
def price_of_few_people(m, chosen, decision, *, a, auc, s, raw, n, few, n4, more, rest):
    assert s == (chosen if decision.chosen else "LEACE")
    before, after = (m.leak(setting, a, probes=["linear"]) for setting in (RAW, s))
    assert near(raw, before["auc"]["value"])
    assert near(auc, after["auc"]["value"])
    price = after["few_people"]
    assert (int(n), int(n4)) == (price["n_people"], price["n_more"])
    assert int(n4) == 4 * int(n)
    assert_value(few, price["expected"])
    assert near(more, price["expected_of_more"])
    assert bool(rest) == (after["auc"]["low"] > price["expected"]["high"])


@reads("""{o:model}{half:words}: {what:words} differ by {gaps:list}{u:utility}; it
    predicts {a:attribute} with AUC {auc:number}{ch:chance}.{rare:left_out}""")
def existing(m, chosen, decision, *, o, half, what, gaps, u, a, auc, ch, rare):
    setting, points = spoken(o), o.startswith("Decision")
    for name in m.singles:
        parity = m.worst(setting, name)
        said = re.search(
            rf"({GAP}) between the groups of {name}( \(\d+ of \d+ groups compared\))?", gaps
        )
        assert_gap(said[1], parity["gap"], m, points=points)
        assert_compared(said[2] or "", parity)
        told = re.search(rf"Too few people to compare by {name}, .*?\)\.(?= Too few|$)", rare)
        assert_left_out(told[0] if told else "", parity, m if not points else InPoints)
    leak = m.leak(setting, *m.singles)
    assert (a, bool(ch)) == (leak["attribute"], not leak["above_chance"])
    assert near(auc, leak["auc"]["value"])
    if u:
        assert_value(u.replace("R²", ""), m.utility(setting))


class InPoints:
    """Decisions are shares, whatever the target is."""

    number = False


@reads("""{o:model}, errors: of people with paid = yes the shares that are selected differ by
    {tp:gap} between the groups of {a:attribute}, of the others by {fp:gap}; of the
    selected, the shares that are yes differ by {pr:gap}.""")
def errors(m, chosen, decision, *, o, a, tp, fp, pr):
    parity = m.worst(spoken(o), a)
    for said, name in ((tp, "true_positive"), (fp, "false_positive"), (pr, "precision")):
        assert_gap(said, parity[f"{name}_gap"], m)


@reads("{o:model} selects {rates:list}.")
def selects(m, chosen, decision, *, o, rates):
    told = re.findall(rf"({NUMBER}) % \(({NUMBER}) to ({NUMBER})\) of ([\w ]+?)(?= and|,|$)", rates)
    labels = {label for *_, label in told}
    groups = {a: {g["label"] for g in m.worst(spoken(o), a)["groups"]} for a in m.singles}
    (name,) = [a for a in m.singles if labels <= groups[a]]
    by_label = {g["label"]: g for g in m.worst(spoken(o), name)["groups"] if g["compared"]}
    assert {t[3] for t in told} == set(by_label)
    for *numbers, label in told:
        for text, end in zip(numbers, ("value", "low", "high"), strict=True):
            assert near(text, by_label[label]["selection_rate"][end], 100)


@reads("""{o:model}: the ratio of selection rates (disparate impact; the four-fifths rule asks
    for 0.80 of a favourable outcome) is {r:value} between the groups of {a:attribute}.""")
def own_ratio(m, chosen, decision, *, o, r, a):
    assert_value(r, m.worst(spoken(o), a)["ratio"])


@reads("""{what:words} of {k:kinds} differ by {g:gap}, instead of {rg:gap}, between the groups
    of {a:attribute}{c:compared}.{rare:left_out}""")
@reads("""{what:words} of {k:kinds} differ by {rg:gap}, between the groups of
    {a:attribute}{c:compared}.{rare:left_out}""")
def by_attribute(m, chosen, decision, *, what, k, rg, a, c, rare, g=None):
    assert_gap(rg, m.gap(RAW, a), m)
    shown = RAW if g is None else chosen
    if g is not None:
        assert_gap(g, m.gap(chosen, a), m)
    assert_compared(c, m.worst(shown, a))
    assert_left_out(rare, m.worst(shown, a), m)


@reads("""Ratio of selection rates (disparate impact; the four-fifths rule asks for 0.80 of a
    favourable outcome): {rr:value} between the groups of {a:attribute} with the raw
    features and {r:value}{e:elsewhere} with the recommendation.""")
@reads("""Ratio of selection rates (disparate impact; the four-fifths rule asks for 0.80 of a
    favourable outcome): {rr:value} between the groups of {a:attribute} with the raw
    features.""")
def ratios(m, chosen, decision, *, rr, a, r=None, e=""):
    assert a == m.worst_attribute(RAW)
    assert_value(rr, m.worst(RAW, a)["ratio"])
    if r is not None:
        worst = elsewhere(e, chosen, a, m)
        assert_value(r, m.worst(chosen, worst)["ratio"])


@reads("The {unit:words} of the best model goes from {ru:value} to {u:value}.")
def useful(m, chosen, decision, *, unit, ru, u):
    assert_value(ru, m.utility(RAW))
    assert_value(u, m.utility(chosen))


@reads("It keeps {u:value} of the variance of the columns.")
def keeps(m, chosen, decision, *, u):
    assert_value(u, m.utility(chosen))


# The reasons


@reads("""With {s:setting} ({n:size}), {what:words} of {k:kinds} differ by {g:gap} between the
    groups of {a:attribute}{c:compared}; with the raw features by {rg:gap}{e:elsewhere}. The
    {unit:words} of the best model is {u:value}, before {ru:value}.""")
def why(m, chosen, decision, *, s, n, what, k, g, a, c, rg, e, unit, u, ru):
    assert s == chosen
    assert n == ("one column" if decision.chosen.n_columns == 1 else
                 f"{decision.chosen.n_columns} columns")  # fmt: skip
    assert a == m.worst_attribute(s)
    assert_gap(g, m.gap(s, *m.singles), m)  # with what the largest of all may be
    assert near(re.findall(NUMBER, g)[0], m.gap(s, a)["value"], 1 if m.number else 100)
    assert_compared(c, m.worst(s, a))
    elsewhere(e, RAW, a, m)
    assert_gap(rg, m.gap(RAW, *m.singles), m)
    assert_value(u, m.utility(s))
    assert_value(ru, m.utility(RAW))


@reads("""With {s:setting} ({n:size}), the best probe predicts {a:attribute} with
    AUC {l:value}; from the raw features the AUC is {rl:value} ({ra:attribute}). The share
    of the variance kept is {u:value}, before {ru:value}.""")
@reads("""With {s:setting} ({n:size}), the best probe does not predict {a:attribute}
    better than chance (AUC {l:number}); from the raw features the AUC is {rl:value}
    ({ra:attribute}). The share of the variance kept is {u:value}, before {ru:value}.""")
def why_hidden(m, chosen, decision, *, s, n, a, l, rl, ra, u, ru):  # noqa: E741
    before, after = m.leak(RAW, *m.singles), m.leak(s, *m.singles)
    assert (s, a, ra) == (chosen, after["attribute"], before["attribute"])
    assert_value(l, after["auc"])
    assert_value(rl, before["auc"])
    assert_value(u, m.utility(s))
    assert_value(ru, m.utility(RAW))


@reads("The whole interval is within the limit of {limit:plain}.")
@reads("""That is within the limit of {limit:plain}; in the population it may be as large as
    {high:plain}. Of {n:number} fair options tested, {rest:words}.""")
@reads("""That is above the limit of {limit:plain}, but not significantly; in the population it may
    be as large as {high:plain}. Of {n:number} fair options tested, {rest:words}.""")
def held_against(m, chosen, decision, *, limit, high=None, n=None, rest=""):
    assert_limit(limit, m)
    gap, accepted = m.gap(chosen, *m.singles), m.settings["max_gap"]
    if high is not None:
        assert near(re.findall(NUMBER, high)[0], gap["high"], 1 if m.number else 100)
        assert gap["low"] <= accepted < gap["high"]
    else:
        assert gap["high"] <= accepted
    assert n is None or int(n) == decision.n_settings


@reads("Stability: it is recommended in {n:number} % of resamples of these people and splits.")
def sure(m, chosen, decision, *, n):
    assert near(n, decision.sure, 100)


@reads("""These options are not significantly different: {s:list} is recommended in {n:number} % of
    resamples of these people and splits, {others:list}.""")
def tied(m, chosen, decision, *, s, n, others):
    assert (spoken(s), near(n, decision.sure, 100)) == (chosen, True)
    for one in (o for o in decision.options if o.name in decision.ties):
        assert f"{one.name} in {100 * one.selection_frequency:.0f} %" in others


@reads("No other option is both fairer and more accurate. Alternatives: {others:list}.")
def others(m, chosen, decision, *, others):
    rest = [o for o in decision.options[1:] if spoken(o.name) != chosen and
            o.representation not in m.own]  # fmt: skip
    for one in (spoken(o.name) for o in rest):
        said = others.partition(f"{one} (")[2]
        assert said, (one, others)
        assert_short(said, one, m.worst_attribute(chosen) if m.target else None, m)


def assert_short(said, setting, before, m):
    if m.target and m.settings["aim"] == "decide":
        head = rf"({NUMBER} (?:points|standard deviations))(.*?), (?:AUC|R²) "
        gap = re.match(head + rf"({NUMBER} \({NUMBER} to {NUMBER}\))", said)
        assert_gap(gap[1], m.gap(setting, *m.singles), m)
        elsewhere(gap[2], setting, before, m)
        assert_value(gap[3], m.utility(setting))
    else:
        head = rf"attribute recovery AUC ({NUMBER}), share of the variance kept "
        hid = re.match(head + rf"({NUMBER} \({NUMBER} to {NUMBER}\))", said)
        assert near(hid[1], m.leak(setting, *m.singles)["auc"]["value"])
        assert_value(hid[2], m.utility(setting))


@reads("""Between the groups of {a:attribute} the gap is {g:gap}, {k:number} of {n:number} groups
    compared; the recommendation considers single attributes only.{rare:left_out}""")
@reads("""Between the groups of {a:attribute} the gap with the raw features is {g:gap}, {k:number}
    of {n:number} groups compared; the recommendation considers single attributes
    only.{rare:left_out}""")
def joint(m, chosen, decision, *, a, g, k, n, rare):
    parity = m.worst(chosen or RAW, a)
    assert a not in m.singles
    assert_gap(g, parity["gap"], m)
    assert (int(k), int(n)) == (parity["n_compared"], parity["n_groups"])
    assert_left_out(rare, parity, m)


@reads("""With the raw features, {what:words} of {k:kinds} differ by {g:gap} between the
    groups of {a:attribute}. The whole interval is within the limit of {limit:plain}.
    {n:number} % of resamples agree.""")
def nothing_to_do(m, chosen, decision, *, what, k, g, a, limit, n):
    assert a == m.worst_attribute(RAW)
    assert_gap(g, m.gap(RAW, *m.singles), m)
    assert_limit(limit, m)
    assert near(n, decision.sure, 100)


@reads("""From the raw features, the best probe predicts {a:attribute} with AUC {l:value}.
    {rest:words}. {n:number} % of resamples agree.""")
def nothing_to_hide(m, chosen, decision, *, a, l, rest, n):  # noqa: E741
    leak = m.leak(RAW, *m.singles)
    assert a == leak["attribute"]
    assert_value(l, leak["auc"])
    assert near(n, decision.sure, 100)


@reads("""None of {n:number} options tested reduces the gap ({g:gap} with the raw features,
    between the groups of {a:attribute}) significantly and by {rest:words}.""")
@reads("""None of {n:number} options tested reduces the leakage (AUC {l:value} from the raw
    features) significantly and by {rest:words}.""")
def nothing_helps(m, chosen, decision, *, n, rest, g=None, a=None, l=None):  # noqa: E741
    assert int(n) == decision.n_settings
    if g is not None:
        assert a == m.worst_attribute(RAW)
        assert_gap(g, m.gap(RAW, *m.singles), m)
    else:
        assert_value(l, m.leak(RAW, *m.singles)["auc"])


@reads("""With the raw features, {what:words} of {k:kinds} differ by {g:gap} between the groups of
    {a:attribute}. These data are too few to settle whether that is within the limit of
    {limit:plain}: in {n:number} % of resamples it is above. {rest:words}.""")
def too_few(m, chosen, decision, *, what, k, g, a, limit, n, rest):
    nothing_to_do(m, chosen, decision, what=what, k=k, g=g, a=a, limit=limit, n=n)


@reads("""Of {n:number} options tested, none reaches the limit of {limit:plain}, even at the lower
    end of its interval; with the raw features the gap is {g:gap}. Nothing is recommended.""")
def none_reaches(m, chosen, decision, *, n, limit, g):
    assert int(n) == decision.n_settings
    assert_limit(limit, m)
    assert_gap(g, m.gap(RAW, *m.singles), m)


@reads("""By {a:attribute}, the ratio of selection rates falls from {rr:number} with the raw
    features to {r:number}.""")
def worse_ratio(m, chosen, decision, *, a, rr, r):
    before, after = (m.worst(setting, a)["ratio"]["value"] for setting in (RAW, chosen))
    assert after < before
    assert near(rr, before)
    assert near(r, after)


@reads("By {a:attribute}, the gap grows from {rg:plain} with the raw features to {g:plain}.")
def worse_gap(m, chosen, decision, *, a, rg, g):
    assert m.gap(chosen, a)["value"] > m.gap(RAW, a)["value"]
    assert_gap(rg, m.gap(RAW, a), m)
    assert_gap(g, m.gap(chosen, a), m)


@reads("The closest is {s:setting}: {short:list}.")
def nearest(m, chosen, decision, *, s, short):
    assert_short(short, s, m.worst_attribute(RAW) if m.target else None, m)


@reads("{name:words} could not be fitted: {why:list}")
def failed(m, chosen, decision, *, name, why):
    (one,) = [r for r in m.json["representations"] if r["name"] == name]
    assert " ".join(one["failure"].split()) == why


@reads("""{columns:list} alone {tells:words} (AUC {auc:number}). Is that known before the
    decision? With the raw features, {what:words} of {k:kinds} differ by {g:gap} between the
    groups of {a:attribute}{c:compared}, at {unit:words} {u:value}; but these models have target
    leakage.""")
def why_target_leak(m, chosen, decision, *, columns, tells, auc, what, k, g, a, c, unit, u):
    assert_telling(columns, auc, m)
    assert a == m.worst_attribute(RAW)
    assert_gap(g, m.gap(RAW, *m.singles), m)
    assert_value(u, m.utility(RAW))


@reads("""{o:model} differs by {g:gap} between the groups of {a:attribute}{c:compared}:
    {how:words} {limit:plain}.""")
def own_reason(m, chosen, decision, *, o, g, a, c, how, limit):
    gap, accepted = m.gap(spoken(o), *m.singles), m.settings["max_gap"]
    assert a == m.worst_attribute(spoken(o))
    assert_gap(g, gap, m, points=o.startswith("Decision"))
    assert_compared(c, m.worst(spoken(o), a))
    assert_limit(limit, m, points=o.startswith("Decision"))
    assert ("above" in how) == (gap["low"] > accepted)
    assert (how == "within the limit of") == (gap["high"] <= accepted)


@reads("""Between the groups of {a:attribute} the gap is {g:gap}, {k:number} of {n:number} groups
    compared.{rare:left_out}""")
def own_joint(m, chosen, decision, *, a, g, k, n, rare):
    (setting,) = [s for s, (key, _) in m.keys.items() if key in m.own]
    parity = m.worst(setting, a)
    assert_gap(g, parity["gap"], m, points=True)
    assert (int(k), int(n)) == (parity["n_compared"], parity["n_groups"])
    assert_left_out(rare, parity, InPoints)


# What is not protected


@reads("""Not hidden from non-linear models: the better of two still predicts {a:attribute} with
    AUC {auc:number}.""")
@reads("""The two non-linear models are at chance (AUC {auc:number} for {a:attribute}){but:still}.
    Others may do better: fairpca.metrics.leakage with probe="strong" tries more.""")
def curved(m, chosen, decision, *, a, auc, but=""):
    leak = m.leak(chosen, *m.singles, probes=("boosting", "kernel"))
    assert a == leak["attribute"]
    assert near(auc, leak["auc"]["value"])
    straight = m.leak(chosen, *m.singles, probes=("linear",))
    assert bool(but) == (straight["above_chance"] and not leak["above_chance"])
    if but:
        name, said = re.search(rf"predicts (.*) \(AUC ({NUMBER})\)", but).groups()
        assert name == straight["attribute"]
        assert near(said, straight["auc"]["value"])


@reads("""On held-out data a linear model still predicts {a:attribute} with AUC {auc:number}:
    {rest:words}.""")
def linear(m, chosen, decision, *, a, auc, rest):
    leak = m.leak(chosen, *m.singles, probes=("linear",))
    assert leak["above_chance"]
    assert a == leak["attribute"]
    assert near(auc, leak["auc"]["value"])


@reads("""The score of a linear model that predicts {t:words} ranks the groups of {a:attribute} with
    AUC {v:value}, better than a linear probe predicts them: {rest:words}.""")
def ranked(m, chosen, decision, *, t, a, v, rest):
    assert t == m.target["name"]
    (parity,) = m.of_model("linear").parities(chosen, a)
    assert_value(v, parity["score_auc"])
    assert parity["score_auc"]["value"] > m.leak(chosen, a, probes=("linear",))["auc"]["value"]


@reads("The recommendation does not hold for every model family: {void:list}.")
def void(m, chosen, decision, *, void):
    kinds = {"a linear model": "linear", "boosted trees": "boosting", "a kernel model": "kernel"}
    each = r"with ([a-z ]+?) \w+ differ by (.*?) between the groups of ([\w ×]+?)"
    each += "(?= and with|, with|$)"
    said = re.findall(each, void)
    assert said
    for kind, gap, name in said:
        one = m.of_model(kinds[kind])
        assert one.worst_attribute(chosen) == name
        assert_gap(gap, one.gap(chosen, *m.singles), m)


@reads("""Certified bound: whatever the threshold on the column of fair PLS, the shares above it
    differ by at most {bounds:list}, each with 95 % confidence.{rest:words}""")
def bounds(m, chosen, decision, *, bounds, rest):
    told = re.findall(rf"({NUMBER}) points between the groups of ([\w ]+?)(?= and|,|$)", bounds)
    for text, name in told:
        (one,) = [c for c in m.json["certificates"]
                  if (c["representation"], c["attribute"]) == ("fair_pls", name)]  # fmt: skip
        assert near(text, one["bound"], 100)
    assert told


@reads("""With lambda = {l:number} the attributes are still in the representation, scaled
    down: {rest:words} lambda = 0 only.""")
def blended(m, chosen, decision, *, l, rest):  # noqa: E741
    assert float(l) == m.keys[chosen][1]


@reads("""Equal selection rates do not imply equal precision: of the selected, the shares that
    are positive differ by {p:gap} between the groups of {a:attribute}, with the raw
    features by {rp:gap}.""")
def precisions(m, chosen, decision, *, p, a, rp):
    assert a == m.worst_attribute(chosen)
    model = decision.chosen.gap_model
    for said, setting in ((p, chosen), (rp, RAW)):
        one = m.of_model(model)
        assert_gap(said, one.worst(setting, a)["precision_gap"], m)


@reads("""Gaps leave out groups of fewer than 100 people (20 where no two groups have 100):
    {names:list}. Their rates are uncertain and may differ more; the annex lists them.""")
def rule(m, chosen, decision, *, names):
    rare = {g["label"] for p in m.json["downstream"][0]["parities"] for g in p["groups"]
            if not g["compared"]}  # fmt: skip
    assert {name.strip() for name in re.split(r", | and ", names)} == rare
