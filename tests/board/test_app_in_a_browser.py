"""
The page that an MCP host shows, in a real Chromium: in a sandboxed frame of a small host, which
asks a real server through the official client.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect
from support.browser import PATIENCE, TEXTS, faults, sound_page
from support.mcp_client import connected
from support.mcp_server import server_of

from todoplan.adapters.mcp.server import APP_TYPE, EXTENSION, app_uri
from todoplan.stores.memory import MemoryStore

pytestmark = pytest.mark.slow

expect.set_options(timeout=PATIENCE)

# What the specification has a host put before a page that names no addresses.
CSP = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"
)
HOST = """
(given) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.width = "100%";
  window.heard = [];
  window.tell = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const answers = {
    "ui/initialize": () => given.about,
    "ui/request-display-mode": ({ mode }) => ({ mode }),
    "resources/read": async ({ uri }) => ({ contents: await window.forward(uri) }),
  };
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    window.heard.push(data);
    const { method, params } = data;
    if (method === "ui/notifications/size-changed") frame.style.height = `${params.height}px`;
    if (!(method in answers)) return;
    try {
      if (method === given.refuses) throw new Error("not <b>today</b>");
      tell({ id: data.id, result: await answers[method](params) });
    } catch (error) {
      tell({ id: data.id, error: { code: -32000, message: error.message } });
    }
  });
  frame.srcdoc = given.html;
  document.body.replaceChildren(frame);
}
"""


class Host:
    """A page that shows the plan's page in a frame, and passes on what it asks for."""

    def __init__(self, page):
        self.page, self.store = page, MemoryStore()
        self.thread = ThreadPoolExecutor(1)
        page.expose_function("forward", lambda uri: self.asked("read", uri))
        self.frame = page.frame_locator("iframe")

    def asked(self, method, *arguments):
        """Ask the server; apart, since the browser's own loop runs in this thread."""

        async def ask():
            shows = {EXTENSION: {"mimeTypes": [APP_TYPE]}}
            server = server_of(self.store, plan_id="garden")
            async with connected(server, extensions=shows) as client:
                return await getattr(client, method)(*arguments)

        return self.thread.submit(asyncio.run, ask()).result()

    def show(self, *, context=None, capabilities=None, refuses=None):
        """Put the page into a frame, with the policy of hosts before its own."""
        (content,) = self.asked("read", app_uri("garden"))
        policy = f'<meta http-equiv="Content-Security-Policy" content="{CSP}">'
        about = {
            "protocolVersion": "2026-01-26",
            "hostInfo": {"name": "a small host", "version": "1"},
            "hostCapabilities": {"serverResources": {}} if capabilities is None else capabilities,
            "hostContext": context or {},
        }
        html = content["text"].replace("<head>", f"<head>{policy}", 1)
        self.page.evaluate(HOST, {"html": html, "about": about, "refuses": refuses})
        # No host may say anything before.
        if refuses != "ui/initialize":
            self.until("ui/notifications/initialized")

    def call(self, name, **arguments):
        """Call a tool as the model does, and tell the page what was answered."""
        result = self.asked("call", name, arguments)
        self.tell(method="ui/notifications/tool-result", params=result)
        return result["content"][0]["text"]

    def tell(self, **message):
        """Send a message to the page."""
        self.page.evaluate("(message) => tell(message)", message)

    def until(self, method):
        """Wait until the page has sent something under a method."""
        heard = "(wanted) => window.heard.some(({ method }) => method === wanted)"
        self.page.wait_for_function(heard, arg=method)

    def heard(self, method):
        """What the page has sent under a method."""
        heard = self.page.evaluate("() => window.heard")
        return [each for each in heard if each.get("method") == method]

    def answer(self, number):
        """What the page answers to a request."""
        found = self.page.wait_for_function(
            "(number) => window.heard.find((each) => each.id === number && !each.method)",
            arg=number,
        )
        return found.json_value()

    def inside(self, script):
        """Run a script in the frame."""
        return self.page.frames[-1].evaluate(script)


@pytest.fixture
def host(browser):
    """A host without a network; what goes wrong in it, or in the frame, fails the test."""
    with sound_page(browser, offline=True, viewport={"width": 1000, "height": 900}) as page:
        yield Host(page)


def test_the_plan_is_drawn_and_follows_the_calls(host):
    """The handshake first, then the plan, and after each call the plan as it is then."""
    host.show()
    cards = host.frame.locator(".card .text")
    expect(host.frame.get_by_role("heading", name="Plan garden")).to_be_visible()
    expect(host.frame.get_by_text("0/0 completed")).to_be_visible()
    opened, ready = (each["method"] for each in host.page.evaluate("() => heard.slice(0, 2)"))
    assert (opened, ready) == ("ui/initialize", "ui/notifications/initialized")
    said = host.call("TaskCreate", tasks=[{"subject": "Dig"}, {"subject": "Plant"}])
    expect(cards).to_have_text(["Dig", "Plant"])
    expect(host.frame.locator(".said")).to_have_text(said)
    host.call("TaskUpdate", taskId="2", addBlockedBy=["1"])
    host.call("TaskUpdate", taskId="1", status="in_progress")
    expect(host.frame.locator(".column.in_progress .card .text")).to_have_text("Dig")
    expect(host.frame.get_by_text("0/2 completed, 1 in progress, 0 ready")).to_be_visible()
    refused = host.call("TaskUpdate", taskId="9", status="completed")
    expect(host.frame.locator(".said.finding")).to_have_text(" ".join(refused.split()))
    host.frame.get_by_role("tab", name="Tree").click()
    expect(host.frame.get_by_role("treeitem")).to_have_count(2)
    host.frame.get_by_role("tab", name="Tree").press("ArrowRight")
    expect(host.frame.locator(".graph .arrow")).to_have_count(1)
    host.frame.locator(".graph .box").last.click()
    expect(host.frame.get_by_text("#2 Plant")).not_to_have_count(0)
    host.call("TaskUpdate", taskId="2", status="deleted")
    expect(host.frame.get_by_text("No task is blocked by another one.")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 340])
def test_axe_finds_no_fault(host, width, theme):
    """Names, roles, contrast, reach by keyboard: in every view, in both themes; and on a phone."""
    host.page.set_viewport_size({"width": width, "height": 800})
    host.show(context={"theme": theme, "availableDisplayModes": ["fullscreen"]})
    tasks = [{"subject": f"Dig bed {number} " * 5, "owner": "bea"} for number in range(12)]
    host.call("TaskCreate", tasks=tasks)
    host.call("TaskUpdate", taskId="2", addBlockedBy=["1"], status="completed")
    host.call("TaskUpdate", taskId="3", status="in_progress")
    host.call("TaskUpdate", taskId="99", status="in_progress")
    for tab in ("Board", "Tree", "Graph"):
        host.frame.get_by_role("tab", name=tab).click()
        host.frame.locator(".card, .box, [role=treeitem]").first.click()
        expect(host.frame.get_by_text("for bea")).to_be_visible()
        assert faults(host.page.frames[-1]) == []
        # Lists are moved sideways in their own box, and not the page.
        assert host.inside("() => document.scrollingElement.scrollWidth - innerWidth") <= 0, tab


def test_what_others_do_is_seen_when_it_is_looked_for(host):
    """A host tells of one call; later ones show on a press, or when the page is seen again."""
    host.show()
    expect(host.frame.get_by_text("0/0 completed")).to_be_visible()
    host.asked("call", "TaskCreate", {"subject": "Dig"})
    host.frame.get_by_role("button", name="Refresh").click()
    expect(host.frame.locator(".card .text")).to_have_text("Dig")
    host.asked("call", "TaskCreate", {"subject": "Plant"})
    host.page.evaluate("() => (document.querySelector('iframe').style.marginTop = '5000px')")
    host.page.wait_for_timeout(200)
    host.page.evaluate("() => (document.querySelector('iframe').style.marginTop = '')")
    expect(host.frame.locator(".card .text")).to_have_text(["Dig", "Plant"])


def test_no_text_of_a_plan_or_a_host_ever_runs(host):
    """Hostile texts stay texts in every view, and nothing is asked of any address."""
    asked = []
    host.page.on("request", lambda request: asked.append(request.url))
    # A word before each: to the tool some of them are no text at all.
    tasks = [
        {"subject": f"x {text[:200]}", "description": text, "owner": f"x {text[:30]}"}
        for text in TEXTS
    ]
    host.show()
    scripts = host.inside("() => document.scripts.length")
    host.call("TaskCreate", tasks=tasks)
    assert len(host.store.load("garden")) == len(TEXTS)
    expect(host.frame.locator(".column.pending .count")).to_have_text(str(len(TEXTS)))
    host.call("TaskUpdate", taskId="2", addBlockedBy=["1"])
    host.frame.locator(".card").first.click()
    for tab in ("Tree", "Graph", "Board"):
        host.frame.get_by_role("tab", name=tab).click()
        expect(host.frame.locator(".card, .box, [role=treeitem]").first).to_be_visible()
    host.tell(
        method="ui/notifications/tool-result",
        params={"content": [{"type": "text", "text": TEXTS[0]}], "isError": True},
    )
    expect(host.frame.locator(".said")).to_have_text(TEXTS[0])
    assert host.inside("() => document.scripts.length") == scripts
    assert host.inside("() => document.querySelectorAll('img, iframe, base, object').length") == 0
    assert host.inside("() => window.pwned") is None
    assert asked == []


def test_a_host_that_passes_on_no_resources_gets_what_calls_say(host):
    """The counts of the last call and its text, and why there is no more."""
    host.show(capabilities={})
    said = host.call("TaskCreate", subject="Dig")
    expect(host.frame.locator(".said")).to_have_text(said)
    expect(host.frame.get_by_text("0/1 completed, 0 in progress, the tasks")).to_be_visible()
    expect(host.frame.get_by_role("tab")).to_have_count(0)
    expect(host.frame.get_by_role("button")).to_have_count(0)
    assert host.heard("resources/read") == []


@pytest.mark.parametrize(
    ("refuses", "told"),
    [
        ("ui/initialize", "did not open it: not <b>today</b>"),
        ("resources/read", "could not be read: not <b>today</b>"),
    ],
)
def test_what_a_host_refuses_is_told(host, refuses, told):
    """In its own words, as a text."""
    host.show(refuses=refuses)
    expect(host.frame.get_by_role("alert")).to_contain_text(told)


def test_the_page_suits_its_host(host):
    """Its colours are the host's choice, not the system's; it takes the whole window if it may."""
    host.page.emulate_media(color_scheme="light")
    host.show(context={"theme": "dark", "availableDisplayModes": ["inline", "fullscreen"]})
    colour = "() => getComputedStyle(document.body).backgroundColor"
    wide = host.frame.get_by_role("button", name="Full screen")
    expect(wide).to_be_visible()
    assert host.inside(colour) == "rgb(19, 23, 29)"
    host.tell(method="ui/notifications/host-context-changed", params={"theme": "light"})
    host.until("ui/notifications/size-changed")
    host.tell(id=7, method="ping")
    assert host.answer(7)["result"] == {}
    assert host.inside(colour) == "rgb(255, 255, 255)"
    wide.click()
    expect(host.frame.get_by_role("button", name="Exit full screen")).to_be_visible()
    assert host.heard("ui/request-display-mode")[0]["params"] == {"mode": "fullscreen"}
    tall = host.page.evaluate("() => document.querySelector('iframe').clientHeight")
    assert 0 < host.inside("() => document.documentElement.scrollHeight") <= tall


def test_the_page_answers_its_host_and_nobody_else(host):
    """An end is agreed to, what it does not know is refused, and other windows are not heard."""
    host.show()
    expect(host.frame.get_by_text("0/0 completed")).to_be_visible()
    host.tell(id="a", method="ui/resource-teardown", params={"reason": "closed"})
    assert host.answer("a")["result"] == {}
    host.tell(id="b", method="constructor", params={})
    assert host.answer("b")["error"]["code"] == -32601
    host.tell(method="ui/notifications/tool-input", params={"arguments": {}})
    host.tell(id=99, result={})
    host.inside(
        "() => postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result',"
        " params: { content: [{ type: 'text', text: 'forged' }] } }, '*')"
    )
    host.call("TaskCreate", subject="Dig")
    expect(host.frame.locator(".card .text")).to_have_text("Dig")
    assert host.inside("() => document.body.textContent.includes('forged')") is False
