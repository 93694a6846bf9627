"""A real browser without a window, the network off: what tests of pages drive by keyboard."""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

DRIVER = shutil.which("chromedriver")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
TAB, SPACE, DOWN = "\ue004", " ", "\ue015"
needs_browser = pytest.mark.skipif(
    not (DRIVER and BROWSER), reason="chromium and chromedriver are not installed"
)


class Driven:
    """A window of the browser, asked over the WebDriver protocol."""

    def __init__(self, address):
        self.address, self.session = address, ""

    def ask(self, method, path, **body):
        request = urllib.request.Request(
            f"{self.address}{self.session}{path}",
            json.dumps(body).encode() if method == "POST" else None,
            {"Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def run(self, script):
        return self.ask("POST", "/execute/sync", script=script, args=[])

    def command(self, name, **values):
        return self.ask("POST", "/goog/cdp/execute", cmd=name, params=values)

    def press(self, *keys):
        acts = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", actions=[{"type": "key", "id": "keys", "actions": acts}])

    def focused(self):
        return self.run(
            "const e = document.activeElement; return [e.tagName, e.id || e.name || '', e.textContent.trim()]"
        )

    def walk_to(self, wanted):
        """Go on with the tabulator until something has the keyboard: an id, or a name of inputs."""
        for _ in range(60):
            if self.focused()[1] == wanted:
                return
            self.press(TAB)
        raise AssertionError(f"{wanted} is not reached with the tabulator")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path_factory.mktemp("browser")
    surroundings = {**os.environ, "HOME": str(home), "no_proxy": "127.0.0.1"}
    process = subprocess.Popen(
        [DRIVER, f"--port={port}"], env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    window = Driven(f"http://127.0.0.1:{port}")
    arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={home / 'profile'}"]
    options = {"binary": BROWSER, "args": arguments}
    wanted = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
    try:
        for left in range(100, 0, -1):
            try:
                window.session = (
                    f"/session/{window.ask('POST', '/session', capabilities=wanted)['sessionId']}"
                )
                break
            except urllib.error.HTTPError as wrong:
                pytest.skip(f"the browser does not start here: {wrong.read()[:200]!r}")
            except OSError:
                assert left > 1
                time.sleep(0.1)
        yield window
        window.ask("DELETE", "")
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def opened_page(driver, path, width=320):
    """Open a page of one file as on a phone, with the network off; it must ask for nothing."""
    driver.command("Network.enable")
    driver.command(
        "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0
    )
    driver.command(
        "Emulation.setDeviceMetricsOverride", width=width, height=640, deviceScaleFactor=2, mobile=True
    )
    driver.ask("POST", "/url", url=path.as_uri())
    yield driver
    wrong = [one["message"] for one in driver.ask("POST", "/se/log", type="browser")]
    assert wrong == []  # nothing that its own policy forbids, no error of its script, no request
    assert driver.run("return performance.getEntriesByType('resource').length") == 0


def saved_file(driver, folder, name, save):
    """Have a page save a file; return it when it has arrived whole."""
    folder.mkdir()
    driver.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    save()
    found = []
    for _ in range(100):
        found = [one.name for one in folder.iterdir()]
        if found == [name]:
            break
        time.sleep(0.1)
    assert found == [name]
    return folder / name
