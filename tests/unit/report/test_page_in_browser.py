"""Pages in Chromium: layout at two widths, sorting and filtering, the keyboard, axe-core, and pages of many samples.

axe-core is looked for where ``npm install axe-core`` puts it: node_modules of this folder or of npm's global root.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from gpuasm.report import add_bins, add_checks, read_run, write_report
from gpuasm.report.page import MAX_DRAWN
from gpuasm.report.world import Located, LocatedSamples
from tests.report_files import write_files
from tests.unit.report.test_bins import TABLES

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed"),
    pytest.mark.skipif(shutil.which("chromedriver") is None, reason="Chromium's driver is not installed"),
]
WIDTHS = (1280, 390)
SAMPLES = ("first", "second", "third")
MOST_BYTES, MOST_SECONDS = 3_000_000, 2.0


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def resize(browser, width):
    """Set the width of the page itself, which a window cannot be made as narrow as."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder with a page about three samples with bins, checks and places, and the page of one of them."""
    folder = tmp_path_factory.mktemp("results")
    for name in SAMPLES:
        write_files(folder / name / "assembly")
        (folder / name / "bins").mkdir()
        for file, text in TABLES.items():
            (folder / name / "bins" / file).write_text(text)
        shares = {"path": "a_1.fq", "adapter_fraction": 0.02, "duplicate_fraction": 0.1, "phix_fraction": 0.0}
        (folder / name / "check.json").write_text(json.dumps({"warnings": [], "files": [shares]}))
    contigs = folder / "second" / "assembly" / "contigs.tsv"
    contigs.write_text(contigs.read_text().replace("40.1", "4.1").replace("80.0", "4.0"))
    runs = [read_run(folder / name / "assembly", name) for name in SAMPLES]
    add_bins(runs, [folder / name / "bins" for name in SAMPLES])
    add_checks(runs, [folder / name / "check.json" for name in SAMPLES])
    places = LocatedSamples([Located("first", 47.0, 8.0, "known"), Located("second", 46.5, 7.5, "inferred", 80.0)])
    write_report(runs, folder / "report.html", located=places)
    write_report(runs[:1], folder / "first" / "assembly" / "report.html")
    return folder


@pytest.fixture(params=WIDTHS)
def page(browser, results, request):
    resize(browser, request.param)
    browser.get((results / "report.html").as_uri())
    return browser


def names(page):
    rows = "[...document.querySelectorAll('#samples tbody tr')].filter(r => !r.hidden)"
    return page.execute_script(f"return {rows}.map(r => r.cells[0].innerText)")


def test_the_page_fits_its_width_and_shows_every_picture(page):
    assert page.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    boxes = page.execute_script(
        "return [...document.querySelectorAll('details[open] > .figures svg')].map(s => s.getBoundingClientRect())"
        ".map(b => [b.width, b.height])"
    )
    assert len(boxes) == len(SAMPLES) * 8
    assert all(width > 200 and height > 80 for width, height in boxes)
    assert len(page.get_screenshot_as_png()) > 10_000


def test_titles_sort_the_samples(page):
    from selenium.webdriver.common.by import By

    titles = page.find_elements(By.CSS_SELECTOR, "#samples th button")
    depth = next(title for title in titles if title.text.startswith("depth"))
    for order, expected in (("ascending", "second"), ("descending", "first")):
        page.execute_script("arguments[0].click()", depth)
        assert names(page)[0] == expected
        assert sorted(names(page)) == sorted(SAMPLES)
        header = depth.find_element(By.XPATH, "..")
        assert header.get_attribute("aria-sort") == order


def test_words_and_verdicts_filter_the_samples_and_their_sections(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    text = page.find_element(By.ID, "filter-text")
    text.send_keys("SEC")
    assert names(page) == ["second"]
    assert page.find_element(By.ID, "filter-count").text == "1 of 3 samples"
    hidden = "return [...document.querySelectorAll('section[id^=run]')].map(s => s.hidden)"
    assert page.execute_script(hidden) == [True, False, True]
    text.clear()
    page.execute_script("arguments[0].dispatchEvent(new Event('input'))", text)
    verdicts = page.execute_script(
        "return [...document.querySelectorAll('#samples tbody tr')].map(r => r.cells[1].innerText)"
    )
    Select(page.find_element(By.ID, "filter-verdict")).select_by_visible_text(verdicts[1])
    assert names(page) == [name for name, verdict in zip(SAMPLES, verdicts, strict=True) if verdict == verdicts[1]]


def test_the_keyboard_reaches_filters_titles_links_and_stages(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    body = page.find_element(By.TAG_NAME, "body")
    seen = []
    for _ in range(60):
        body.send_keys(Keys.TAB)
        element = page.switch_to.active_element
        seen.append((element.tag_name, element.text.split("\n")[0]))
        body = element
    tags = {tag for tag, _ in seen}
    assert {"input", "select", "button", "a", "summary", "div"} <= tags
    assert any(tag == "summary" and text.startswith("first") for tag, text in seen)
    folded = page.find_element(By.CSS_SELECTOR, "section .folded")
    assert folded.get_attribute("open") is None
    folded.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    assert folded.get_attribute("open") is not None


def test_links_lead_to_files(browser, results):
    for path in (results / "report.html", results / "first" / "assembly" / "report.html"):
        browser.get(path.as_uri())
        links = browser.execute_script("return [...document.querySelectorAll('.files a')].map(a => decodeURI(a.href))")
        assert len(links) >= 6
        assert all(Path(link.removeprefix("file://")).is_file() for link in links)


def test_nothing_is_fetched_and_no_error_is_logged(browser, results):
    browser.get((results / "report.html").as_uri())
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def axe_core():
    """Return the text of axe-core, or skip."""
    roots = [Path("node_modules"), Path(os.environ.get("NODE_PATH", "node_modules"))]
    if npm := shutil.which("npm"):
        found = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False)
        roots.append(Path(found.stdout.strip() or "node_modules"))
    paths = [root / "axe-core" / "axe.min.js" for root in roots]
    path = next((path for path in paths if path.is_file()), None)
    return path.read_text() if path else pytest.skip("axe-core is not installed")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_core_finds_nothing(page, results, theme):
    feature = [{"name": "prefers-color-scheme", "value": theme}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
    try:
        page.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        page.execute_script(axe_core())
        found = page.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert len(found["passes"]) > 10
    assert [(fault["id"], fault["impact"], fault["nodes"][0]["html"]) for fault in found["violations"]] == []


@pytest.mark.parametrize("n", [MAX_DRAWN, 100])
def test_a_page_of_many_samples_is_small_and_opens_soon(browser, tmp_path, n):
    for number in range(n):
        write_files(tmp_path / f"s{number:03d}" / "assembly")
    runs = [read_run(path / "assembly", path.name) for path in sorted(tmp_path.iterdir())]
    write_report(runs, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < MOST_BYTES
    began = time.monotonic()
    browser.get((tmp_path / "report.html").as_uri())
    assert time.monotonic() - began < MOST_SECONDS
    assert len(names(browser)) == n
