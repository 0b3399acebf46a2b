"""What must be true of every page, in a real browser."""

import json
import re
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
LARGEST_PAGE = 2_500_000
MOST_SCREENS, MOST_SHEETS = 9, 12
DESKTOP, PHONE = (1280, 800), (390, 844)


@contextmanager
def chromium():
    """Give the system's browser or Playwright's own; without one the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as driver:
        program = shutil.which("chromium") or driver.chromium.executable_path
        if not Path(program).exists():
            pytest.skip("needs the browser Chromium: make browser")
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

    def open_all(self) -> None:
        """Open every part that is closed."""
        self.page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")

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


FIGURES = """() => [...document.querySelectorAll(".figure > svg")]
    .filter((svg) => svg.getBoundingClientRect().width > 0)
    .map((svg) => {
        const box = (one) => one.getBoundingClientRect();
        const texts = [...svg.querySelectorAll("text")].map((one) => [one.textContent, box(one)]);
        const frame = box(svg), name = svg.querySelector("title").textContent, faults = [];
        const shown = (look) => [...svg.querySelectorAll("." + look.split(" ").join("."))]
            .filter((one) => box(one).width + box(one).height > 0);
        if (!shown("mark").length) faults.push("no mark");
        texts.forEach(([text, one], place) => {
            if (one.left < frame.left - 1 || one.right > frame.right + 1 ||
                one.top < frame.top - 1 || one.bottom > frame.bottom + 1)
                faults.push(`${text} is cut off`);
            for (const [other, two] of texts.slice(place + 1))
                if (one.left < two.right - 1 && two.left < one.right - 1 &&
                    one.top < two.bottom - 3 && two.top < one.bottom - 3)
                    faults.push(`${text} lies on ${other}`);
        });
        for (const entry of svg.parentElement.querySelectorAll(".key [data-mark]")) {
            const found = shown(entry.dataset.mark), paint = (one) => getComputedStyle(one);
            const example = entry.firstElementChild;
            if (!found.length) faults.push(`nothing looks like ${entry.dataset.mark}`);
            else if (paint(found[0]).fill !== paint(example).fill ||
                     paint(found[0]).stroke !== paint(example).stroke)
                faults.push(`${entry.dataset.mark} has another colour`);
        }
        return [name, faults];
    })"""
"""Every figure that is shown, and what is wrong with it."""


def check_figures(visit: Visit) -> list[str]:
    """Figures have marks, legends are about some, and no text lies on another or outside."""
    visit.open_all()
    found = visit.page.evaluate(FIGURES)
    assert [(name, faults) for name, faults in found if faults] == []
    assert found
    return [name for name, _ in found]


def check_attribute_chooser(visit: Visit) -> None:
    """Another attribute changes the figures, the tables and all other choosers."""
    page = visit.page
    visit.open_all()

    def seen() -> list[str]:
        return page.eval_on_selector_all(
            "#leakage .finding, #leakage caption, #parity caption",
            "all => all.filter((one) => !one.closest('[hidden]')).map((one) => one.textContent)",
        )

    before = seen()
    page.select_option("#leakage-attribute", "1")
    name = json.loads(page.text_content("#audit-data"))["data"]["attributes"][1]["name"]
    assert len(seen()) == len(before) == 4
    assert all(" ".join(name.split()) in " ".join(one.split()) for one in seen())
    values = page.eval_on_selector_all(
        "select[data-choice=attribute]", "all => all.map((one) => one.value)"
    )
    assert set(values) == {"1"}
    page.select_option("#leakage-attribute", "0")
    assert seen() == before


def check_screens(visit: Visit) -> None:
    """With closed details the page is at most nine screens of a desktop."""
    height = visit.page.evaluate("document.documentElement.scrollHeight")
    assert height <= MOST_SCREENS * DESKTOP[1]


def check_decisive_column_on_a_phone(visit: Visit) -> None:
    """What options come to is on the screen of a phone, beside their names."""
    outside = visit.page.eval_on_selector_all(
        ".cards td, .cards tbody th",
        """all => all.filter((one) => one.getBoundingClientRect().left < 0 ||
            one.getBoundingClientRect().right > innerWidth).map((one) => one.textContent)""",
    )
    assert visit.page.locator(".cards td").count() > 0
    assert outside == []


def check_accessible(visit: Visit) -> None:
    """The axe scan finds nothing, in closed parts neither."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    visit.open_all()
    found = axe.Axe().run(visit.page).response["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found] == []


def check_fits_the_width(visit: Visit) -> None:
    """Nothing but tables and code scrolls sideways, closed parts included."""
    visit.open_all()
    beyond = visit.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert beyond <= 0


def check_prints(visit: Visit) -> None:
    """Printing opens the details, takes at most eight sheets, and leaves the page as it was."""
    page = visit.page
    page.evaluate(
        """() => addEventListener("beforeprint", () => { window.closedAtPrint =
            document.querySelectorAll("details:not([open])").length; })"""
    )
    before = page.evaluate("document.querySelectorAll('details:not([open])').length")
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= MOST_SHEETS
    assert page.evaluate("window.closedAtPrint") == 0
    assert page.evaluate("document.querySelectorAll('details:not([open])').length") == before
