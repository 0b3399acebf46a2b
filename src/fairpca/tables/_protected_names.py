"""Names of columns that look like attributes which the law may protect.

Names are read word by word: "age" is in ``customerAge``, and not in ``mortgage``. Words beside it
tell what belongs to a thing and to no person, as in ``vehicle_age``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_GAPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W\d_]+")
"""Between words of a name: before a capital, at digits, and at all that is no letter."""

_MOST_NAMED = 10

_PASSED_OVER = {"of", "the", "is", "oldest", "newest"}


@dataclass(frozen=True)
class _Attribute:
    """What is protected, words that stand for it, and words next to these that tell otherwise."""

    label: str
    words: re.Pattern[str]
    not_after: frozenset[str]
    not_before: frozenset[str]

    def is_in(self, words: str) -> bool:
        """Whether a name, as words with blanks between them, has one that stands for this."""
        for found in self.words.finditer(words):
            before = [w for w in words[: found.start()].split() if w not in _PASSED_OVER]
            after = [w for w in words[found.end() :].split() if w not in _PASSED_OVER]
            if not (self.not_after & {*before[-1:]} or self.not_before & {*after[:1]}):
                return True
        return False


def _attribute(label: str, words: str, not_after: str = "", not_before: str = "") -> _Attribute:
    pattern = "|".join(words.split()).replace("_", " ?")  # as one word, or as two
    whole = re.compile(rf"(?<!\S)(?:{pattern})(?!\S)")
    return _Attribute(label, whole, frozenset(not_after.split()), frozenset(not_before.split()))


_THINGS = (
    "account accounts acct apartment asset avg average boat building car company contract credit "
    "customer_relationship device equipment file firm flat home house housing inventory invoice "
    "lead line loan machine mean median model mortgage order policy product property record roof "
    "ship ticket tree truck vehicle website"
)

_ATTRIBUTES = (
    _attribute(
        "marital status",
        r"marital\w* marriage (?:un|re)?married spous\w* husband wife divorced? widow(?:ed|er)? "
        r"civil_stat(?:us|e) personal_status relationship_status",
    ),
    _attribute(
        "nationality or origin",
        r"nationalit\w+ citizen(?:s|ship)? (?:native|birth|home)_country "
        r"(?:country|place|city|state)_of_(?:birth|origin) birth_(?:place|city|state) "
        r"national_origin foreigners? foreign_(?:born|citizen|national|worker)s? "
        r"i?m?migrants? immigra\w+ migration_background native_(?:born|language|speaker) "
        r"mother_tongue refugees? asylum",
        not_after="senior",
    ),
    _attribute(
        "age",
        r"ages? age_?groups? dob yob \w*of_birth births? birth_?(?:day|date|year|month)s? born "
        r"^(?:is_)?old$ years?_old senior_citizen elderly",
        not_after=_THINGS,
        not_before=f"{_THINGS} control order rate rates weight",
    ),
    _attribute("religion", r"religio\w+ faith church\w* mosque synagogue", "good bad"),
    _attribute(
        "disability",
        r"disab(?:led?|ilit(?:y|ies)) handicap\w* wheelchair",
        not_after="account card device feature flag golf ip login service session user",
        not_before="at by date flag on since",
    ),
    _attribute("pregnancy or parenthood", r"pregnan\w+ maternity paternity parental_leave"),
    _attribute(
        "ethnic origin",
        r"ethnic\w* race races racial hispanic latin[oax] caste skin_?(?:colou?r|tone)",
        not_after="boat car foot horse rat relay",
        not_before="car condition date day distance id number result time times track",
    ),
    _attribute("sex", r"sex genders? males? females? wom[ae]n transgender\w*"),
    _attribute(
        "sexual orientation",
        r"sexual_orientation orientation sexuality lgbt\w*",
        not_after="camera device goal image page screen value",
        not_before="angle degree degrees",
    ),
    _attribute(
        "union membership",
        r"unions? unioni[sz]ed",
        not_after="credit european soviet western",
        not_before="bank find",
    ),
    _attribute("veteran status", r"veterans?"),
    _attribute(
        "place of residence",
        r"post_?codes? postal(?:_?codes?)? zip(?:_?codes?)?",
        not_before="archive file folder path size",
    ),
)
"""In the order in which they are looked for: a country of birth is no age."""


def protected_attribute(name: str) -> str | None:
    """Return which protected attribute a column looks like by its name, or None."""
    words = " ".join(filter(None, _GAPS.split(name))).lower()
    return next((each.label for each in _ATTRIBUTES if each.is_in(words)), None)


def about_protected(names: Sequence[str]) -> str | None:
    """Return what to say of features that look like protected attributes, or None."""
    labels = {name: label for name in names if (label := protected_attribute(name)) is not None}
    if not labels:
        return None
    listed = ", ".join(f"'{name}'" for name in [*labels][:_MOST_NAMED])
    more = f" and {len(labels) - _MOST_NAMED} more" if len(labels) > _MOST_NAMED else ""
    meant = ", ".join(dict.fromkeys(labels.values()))
    if len(labels) == 1:
        look, used, them = "looks like an attribute", "is a feature", "it"
    else:
        look, used, them = "look like attributes", "are features", "them"
    return (
        f"{listed}{more} {look} that the law may protect ({meant}), and {used}. Add {them} to "
        f"sensitive=... (command line: --sensitive) to measure and protect {them}, or to "
        f"ignore=... (--ignore) to leave {them} out."
    )
