"""The page in a real browser."""

import json
from urllib.parse import unquote

import pytest

from auditing.page.made_up_audit import (
    ENTITY,
    IMAGE,
    SCRIPT,
    bare_audit,
    classes_audit,
    hostile_audit,
    made_up_audit,
    many_groups_audit,
    nothing_to_do_audit,
    own_model_audit,
    page_of,
    since_audit,
    to_six_digits,
    wage_audit,
)
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
from slow import first_fast, slow

AUDITS = {
    "plain": made_up_audit,
    "hostile": hostile_audit,
    "own model": own_model_audit,
    "wage": wage_audit,
    "bare": bare_audit,
    "classes": classes_audit,
    "no action needed": nothing_to_do_audit,
    "many groups": many_groups_audit,
    "since": since_audit,
}
"""What the checks run on; any function that returns the dictionary of an audit can be added."""

THOROUGHLY = ["plain"]
"""Those of them that have a target and several attributes, and are tried in every way."""


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Pages on the disk, each made when it is first asked for."""
    folder, made = tmp_path_factory.mktemp("pages"), {}

    def file(name):
        if name not in made:
            path = folder / f"{name.replace(' ', '-')}.html"
            path.write_text(page_of(AUDITS[name]), encoding="utf-8")
            made[name] = path
        return made[name]

    return file


@pytest.mark.parametrize("name", AUDITS)
def test_a_page_opens_quietly_is_short_and_shows_whole_figures(browser, files, name):
    check_size(files(name))
    with visited(browser, files(name)) as visit:
        if name != "hostile":  # whose names are as long as sentences
            check_screens(visit)
        names = check_figures(visit)
        check_quiet(visit, files(name))
    assert "Options" in names
    assert any(one.startswith("How well models predict") for one in names)


@pytest.mark.parametrize("name", THOROUGHLY)
def test_the_chooser_changes_the_attribute_everywhere(browser, files, name):
    with visited(browser, files(name)) as visit:
        check_attribute_chooser(visit)
        check_quiet(visit, files(name))


@pytest.mark.parametrize("name", THOROUGHLY)
@pytest.mark.parametrize(
    ("size", "dark"),
    [(DESKTOP, False), (PHONE, True), slow(DESKTOP, True), slow(PHONE, False)],
)
def test_a_page_is_accessible(browser, files, name, size, dark):
    with visited(browser, files(name), size=size, dark=dark) as visit:
        check_accessible(visit)


@pytest.mark.parametrize("name", first_fast(AUDITS, 2))
def test_a_phone_shows_what_counts_and_does_not_scroll_sideways(browser, files, name):
    with visited(browser, files(name), size=PHONE, dark=True) as visit:
        check_decisive_column_on_a_phone(visit)
        check_figures(visit)
        check_fits_the_width(visit)
        if name not in THOROUGHLY:
            check_accessible(visit)


def test_what_became_worse_is_seen_on_a_phone(browser, files):
    with visited(browser, files("since"), size=PHONE) as visit:
        check_decisive_column_on_a_phone(visit)
        check_fits_the_width(visit)
        visit.open_all()
        check_accessible(visit)
        assert "WORSE" in visit.text("#since .cards").upper()


@pytest.mark.parametrize("name", first_fast(AUDITS))
def test_a_page_can_be_printed(browser, files, name):
    with visited(browser, files(name), dark=True) as visit:
        check_prints(visit)
        check_quiet(visit, files(name))


def test_hostile_names_are_shown_as_text(browser, files):
    with visited(browser, files("hostile")) as visit:
        check_attribute_chooser(visit)
        assert visit.page.evaluate("window.pwned ?? null") is None
        assert visit.dialogs == []
        shown = visit.page.evaluate("document.body.textContent")
        for name in (SCRIPT, IMAGE, ENTITY):
            assert name in shown
        assert (
            visit.page.eval_on_selector_all("main img, main script, svg b", "all => all.length")
            == 0
        )
        hovered = visit.page.eval_on_selector_all(
            ".figure .mark title", "all => all.map((one) => one.textContent)"
        )
        assert any(SCRIPT in one for one in hovered)
        drawn = visit.page.eval_on_selector_all(
            ".figure text", "all => all.map((one) => one.textContent)"
        )
        assert any(one.endswith(SCRIPT[:12]) or SCRIPT[:12] in one for one in drawn)


def test_the_button_changes_the_colours_of_page_and_figures(browser, files):
    with visited(browser, files("plain")) as visit:

        def colours():
            return visit.page.evaluate(
                """() => [getComputedStyle(document.body).backgroundColor,
                    getComputedStyle(document.querySelector(".figure .tick")).fill]"""
            )

        light = colours()
        visit.page.click("#theme")
        dark = colours()
        assert light[0] != dark[0]
        assert light[1] != dark[1]
        assert visit.page.text_content("#theme") == "Light"
        assert visit.page.get_attribute("#theme", "aria-label") == "Switch to the light theme"
        visit.page.click("#theme")
        assert colours() == light
        visit.page.evaluate("delete document.documentElement.dataset.theme")
        visit.page.emulate_media(color_scheme="dark")
        assert colours() == dark


def test_a_link_opens_the_part_that_it_leads_to(browser, files):
    with visited(browser, files("plain")) as visit:
        assert not visit.page.locator("#notices").get_attribute("open")
        visit.page.click(".alerts a")
        visit.page.wait_for_selector("#notices[open] .warning")


def test_the_download_is_the_audit(browser, files):
    with visited(browser, files("hostile")) as visit:
        visit.open_all()
        with visit.page.expect_download() as download:
            visit.page.click("#download")
        with open(download.value.path(), encoding="utf-8") as saved:
            assert json.load(saved) == to_six_digits(hostile_audit())


def test_without_scripts_all_numbers_and_figures_are_there(browser, files):
    with visited(browser, files("plain"), scripts=False) as visit:
        assert not visit.page.locator("#theme").is_visible()
        assert visit.page.locator("#options .figure > svg.wide").is_visible()
        visit.page.locator("#leakage summary").click()
        captions = visit.page.locator("#leakage caption")
        assert captions.count() == 3
        assert all(captions.nth(place).is_visible() for place in range(3))


def test_the_policy_stops_what_the_page_does_not_bring(browser, files, tmp_path):
    changed = tmp_path / "changed.html"
    page = files("plain").read_text(encoding="utf-8")
    added = "<script>window.pwned = 1</script><img src='http://localhost:9/x.png'>"
    changed.write_text(page.replace("</main>", f"{added}</main>"), encoding="utf-8")
    with visited(browser, changed) as visit:
        assert visit.page.evaluate("window.pwned ?? null") is None
        refused = [text for text in visit.messages if "Content Security Policy" in text]
        assert len(refused) == 2
        assert unquote(visit.requests[0]) == unquote(changed.as_uri())
