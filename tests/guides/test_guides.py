"""The guides keep their word: examples run, outputs are real, links lead somewhere."""

import doctest
import re

import pytest
from support.docs import GUIDES, PAGES, ROOT, page
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

FRAMEWORKS = {
    "acp",
    "agent-framework",
    "agentscope",
    "claude-agent-sdk",
    "deepagents",
    "google-adk",
    "haystack",
    "langchain",
    "llama-index",
    "mcp",
    "openai-agents",
    "other-frameworks",
    "pydantic-ai",
    "strands",
    "testing",
    "write-a-store",
    "write-an-adapter",
}
"""Their examples want a scripted model or a suite: the tests of their rooms run them."""

MARKED = re.compile(r"<!-- code: [^>]+ -->\n```python\n.*?```", re.DOTALL)


@pytest.mark.parametrize("name", sorted(PAGES.keys() - FRAMEWORKS))
def test_every_python_example_runs_as_shown(name, tmp_path):
    """A page is one session from top to bottom; code behind a mark is run by a test of its own."""
    own = tmp_path / f"{name}.md"
    own.write_text(MARKED.sub("", page(name)), "utf-8")
    parser = PythonCodeBlockParser(doctest_optionflags=doctest.NORMALIZE_WHITESPACE)
    for example in Sybil(parsers=[parser]).parse(own).examples():
        example.evaluate()


@pytest.mark.parametrize("name", sorted(FRAMEWORKS))
def test_a_page_with_a_framework_has_a_test_that_runs_it(name):
    """It is named in a test module, as the page whose blocks are taken."""
    tests = [
        path.read_text("utf-8")
        for path in (ROOT / "tests").rglob("*.py")
        if path.name != "test_guides.py"
    ]
    own = [text for text in tests if "support.docs" in text or "support.letter" in text]
    assert any(f'"{name}"' in text for text in own)


@pytest.mark.parametrize("name", PAGES)
def test_every_link_to_a_file_leads_somewhere(name):
    """Links to pages and figures, and to headings of the same page and of others."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page(name)):
        if "://" not in target:
            file, _, head = target.partition("#")
            path = PAGES[name].parent / file if file else PAGES[name]
            assert path.exists(), target
            assert not head or head in _anchors(path.read_text("utf-8")), target


def _anchors(text):
    return set(map(_anchor, re.findall(r"^#+ (.+)$", text, re.MULTILINE)))


def _anchor(head):
    return re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-")


def test_the_readme_names_every_guide():
    """A page that nobody is led to is not read."""
    linked = set(re.findall(r"todoplan/guides/([a-z-]+)\.md", page("README")))
    assert linked == {path.stem for path in GUIDES.glob("*.md")}


def test_the_readme_is_short():
    """At most 250 lines and 14 KB: the rest belongs into the guides."""
    text = page("README")
    assert len(text.splitlines()) <= 250
    assert len(text.encode()) <= 14_000


TEMPLATE = [
    "Install",
    "The smallest program",
    "Reading and editing the plan",
    "Settings",
    "What differs",
    "Good to know",
]


@pytest.mark.parametrize(
    "name",
    [
        "langchain",
        "deepagents",
        "agentscope",
        "openai-agents",
        "pydantic-ai",
        "claude-agent-sdk",
        "google-adk",
        "strands",
        "agent-framework",
        "haystack",
        "llama-index",
        "mcp",
    ],
)
def test_the_adapters_pages_have_one_template(name):
    """What is looked for stands in the same place on each; a page may have sections of its own."""
    heads = re.findall(r"^## (.+)$", page(name), re.MULTILINE)
    assert [head for head in heads if head in TEMPLATE] == TEMPLATE


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_installed_from_an_index_where_it_is_not(name):
    """There is no release yet: whoever copies a command installs from the checkout."""
    for command in re.findall(r"pip install[^\n`&|;]*", page(name)):
        assert "todoplan" not in command, command


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_plain_ascii_under_one_heading(name):
    """Any terminal can show it, and the list of guides has its heading."""
    text = page(name)
    assert text.isascii()
    assert re.match(r"# \S", text)
