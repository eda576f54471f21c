"""The page in a real browser: nothing fetched, nothing executed, nothing cut off; readable, by keyboard too."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from event_streams import FOUND, GOOD, HOSTILE, UNSHOWABLE, filled, run_of_suites
from places import GOLDEN
from waiting import wait_until

from rocketmq_conformance.reports.event import (
    CaseEnded,
    CaseLost,
    Discovery,
    DivergenceFound,
    Event,
    RunStarted,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.reports.html import html_page
from rocketmq_conformance.reports.jsonl import read
from rocketmq_conformance.reports.prediction import BAD, CODE, DOUBTFUL, Cell, Page, Section
from rocketmq_conformance.reports.prediction_html import html

selenium = pytest.importorskip("selenium", reason="needs selenium: tox run -e browser")

from selenium import webdriver  # noqa: E402
from selenium.common.exceptions import NoAlertPresentException  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.remote.webelement import WebElement  # noqa: E402

pytestmark = pytest.mark.browser

PHONE, DESK = 375, 1280
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--disable-dev-shm-usage"),
)


def events(name: str) -> list[Event]:
    return read(GOLDEN / f"{name}.events.jsonl").events


def many() -> list[Event]:
    """A run that found 1,100 kinds of divergences."""
    stream = events("diverges")
    one = next(event for event in stream if isinstance(event, DivergenceFound) and len(event.steps) == 3)
    return [*stream[:-1], *(dataclasses.replace(one, fingerprint=f"{n:08x}") for n in range(1100)), stream[-1]]


def arms() -> list[Event]:
    """A campaign with both arms of discovery, for all suites and for one."""
    curve = [[1, 20], [10, 90], [1000, 400], [100_000, 700]]
    found = [
        Discovery(
            suite=suite,
            arm=arm,
            cases=100_000,
            behaviours=700,
            chance=0.001,
            curve=[[cases, seen * times] for cases, seen in curve],
        )
        for suite in ("", "remote-store")
        for arm, times in (("random", 1), ("steered", 2))
    ]
    return [*GOOD[:-1], *found, GOOD[-1]]


def poisoned(text: str) -> list[Event]:
    return [filled(event, text) for event in events("campaign")]


def wide(*addresses: str) -> list[Event]:
    """A run, or a campaign of these addresses, with long names and reasons, large numbers and many outcomes."""
    outcomes = ["done", "items", "negative", *(f"SUBSCRIPTION_GROUP_NOT_EXIST_{at}" for at in range(20))]
    numbers = dict.fromkeys(("conforms", "diverges", "undecided", "could not run", "unsupported"), 12_345_678)
    coverage = [
        [f"REB-BROKER-ASSIGNMENT-WITHOUT-A-BREAK-{at}", "a_kind_of_state_without_a_blank" * 3, outcome, 123_456_789]
        for at in range(4)
        for outcome in outcomes
    ]
    tail = "-of-a-team-with-a-long-name"
    header, *rest = run_of_suites(30, *[dataclasses.replace(FOUND[0], suite="rebalance-broker-03")] * 3)
    assert isinstance(header, RunStarted)
    stream: list[Event] = [dataclasses.replace(header, suites=[suite + tail for suite in header.suites])]
    for event in rest:
        if isinstance(event, SuiteEnded):
            ended = dataclasses.replace(
                event,
                suite=event.suite + tail,
                cases=numbers,
                steps=98_765_432_100,
                seconds=86_399.0,
                coverage=coverage,
                reason="no_answer_to_" * 30,
            )
            stream += [dataclasses.replace(ended, address=address) for address in addresses or [""]]
        elif isinstance(event, SuiteStarted | DivergenceFound | CaseEnded):
            stream.append(dataclasses.replace(event, suite=event.suite + tail))
        else:
            stream.append(event)
    long = "python:my_company.consumers.offsets.adapter:make_the_adapter_for_conformance_tests"
    lost = CaseLost(suite="rebalance-broker-03", case=2**62, address=long, reason="it_hung_" * 60)
    kinds = [dataclasses.replace(FOUND[0], fingerprint=f"{at:08x}", replay=f"replay {long} {long}") for at in range(60)]
    return [*stream[:-1], lost, *kinds, stream[-1]]


def tables() -> Page:
    """A page of tables: a matrix with long rules and addresses, figures, and commands to copy."""
    address = "python:my_company.consumers.adapter:make_the_adapter"
    cells = (Cell("BQ-QUERY-SETZERO", BAD), Cell(f"{address}, " * 3), Cell("0 or error QUERY_NOT_FOUND " * 8, DOUBTFUL))
    queue = tuple(Cell(f"{123_456_789_012:,}") for _ in range(7))
    names = "queue", "stored", "min", "max", "answer", "starts at", "lag", "so it …"
    command = Cell(f"mqadmin resetOffsetByTime -n 127.0.0.1:9876 -g {'app' * 30} -t orders -s 0", CODE)
    return Page(
        f"Group {'app' * 30}: client 5.5.0 (push, clustering, CONSUME_FROM_LAST_OFFSET)",
        Cell("It consumes nothing again and skips nothing.", DOUBTFUL),
        (
            Section("Where they part", ("rule", "behave alike", "what parts them"), (cells,) * 3),
            Section("Topic orders", names, ((*queue, Cell("goes on")),) * 8, numbers=frozenset(names[:-1])),
            *(
                Section(f"To start at the end of {name}", lines=(command, Cell("x" * 300)))
                for name in ("a" * 90, "b", "c")
            ),
        ),
    )


PAGES: dict[str, Callable[[], list[Event]]] = {
    "conforms": lambda: GOOD,
    "killed": lambda: events("killed"),
    "campaign": lambda: events("campaign"),
    "arms": arms,
    "empty": list,
    "wide": wide,
    "wide-campaign": lambda: wide(
        "port", "java-client:5.5.0?clock=real&pace=100", "python:my_company.consumers.adapter:make_the_adapter"
    ),
    "many": many,
    **{f"hostile-{at}": partial(poisoned, text) for at, text in enumerate([*HOSTILE, *UNSHOWABLE])},
    "long": partial(poisoned, "x" * 5000),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pages")
    for name, stream in PAGES.items():
        (made / f"{name}.html").write_text(html_page(stream()), "utf-8")
    (made / "tables.html").write_text(html(tables()), "utf-8")
    return made


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    yield made
    made.quit()


@dataclasses.dataclass
class Browser:
    """A browser with a page open."""

    driver: webdriver.Chrome
    folder: Path

    def open(self, name: str, width: int = DESK, scheme: str = "light", **media: str) -> None:
        """Open a page on a screen of a width, in a colour scheme."""
        self.log("browser")
        self.log("performance")
        self.show_on(width, scheme, **media)
        self.driver.get((self.folder / f"{name}.html").as_uri())

    def show_on(self, width: int, scheme: str, **media: str) -> None:
        """Show what is open, and what will be, on a screen of a width, in a colour scheme."""
        screen = {"width": width, "height": 850, "deviceScaleFactor": 1, "mobile": width == PHONE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        # A driver that clicks does not wait for smooth scrolling to end.
        wanted = {
            "prefers-color-scheme": scheme,
            "prefers-reduced-motion": "reduce",
            **{key.replace("_", "-"): value for key, value in media.items()},
        }
        features = [{"name": key, "value": value} for key, value in wanted.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def js(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def log(self, kind: str) -> list[dict[str, Any]]:
        return self.driver.get_log(kind)  # type: ignore[no-any-return, no-untyped-call]

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def unfold(self) -> None:
        self.js("for (const item of document.querySelectorAll('details')) item.open = true")

    def press(self, *keys: str) -> None:
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()  # type: ignore[no-untyped-call]

    @property
    def focused(self) -> WebElement:
        return self.driver.switch_to.active_element


@pytest.fixture
def browser(driver: webdriver.Chrome, folder: Path) -> Browser:
    return Browser(driver, folder)


# --- nothing fetched, nothing executed ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing_and_complains_of_nothing(browser: Browser, name: str) -> None:
    browser.open(name)
    browser.unfold()
    time.sleep(0.05)
    asked = []
    for entry in browser.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    # The page itself, and its icon, which is written in it.
    assert [url for url in asked if not url.startswith("data:image/svg+xml,")] == [
        (browser.folder / f"{name}.html").as_uri()
    ]
    assert browser.log("browser") == []


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("hostile")])
def test_hostile_text_is_not_executed(browser: Browser, name: str) -> None:
    browser.open(name)
    browser.unfold()
    assert "hacked" not in browser.driver.title or "document.title" in browser.driver.title
    with pytest.raises(NoAlertPresentException):
        _ = browser.driver.switch_to.alert
    assert len(browser.all("script")) == 1
    assert browser.all("img, iframe, object, embed, form, base") == []


def test_a_script_that_got_in_would_not_run(browser: Browser) -> None:
    browser.open("campaign")
    browser.js(
        "const made = document.createElement('script'); made.textContent = 'window.hacked = 1';"
        "document.body.append(made);"
        "const image = document.createElement('div'); image.innerHTML = '<img src=x onerror=\"window.hacked = 2\">';"
        "document.body.append(image);"
    )
    time.sleep(0.2)
    assert browser.js("return window.hacked") is None
    refused = " ".join(entry["message"] for entry in browser.log("browser"))
    assert "Content Security Policy" in refused


@pytest.mark.parametrize("url", ["https://192.0.2.1/", "file:///etc/hostname"])
def test_the_page_may_connect_to_nothing(browser: Browser, url: str) -> None:
    browser.open("campaign")
    finished = browser.driver.execute_async_script(
        "fetch(arguments[0]).then(() => arguments[1]('fetched'), () => arguments[1]('no'))",
        url,
    )
    assert finished == "no"
    assert "Content Security Policy" in " ".join(entry["message"] for entry in browser.log("browser"))


# --- what a reader sees ------------------------------------------------------------------------------------------


def test_no_page_is_wider_than_the_screen(browser: Browser) -> None:
    wrong = []
    for name in (*PAGES, "tables"):
        browser.open(name)
        if name != "many":
            browser.unfold()
        for width, scheme in product((320, PHONE, 768, DESK), ("light", "dark")):
            browser.show_on(width, scheme)
            screen, content = browser.js("return [innerWidth, document.documentElement.scrollWidth]")
            if screen != width or content > width:
                wrong.append(f"{name}, {scheme}: {content} on {width}, {screen} wide")
    assert wrong == []


#: Text whose contrast with what is behind it is below WCAG's AA: [text, ratio, colours].
CONTRAST = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgba = (colour) => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const behind = (element) => {
  const box = element.closest('.band, .who')?.querySelector('rect');
  if (element instanceof SVGElement && box) return rgba(getComputedStyle(box).fill);
  for (let item = element; item; item = item.parentElement) {
    const colour = rgba(getComputedStyle(item).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return rgba('white');
};
const found = []; let seen = 0;
for (const element of document.querySelectorAll('body *')) {
  const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join('').trim();
  const style = getComputedStyle(element);
  if (!text || ['SCRIPT', 'STYLE'].includes(element.tagName) || !element.checkVisibility()) continue;
  if (element.closest('.hush, .skip')) continue;
  seen += 1;
  const drawn = element instanceof SVGElement;
  const [one, other] = [rgba(drawn ? style.fill : style.color), behind(element)];
  const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
  const ratio = (high + 0.05) / (low + 0.05);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
  if (ratio < (large ? 3 : 4.5)) found.push([text.slice(0, 40), ratio.toFixed(2), one.join(), other.join()]);
}
return [seen, found];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["conforms", "killed", "campaign", "arms", "tables"])
def test_all_text_can_be_read(browser: Browser, name: str, scheme: str) -> None:
    browser.open(name, DESK, scheme)
    browser.unfold()
    seen, low = browser.js(CONTRAST)
    assert seen > 100
    assert low == []


def test_the_check_of_contrast_sees_what_cannot_be_read(browser: Browser) -> None:
    browser.open("conforms")
    browser.js("document.querySelector('h2#h-suites').style.color = '#eeeeee'")
    assert [entry[0] for entry in browser.js(CONTRAST)[1]] == ["Suites"]


def test_dark_is_dark_and_light_is_light(browser: Browser) -> None:
    background = "return getComputedStyle(document.body).backgroundColor"
    browser.open("campaign", DESK, "dark")
    dark = browser.js(background)
    browser.open("campaign", DESK, "light")
    assert (dark, browser.js(background)) == ("rgb(15, 18, 23)", "rgb(243, 244, 246)")


def test_the_text_of_diagrams_stays_inside_them(browser: Browser) -> None:
    for width in (320, PHONE, DESK):
        browser.open("campaign", width)
        browser.unfold()
        beyond = browser.js(
            "return [...document.querySelectorAll('svg.seq')].flatMap((drawn) => {"
            " const box = drawn.getBoundingClientRect();"
            " return [...drawn.querySelectorAll('text')].filter((text) => {"
            "  const own = text.getBoundingClientRect();"
            "  return own.right > box.right + 1 || own.left < box.left - 1 || own.bottom > box.bottom + 1;"
            " }).map((text) => text.textContent);"
            "})"
        )
        assert beyond == [], width


def test_wide_tables_scroll_inside(browser: Browser) -> None:
    browser.open("campaign", PHONE)
    table = "document.querySelector('#rules .scroll')"
    assert browser.js(f"return {table}.scrollWidth > {table}.clientWidth")
    browser.js(f"{table}.scrollLeft = 200")
    first = browser.one("#rules tbody th")
    assert browser.js(f"return {table}.scrollLeft") == 200
    # The rule's name stays where it is while its cells move.
    assert abs(browser.js("return arguments[0].getBoundingClientRect().left", first) - 17) < 3


def test_on_a_desk_every_table_fits_without_scrolling(browser: Browser) -> None:
    wrong, seen = [], 0
    for name in (*PAGES, "tables"):
        browser.open(name, DESK)
        if name != "many":
            browser.unfold()
        tables, wider = browser.js(
            "const wider = (box) => box.scrollWidth > box.clientWidth + 1;"
            "const say = (box) => `${box.getAttribute('aria-label') ?? box.textContent.slice(0, 40)}:"
            " ${box.scrollWidth} in ${box.clientWidth}`;"
            "const tables = [...document.querySelectorAll('table')].filter((table) => table.checkVisibility());"
            "const boxes = tables.flatMap((table) => [table.closest('.scroll'), ...table.querySelectorAll('th, td')]);"
            "return [tables.length, boxes.filter(wider).slice(0, 9).map(say)];"
        )
        seen += tables
        wrong += [f"{name}: {one}" for one in wider]
    assert wrong == []
    assert seen > 3 * len(PAGES)


def test_a_page_of_a_thousand_kinds_is_there_at_once(browser: Browser) -> None:
    browser.open("many", PHONE)
    took = browser.js("const [n] = performance.getEntriesByType('navigation'); return n.domComplete - n.startTime")
    assert took < 10_000
    assert len(browser.all(".lines tbody tr")) == 1000


# --- what a reader does ------------------------------------------------------------------------------------------


def test_the_copy_button_copies_the_line(browser: Browser) -> None:
    browser.open("campaign")
    button = browser.one("details.story[open] button.copy")
    line = browser.js("return arguments[0].previousElementSibling.textContent", button)
    button.click()
    wait_until(lambda: button.text != "Copy")
    assert button.text == "Copied"
    assert browser.one("#said").get_attribute("textContent") == "Copied"
    field = browser.one("#filter")
    field.click()
    field.send_keys(Keys.CONTROL, "v")
    assert field.get_attribute("value") == line
    assert line.startswith("rocketmq-conformance replay ")


def test_without_a_clipboard_the_old_way_copies(browser: Browser) -> None:
    browser.open("campaign")
    browser.js("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    button = browser.one("details.story[open] button.copy")
    line = browser.js("return arguments[0].previousElementSibling.textContent", button)
    button.click()
    wait_until(lambda: button.text != "Copy")
    assert button.text == "Copied"
    field = browser.one("#filter")
    field.click()
    field.send_keys(Keys.CONTROL, "v")
    assert field.get_attribute("value") == line


def test_stories_open_and_close_by_keyboard(browser: Browser) -> None:
    browser.open("campaign")
    first, second = browser.all("details.story > summary")
    for _ in range(60):
        browser.press(Keys.TAB)
        if browser.focused == second:
            break
    assert browser.focused == second
    outline = browser.js("return getComputedStyle(arguments[0]).outlineStyle", second)
    assert outline == "solid"
    story = browser.all("details.story")[1]
    browser.press(Keys.ENTER)
    assert story.get_attribute("open") is not None
    browser.press(Keys.SPACE)
    assert story.get_attribute("open") is None
    assert first != second


def test_everything_that_scrolls_or_acts_is_reached_by_keyboard(browser: Browser) -> None:
    browser.open("campaign", PHONE)
    reached = set()
    for _ in range(120):
        browser.press(Keys.TAB)
        reached.add(browser.js("const e = document.activeElement; return e.tagName + '.' + e.className"))
    assert {"A.skip", "INPUT.", "SUMMARY.", "DIV.card scroll", "BUTTON.copy", "CODE."} <= reached


def test_the_filter_hides_what_does_not_match(browser: Browser) -> None:
    browser.open("campaign")
    field = browser.one("#filter")
    field.send_keys("off-r-read memory")
    shown = [story for story in browser.all("details.story") if story.is_displayed()]
    assert [story.get_attribute("id") for story in shown] == ["d1"]
    assert "of" in browser.one("#said").get_attribute("textContent")
    field.clear()
    field.send_keys("x", Keys.BACKSPACE)
    assert all(story.is_displayed() for story in browser.all("details.story"))


def test_a_link_to_a_folded_story_opens_it(browser: Browser) -> None:
    browser.open("campaign")
    browser.js("location.hash = 'd2'")
    wait_until(lambda: browser.one("#d2").get_attribute("open") is not None)


def test_the_page_works_without_its_script(browser: Browser) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open("campaign")
        second = browser.all("details.story")[1]
        second.find_element(By.TAG_NAME, "summary").click()
        assert second.get_attribute("open") is not None
        assert not any(button.is_displayed() for button in browser.all("button"))
        assert not browser.one("#filter").is_displayed()
        assert browser.one("h1").text.startswith("diverges")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_who_wants_no_motion_gets_none(browser: Browser) -> None:
    behaviour = "return getComputedStyle(document.documentElement).scrollBehavior"
    browser.open("campaign", prefers_reduced_motion="reduce")
    assert browser.js(behaviour) == "auto"
    browser.open("campaign", prefers_reduced_motion="no-preference")
    assert browser.js(behaviour) == "smooth"


def test_print_unfolds_everything_and_folds_it_again(browser: Browser) -> None:
    browser.open("campaign")
    folded = "return document.querySelectorAll('details:not([open])').length"
    before = browser.js(folded)
    browser.js(
        "addEventListener('beforeprint',"
        " () => { window.folded = document.querySelectorAll('details:not([open])').length })"
    )
    browser.driver.execute_cdp_cmd("Page.printToPDF", {})
    assert before > 0
    assert browser.js("return window.folded") == 0
    assert browser.js(folded) == before
