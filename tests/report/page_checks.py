"""What must be true of every page, in a real browser."""

import json
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
LARGEST_PAGE = 6_000_000
DESKTOP, PHONE = (1280, 900), (360, 740)


@contextmanager
def chromium():
    """Give Debian's browser, driven by Playwright; without one of them the test is skipped."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("needs the browser 'chromium' on the path")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A page that is open, and what it said and asked for since."""

    page: Any
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, list[dict[str, Any]]]:
        """Return the traces of each plot that is shown."""
        return self.page.evaluate(
            """() => Object.fromEntries([...document.querySelectorAll("[data-figure]")]
                .filter((plot) => !plot.hidden)
                .map((plot, place) => [`${place} ${plot.dataset.figure}`, plot.data.map((trace) =>
                    ({x: [...trace.x], y: [...trace.y], text: trace.text ?? null}))]))"""
        )

    def text(self, selector: str) -> str:
        """Return the text of an element as a reader sees it."""
        return self.page.inner_text(selector)


@contextmanager
def visited(browser, file: Path, *, size=DESKTOP, dark=False, scripts=True):
    """Open a page from the disk, listening to all it says and asks for."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        java_script_enabled=scripts,
        has_touch=size == PHONE,
        accept_downloads=True,
    )
    page = context.new_page()
    visit = Visit(page)
    page.on("console", lambda message: visit.messages.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: visit.messages.append(f"error: {error}"))
    page.on("request", lambda request: visit.requests.append(request.url))
    page.on("dialog", lambda dialog: (visit.dialogs.append(dialog.message), dialog.dismiss()))
    try:
        page.goto(file.as_uri())
        if scripts:
            page.wait_for_selector("html[data-ready]", state="attached")
        yield visit
    finally:
        context.close()


def check_size(file: Path) -> None:
    assert file.stat().st_size <= LARGEST_PAGE


def check_quiet(visit: Visit, file: Path) -> None:
    """No message, no dialog, and no request to anywhere but the file itself."""
    assert visit.messages == []
    assert visit.dialogs == []
    assert visit.requests[0] == file.as_uri()
    elsewhere = [url for url in visit.requests[1:] if not url.startswith(("data:", "blob:"))]
    assert elsewhere == []


def check_plots_have_data(visit: Visit) -> None:
    """Every plot that is shown has numbers, and marks on the screen."""
    figures = visit.figures()
    assert figures
    for name, traces in figures.items():
        known = [value for trace in traces for value in trace["x"] if value is not None]
        assert known, f"{name} is empty"
    empty = visit.page.evaluate(
        """() => [...document.querySelectorAll("[data-figure]")].filter((plot) => !plot.hidden &&
            ![...plot.querySelectorAll(".point path, path.point, .bars path")].some((mark) =>
                mark.getBoundingClientRect().width > 0)).map((plot) => plot.dataset.figure)"""
    )
    assert empty == []


def check_slider_moves_the_point(visit: Visit) -> None:
    """One step by keyboard moves the marked point, the bars and the words to the next lambda."""
    page = visit.page
    audit = json.loads(page.inner_text("#audit-data") or page.text_content("#audit-data"))
    points = audit["curves"][0]["points"]
    attribute = audit["data"]["attributes"][0]["name"]
    page.focus("#lambda")
    page.keyboard.press("Home")
    seen = []
    for step in range(2):
        parity = next(p for p in points[step]["parities"] if p["attribute"] == attribute)
        figures = {name.split()[1]: traces for name, traces in visit.figures().items()}
        mark, bars = figures["tradeoff"][-1], figures["rates"][0]
        assert mark["x"] == pytest.approx([100 * parity["dp_gap"]["value"]])
        assert mark["y"] == pytest.approx([100 * points[step]["accuracy"]["value"]])
        assert bars["x"] == pytest.approx([g["selection_rate"]["value"] for g in parity["groups"]])
        assert float(visit.text("#lambda-value")) == pytest.approx(
            points[step]["tradeoff"], rel=0.01
        )
        assert visit.text("#lambda-value") in page.get_attribute("#lambda", "aria-valuetext")
        assert f"{100 * points[step]['accuracy']['value']:.1f}" in visit.text("#tradeoff-text")
        seen.append(
            (mark["x"], visit.text("#tradeoff-text"), page.get_attribute("#lambda", "value"))
        )
        page.keyboard.press("ArrowRight")
    assert seen[0][1] != seen[1][1]


def check_attribute_chooser(visit: Visit) -> None:
    """Another attribute changes the plots, the tables and all other choosers."""
    page = visit.page
    before = visit.figures(), visit.text("#leakage .finding")
    page.select_option("#leakage-attribute", "1")
    audit = json.loads(page.text_content("#audit-data"))
    name = audit["data"]["attributes"][1]["name"]
    assert visit.figures() != before[0]
    assert visit.text("#leakage .finding") != before[1]
    values = page.eval_on_selector_all(
        "select[data-choice=attribute]", "all => all.map((one) => one.value)"
    )
    assert set(values) == {"1"}
    shown = page.eval_on_selector_all(
        "#leakage caption, #gaps caption",
        "all => all.filter((one) => !one.closest('[hidden]')).map((one) => one.textContent)",
    )
    assert len(shown) == 2
    assert all(" ".join(name.split()) in " ".join(caption.split()) for caption in shown)
    page.select_option("#leakage-attribute", "0")
    assert visit.text("#leakage .finding") == before[1]


def check_accessible(visit: Visit) -> None:
    """The axe scan finds nothing, in closed parts neither."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    visit.page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    found = axe.Axe().run(visit.page).response["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found] == []


def check_fits_the_width(visit: Visit) -> None:
    """Nothing but tables and code scrolls sideways, closed parts included."""
    visit.page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    beyond = visit.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert beyond <= 0


def check_prints(visit: Visit) -> None:
    """Printing opens the numbers, draws in light colours, and leaves the page as it was."""
    page = visit.page
    page.evaluate(
        """() => addEventListener("beforeprint", () => { window.atPrint = {
            closed: document.querySelectorAll("details:not([open])").length,
            widest: Math.max(...[...document.querySelectorAll("[data-figure] .main-svg")].map(
                (one) => one.getBoundingClientRect().width))}; })"""
    )
    before = page.evaluate("document.querySelectorAll('details:not([open])').length")
    assert page.pdf(format="A4").startswith(b"%PDF")
    at_print = page.evaluate("window.atPrint")
    assert at_print["closed"] == 0
    assert at_print["widest"] <= 700
    assert page.evaluate("document.querySelectorAll('details:not([open])').length") == before
    assert page.evaluate("document.documentElement.dataset.theme ?? null") is None
