"""The page in a browser: from a key to the painted answer.

    python benchmarks/page.py FILE... [--domain NAME] [--keys 150]

learns a script from 70 % of the tellings of each file (of its largest domain, unless one is named),
serves them, types held-out tellings key by key in Debian's chromium, and prints one JSON object.
For each file it has the median and the 95th percentile of the milliseconds from a key to the
painted answer.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from playwright.sync_api import sync_playwright

import elision as el

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEST_SHARE = 0.3
WATCH = """() => {
  let pressed = null;
  window.times = [];
  addEventListener("keydown", () => (pressed = performance.now()), true);
  new MutationObserver(() => {
    if (pressed === null) return;
    const from = pressed;
    pressed = null;
    requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - from)));
  }).observe(document.getElementById("lines"), { attributeFilter: ["data-for"] });
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--domain", help="of which keys are timed")
    parser.add_argument("--keys", type=int, default=150)
    chosen = parser.parse_args()
    typed = [learned(file, chosen.domain) for file in chosen.files]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.json" for number in range(len(typed))]
        for path, (name, script, _) in zip(paths, typed, strict=True):
            script.annotated(activity=name).save(path)
        keys = timed(paths, [told for *_, told in typed], chosen.keys)
    print(json.dumps({"keys": keys}, indent=2))


def learned(file: Path, domain: str | None) -> tuple[str, el.Script, list[tuple[str, ...]]]:
    """A script of one domain, and the tellings that it was not learned from."""
    parts = el.read(file).by_domain()
    name = domain if domain in parts else max(parts, key=lambda one: len(parts[one]))
    train, test = parts[name].split(TEST_SHARE, random_state=0)
    script = el.ScriptLearner().fit(train).script_
    known = set(script.events)
    told = [one for one in test.events if len(one) > 2 and known.issuperset(one)]
    return name or file.stem, script, told


def timed(
    paths: list[Path], tellings: list[list[tuple[str, ...]]], keys: int
) -> list[dict[str, Any]]:
    """Type tellings of each script, key by key, each when the last one was answered."""
    command = [
        sys.executable,
        "-m",
        "elision",
        "serve",
        *map(str, paths),
        "--port",
        "0",
        "--no-open",
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        found = re.search(r"http://\S+:\d+/", server.stdout.readline() if server.stdout else "")
        if not found:
            raise SystemExit("the server did not start")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(found[0])
            page.wait_for_selector("body[data-ready]")
            scripts = page.evaluate("fetch('/api/scripts').then((one) => one.json())")["scripts"]
            rows = []
            for script, told in zip(scripts, tellings, strict=True):
                page.goto(f"{found[0]}#script={script['id']}")
                page.reload()
                page.wait_for_selector("body[data-ready]")
                times = typing(page, told, keys)
                p50, p95 = np.percentile(times, [50, 95]).round(1).tolist()
                size = {"script": script["name"], "events": script["events"], "keys": len(times)}
                rows.append({**size, "median_ms": p50, "p95_ms": p95})
            browser.close()
            return rows
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=20)


def typing(page: Page, tellings: list[tuple[str, ...]], keys: int) -> list[float]:
    page.evaluate(WATCH)
    for telling in tellings:
        page.get_by_role("button", name="Write your own").click()
        for line in telling:
            for letter in line:
                before = page.evaluate("window.times.length")
                page.keyboard.type(letter)
                page.wait_for_function("many => window.times.length > many", arg=before)
                if before >= keys:
                    return list(page.evaluate("window.times"))[1:]
            page.keyboard.press("Escape")  # what is offered is not taken
            page.keyboard.press("Enter")
    return list(page.evaluate("window.times"))[1:]


if __name__ == "__main__":
    main()
