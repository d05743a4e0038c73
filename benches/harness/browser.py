"""A headless Chromium behind chromedriver, as far as times of the dashboard need it."""

import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request

from .machine import Failed, Missing

PATIENCE_SECONDS = 60


class Browser:
    """Ends with the `with` block."""

    def __init__(self):
        for name in ("chromedriver", "chromium"):
            if shutil.which(name) is None:
                raise Missing(f"{name} is not installed: scripts/install-prerequisites")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        said = "started successfully on port "
        line = next((line for line in self.driver.stdout if said in line), "")
        if not line:
            raise Failed("chromedriver does not start")
        self.base = f"http://127.0.0.1:{line.split(said)[1].strip().rstrip('.')}"
        self.profile = tempfile.TemporaryDirectory(prefix="bascule-browser-")
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--window-size=1440,900",
            "--enable-precise-memory-info", f"--user-data-dir={self.profile.name}",
        ]
        options = {"binary": shutil.which("chromium"), "args": arguments}
        wanted = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}}}
        self.session = self.ask("/session", wanted)["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask(f"/session/{self.session}", method="DELETE")
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait()
        self.profile.cleanup()

    def ask(self, path, body=None, method="POST"):
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS + 30) as answer:
            return json.load(answer)["value"]

    def go(self, address):
        self.ask(f"/session/{self.session}/url", {"url": address})

    def run(self, script):
        """What the body of a function gives."""
        return self.ask(f"/session/{self.session}/execute/sync", {"script": script, "args": []})

    def opened(self, address, expression):
        """Milliseconds from asking for the page until the expression is true there."""
        self.go(address)
        return self.seen("0", expression)

    def timed(self, script, expression):
        """Milliseconds from what a script did until the expression is true."""
        begun = self.run(f"{script} return performance.now();")
        return self.seen(str(begun), expression)

    def seen(self, since, expression):
        """The page looks itself, every frame: a question from outside would cost more than what is measured."""
        script = (
            "const done = arguments[arguments.length - 1];"
            f"const look = () => {{ if ({expression}) done(performance.now() - {since});"
            f" else if (performance.now() - {since} > {PATIENCE_SECONDS * 1000}) done(-1);"
            " else requestAnimationFrame(look); }; look();"
        )
        self.ask(f"/session/{self.session}/timeouts", {"script": (PATIENCE_SECONDS + 20) * 1000})
        taken = self.ask(f"/session/{self.session}/execute/async", {"script": script, "args": []})
        if taken < 0:
            raise Failed(f"the dashboard does not come to {expression}: {self.run('return document.body.innerText')[:500]}")
        return taken
