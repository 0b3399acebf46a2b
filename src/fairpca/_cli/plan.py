"""``fairpca plan``: what a linear eraser will leave, before anything is collected."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

from typer import Option, echo

from . import options
from .help_pages import METHOD, PEOPLE
from .terminal import one_clear_line, print_line

PLAN_EXAMPLES = [
    "fairpca plan --people 150 --people 850 --columns 384 --auc 0.9 --target-auc 0.6",
    "fairpca plan --people 150 --people 850 --columns 384 --auc 0.9 --n-components 20",
]


def plan(
    people: Annotated[
        list[float],
        Option(
            metavar="NUMBER",
            rich_help_panel=PEOPLE,
            help="People in a group, not rows (once for each group)",
        ),
    ],
    columns: Annotated[
        int, Option(rich_help_panel=PEOPLE, help="Columns that vary, after encoding")
    ],
    auc: Annotated[
        float | None,
        Option(
            rich_help_panel=PEOPLE, help="AUC of a linear model for the group before, as in a pilot"
        ),
    ] = None,
    separation: Annotated[
        float | None,
        Option(
            rich_help_panel=PEOPLE,
            help="Instead of --auc: distance of the means in standard deviations",
        ),
    ] = None,
    n_components: Annotated[
        int | None,
        Option(
            rich_help_panel=METHOD,
            help="Components that fair PCA keeps",
            show_default="all directions that are left",
        ),
    ] = None,
    target_auc: Annotated[
        float | None,
        Option(rich_help_panel=PEOPLE, help="Largest AUC accepted afterwards: what does it take?"),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Predict the AUC that any linear eraser leaves on new people, before data are collected.

    With --target-auc also the people, components or columns that it takes. For several groups the
    prediction is for the smallest group against the rest.
    """
    with one_clear_line():
        from ..metrics import plan as predict

        planned = predict(
            people,
            columns=columns,
            auc=auc,
            separation=separation,
            n_components=n_components,
            target_auc=target_auc,
        )
    if as_json:
        echo(json.dumps(asdict(planned), indent=1))
    else:
        print_line(str(planned))
