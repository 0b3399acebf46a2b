"""The page in a real browser."""

import json
from urllib.parse import unquote

import pytest

from report.made_up_audit import (
    ENTITY,
    IMAGE,
    SCRIPT,
    bare_audit,
    hostile_audit,
    made_up_audit,
    many_groups_audit,
    page_of,
    to_six_digits,
)
from report.page_checks import (
    DESKTOP,
    PHONE,
    check_accessible,
    check_attribute_chooser,
    check_fits_the_width,
    check_plots_have_data,
    check_prints,
    check_quiet,
    check_size,
    check_slider_moves_the_point,
    chromium,
    visited,
)
from slow import first_fast, slow

AUDITS = {
    "plain": made_up_audit,
    "hostile": hostile_audit,
    "many groups": many_groups_audit,
    "bare": bare_audit,
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
def test_a_page_opens_quietly_shows_plots_and_is_small(browser, files, name):
    check_size(files(name))
    with visited(browser, files(name)) as visit:
        check_plots_have_data(visit)
        check_quiet(visit, files(name))


@pytest.mark.parametrize("name", first_fast([*THOROUGHLY, "many groups"]))
def test_the_slider_moves_the_point_and_the_numbers(browser, files, name):
    with visited(browser, files(name)) as visit:
        check_slider_moves_the_point(visit)
        check_quiet(visit, files(name))


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
def test_a_phone_does_not_scroll_sideways(browser, files, name):
    with visited(browser, files(name), size=PHONE, dark=True) as visit:
        check_fits_the_width(visit)
        if name not in THOROUGHLY:
            check_accessible(visit)


@pytest.mark.parametrize("name", first_fast([*THOROUGHLY, "many groups"]))
def test_a_page_can_be_printed(browser, files, name):
    with visited(browser, files(name), dark=True) as visit:
        check_prints(visit)
        check_quiet(visit, files(name))


def test_hostile_names_are_shown_as_text(browser, files):
    with visited(browser, files("hostile")) as visit:
        check_plots_have_data(visit)
        check_slider_moves_the_point(visit)
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
        drawn = visit.page.eval_on_selector_all(
            "[data-figure=rates] .ytick text", "all => all.map((one) => one.textContent)"
        )
        joined = "".join(drawn).replace(" ", "")
        assert "<b>R&D</b>&amp;%{x}" in joined
        assert "<script>window.pwned" in joined


def test_hover_labels_show_hostile_names_as_text(browser, files):
    with visited(browser, files("hostile")) as visit:
        mark = visit.page.locator("[data-figure=tradeoff] .point").nth(1)
        mark.scroll_into_view_if_needed()
        mark.hover(force=True)
        label = visit.page.locator(".hoverlayer .hovertext").first
        assert SCRIPT in label.text_content()
        assert visit.page.evaluate("window.pwned ?? null") is None


def test_the_button_changes_the_colours_of_page_and_plots(browser, files):
    with visited(browser, files("plain")) as visit:

        def colours():
            return visit.page.evaluate(
                """() => [getComputedStyle(document.body).backgroundColor,
                    document.querySelector("[data-figure=leakage] .xtick text").style.fill]"""
            )

        light = colours()
        visit.page.click("#theme")
        dark = colours()
        assert light[0] != dark[0]
        assert light[1] != dark[1]
        assert visit.page.get_attribute("#theme", "aria-pressed") == "true"
        visit.page.click("#theme")
        assert colours() == light


def test_plots_follow_the_system_when_it_turns_dark(browser, files):
    with visited(browser, files("plain")) as visit:
        fill = "document.querySelector('[data-figure=variance] .xtick text').style.fill"
        light = visit.page.evaluate(fill)
        visit.page.emulate_media(color_scheme="dark")
        visit.page.wait_for_function(f"() => {fill} !== '{light}'")


def test_an_entry_of_the_legend_hides_its_points(browser, files):
    with visited(browser, files("plain")) as visit:
        points = visit.page.locator("[data-figure=leakage] .point")
        before = points.count()
        entry = visit.page.locator("[data-key=leakage] button").first
        entry.focus()
        visit.page.keyboard.press("Enter")
        assert points.count() == before * 2 // 3
        assert entry.get_attribute("aria-pressed") == "false"
        visit.page.keyboard.press("Enter")
        assert points.count() == before


def test_the_download_is_the_audit(browser, files):
    with visited(browser, files("hostile")) as visit:
        with visit.page.expect_download() as download:
            visit.page.click("#download")
        with open(download.value.path(), encoding="utf-8") as saved:
            assert json.load(saved) == to_six_digits(hostile_audit())


def test_without_scripts_all_numbers_are_in_tables(browser, files):
    with visited(browser, files("plain"), scripts=False) as visit:
        assert visit.page.locator("noscript p").first.is_visible()
        assert not visit.page.locator("[data-figure]").first.is_visible()
        assert not visit.page.locator("#lambda").is_visible()
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
