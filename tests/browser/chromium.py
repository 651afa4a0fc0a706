"""Debian's chromium, headless and without a network, for tests and for timing."""

import base64
import json
import shutil
import time
from pathlib import Path

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--hide-scrollbars",
)  # fmt: skip


class Browser:
    """A page at a time, at a chosen width and colour scheme, with what the console and the network said."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path: Path, width: int = 1280, dark: bool = False) -> float:
        """Open a file, wait until everything is drawn, and return the seconds until it could be used."""
        self.set(width, dark)
        self.driver.get("about:blank")
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        start = time.perf_counter()
        self.driver.get(path.resolve().as_uri())
        self.wait("return document.documentElement.dataset.ready === 'yes'")
        self.wait("const t = document.getElementById('query-table'); return !t || t.dataset.ready === 'yes'")
        usable = time.perf_counter() - start
        self.wait("return [...document.querySelectorAll('.canvas')].every((c) => c.dataset.drawn)")
        return usable

    def set(self, width: int, dark: bool, height: int = 900) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        # A page that is still gliding to its place moves the button from under the pointer.
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})

    def wait(self, script: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not self.run(script):
            assert time.monotonic() < end, f"waited in vain for: {script}"
            time.sleep(0.05)

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def complaints(self) -> list[str]:
        """What the console says, the policy's refusals included."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Every address that was asked for since the page was opened; data addresses are no requests."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [url for url in found if not url.startswith(("data:", "blob:"))]

    def picture(self, path: Path) -> None:
        """Keep a picture of the whole page."""
        size = self.run("const e = document.documentElement; return [e.clientWidth, e.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        asked = {"clip": clip, "captureBeyondViewport": True}
        found = self.driver.execute_cdp_cmd("Page.captureScreenshot", asked)
        path.write_bytes(base64.b64decode(found["data"]))


def missing() -> str | None:
    """What is needed and not there, in words; None when a browser can be started."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "needs selenium: pip install 'karat[test]'"
    if chromium() is None or shutil.which("chromedriver") is None:
        return "needs a browser: apt-get install chromium chromium-driver"
    return None


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def start(profile: Path) -> Browser:
    """Start a browser with a fresh profile."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium()
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    return Browser(webdriver.Chrome(options=options, service=service))
