"""A replay as a page of HTML."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from support.hostile import CORPUS

from todoplan.transcripts.commands import Output, replay


class Reader(HTMLParser):
    """The items of the page, each with its class and its words; all tags and attributes."""

    def __init__(self, html):
        super().__init__()
        self.items, self.tags, self.attributes, self._open = [], Counter(), set(), []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        if tag == "li":
            self.items.append((dict(attrs).get("class", ""), []))
            self._open.append(self.items[-1])

    def handle_endtag(self, tag):
        if tag == "li":
            self._open.pop()

    def handle_data(self, data):
        for _, words in self._open:
            words.extend(data.split())

    def of(self, kind):
        return [" ".join(words) for name, words in self.items if name.startswith(kind)]


TAGS = {"html", "head", "meta", "title", "style", "body", "main", "section", "progress"}
TAGS |= {"h1", "h2", "h3", "p", "b", "ul", "ol", "li", "div", "span", "script"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "max", "value"}
ATTRIBUTES |= {"id", "type", "hidden", "data-of"}


@pytest.fixture
def page(invoke, tmp_path):
    """Replay into a page and read it."""

    def make(*paths, code=0):
        out = tmp_path / "page.html"
        result = invoke("replay", *paths, "--html", out)
        assert (result.exit_code, result.stdout) == (code, "")
        return Reader(out.read_text(encoding="utf-8"))

    return make


def test_a_page_shows_plan_timeline_and_findings(invoke, page):
    """Findings stand in the item of their call; the rest below."""
    read = page("--sample")
    assert read.of("completed")[0] == "[x] 1 Reproduce the timeout"
    calls = read.of("call")
    assert len(calls) == 8
    assert "line 12 09:15:37 TodoWrite x~... 1/5 refused, no change refused_call" in calls[2]
    assert len(read.of("finding")) == 6
    assert read.of("between") == ["a message of the person"]


def test_findings_about_the_recording_stand_apart(page, recording, todo, tool_call):
    """With their line; every call is there once. Without a call there is no timeline."""
    read = page(recording(todo(1, "~."), "{bad", todo(2, "x~")), code=2)
    assert len(read.of("call")) == 2
    assert [text.split()[0] for text in read.of("finding")] == ["bad_line", "ended_unfinished"]
    assert "line 3: " in read.of("finding")[0]
    assert page(recording(tool_call(1, "Search", {}))).of("call") == []


def test_several_recordings_are_one_page(invoke, page, recording, todo, tmp_path):
    """A section each; lanes have their names, days stand where they begin, skipped files last."""
    folder = tmp_path / "all"
    recording(todo(1, "~"), todo(12, "x"), name="all/a.jsonl")
    side = {"isSidechain": True, "agentId": "helper", "sessionId": "s"}
    recording(todo(1, "~"), todo(2, "~.", **side), name="all/b.jsonl")
    (folder / "notes.md").write_text("# Notes")
    out = tmp_path / "page.html"
    assert invoke("replay", folder, "--html", out).exit_code == 0
    html = out.read_text()
    assert html.count("<section>") == 2
    assert re.findall(r"<h3>(.*?)</h3>", html) == ["2026-03-01", "2026-03-02", "2026-03-01"]
    assert "<h2>Plan at the end of agent-helper</h2>" in html
    assert "without a recording" in html
    assert "<title>Plans of agents, replayed</title>" in html


def test_what_could_not_be_read_is_told(invoke, recording, todo, tmp_path):
    """With its reason; where nothing was read there is no page."""
    bad, out = tmp_path / "bad.jsonl", tmp_path / "page.html"
    bad.write_text("oops")
    assert invoke("replay", bad, "--html", out).exit_code == 2
    assert not out.exists()
    assert invoke("replay", bad, recording(todo(1, "x")), "--html", out).exit_code == 2
    assert f"<h2>Could not be read</h2>\n<ul><li>{bad} is no recording" in out.read_text()


@pytest.mark.parametrize("number", range(len(CORPUS)))
def test_hostile_texts_are_inert(page, recording, todo, number):
    """Whatever a task, a file or a refusal says, the page has the elements that it always has."""
    text = CORPUS[number]
    calls = todo(1, "~.", text, "Write"), todo(2, "x~", text, error=f"No: {text}")
    read = page(recording(*calls))
    assert set(read.tags) <= TAGS
    # Two that run, and the data of the slider.
    assert read.tags["script"] == 3
    assert read.attributes <= {*ATTRIBUTES, "aria-label"}


def test_the_page_can_go_to_stdout(invoke):
    """And nothing else does. Errors are told in words too, not by colour alone."""
    result = invoke("replay", "--sample", "--policy", "strict", "--html", "-")
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout.startswith("<!DOCTYPE html>")
    assert result.stdout.endswith("</html>\n")
    assert "(error)</b>" in result.stdout


def test_a_recording_is_never_written_over(invoke, recording, todo):
    """It cannot be made again."""
    path = recording(todo(1, "~"))
    before = path.read_bytes()
    result = invoke("replay", path, "--html", path)
    assert result.exit_code == 2
    assert "is one of the recordings" in result.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["missing/page.html", "", "nul\0.html"])
def test_what_cannot_be_written_is_exit_2(screen, complaints, tmp_path, name):
    """With the system's reason, and no traceback, whatever the shell lets through."""
    output = Output(html=tmp_path / name)
    assert replay(screen, sample=True, output=output) == 2
    assert "cannot write" in complaints(screen)
