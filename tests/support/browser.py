"""A real browser, and a board that is served to it from a thread of this process."""

import asyncio
import os
import re
import shutil
import threading
from contextlib import contextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from support.hostile import CORPUS

from todoplan.board import make_board
from todoplan.web import listen_at, server_of

PATIENCE = 60_000  # milliseconds: the machine may be busy with other tests

RUNS = "window.pwned = 1; alert(1)"
# A lone half of a character is refused by the codec, before it could be shown to anybody.
TEXTS = [
    f"<img src=x onerror='{RUNS}'>",
    f"<svg onload='{RUNS}'><script>{RUNS}</script>",
    f"</script><script>{RUNS}</script>",
    f"javascript:{RUNS}",
    f"'); {RUNS}; //",
    f"${{{RUNS}}} {{{{constructor.constructor('{RUNS}')()}}}}",
    *(text for text in CORPUS if text.strip() and not re.search("[\ud800-\udfff]", text)),
]
"""Texts that would run, or draw more than text, if a page took them for markup or code."""


def program():
    """Return the path of Chromium; `None` if there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


@contextmanager
def chromium():
    """Yield a browser; the test is skipped, or fails in CI, where none is installed."""
    if program() is None:
        missing = "no Chromium; install the package chromium"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - starts a process

    # Root may not use the sandbox; what is shown here are our own pages.
    flags = ["--no-sandbox", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=flags)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def sound_page(browser, ignored=None, **options):
    """
    Yield a page of its own. An error, an error message or a dialog on it fails the test.

    `ignored` is a part of the error messages that are expected.
    """
    wrong = []

    def said(message):
        if message.type == "error" and (ignored is None or ignored not in message.text):
            wrong.append(message.text)

    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", said)
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    yield page
    context.close()
    assert wrong == []


def faults(page, rules=None):
    """What axe-core says against a page as it is, by all of its rules or by some."""
    options = {"runOnly": rules} if rules else None
    found = Axe().run(page, options=options).response["violations"]
    return [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found]


class Served:
    """A board at an address, which can be stopped and started again there."""

    def __init__(self, store, **options):
        self.store, self.options, self.port = store, options, 0
        self.start()

    def start(self):
        """Serve the board. When this returns, `url` answers."""
        listener, self.url = listen_at("127.0.0.1", self.port, "/")
        self.port = listener.getsockname()[1]
        app = make_board(self.store, **self.options)
        self._server = server_of(app, head_seconds=30, connections=200)
        serving = self._server.serve(sockets=[listener])
        self._thread = threading.Thread(target=asyncio.run, args=(serving,), daemon=True)
        self._thread.start()

    def stop(self):
        """Stop the server, and wait until it has ended."""
        self._server.should_exit = True
        self._thread.join()
