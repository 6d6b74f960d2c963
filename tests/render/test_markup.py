"""HTML from elements, and whole pages."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import CORPUS, LONG, UNSAFE

from todoplan.render.markup import Markup, element, page, style
from todoplan.texts import one_line

texts = st.sampled_from([*CORPUS, *LONG]) | st.text(max_size=20)


class Reader(HTMLParser):
    """What a browser would see: tags with attributes, texts, and all else."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.other = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts += [data.strip("\n")] if data.strip("\n") else []

    def handle_comment(self, data):
        self.other.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


@given(texts, texts)
def test_no_text_is_markup(text, attribute):
    """Law 14: an element reads back as itself, with the cleaned text inside."""
    html = element("p", element("b", text), text, title=attribute)
    read, clean = Reader(html), one_line(text)
    given_title = {"title": one_line(attribute)} if attribute else {}
    assert read.tags == [("p", given_title), ("b", {})]
    assert read.texts == [clean] * 2 * bool(clean)
    assert read.other == []
    assert not UNSAFE.search(html)


def test_attributes_are_named_as_in_html():
    """What Python keeps for itself has an underscore behind it; no text, no attribute."""
    html = element("p", class_="note", aria_label='a "b"', title="")
    assert html == '<p class="note" aria-label="a &quot;b&quot;"></p>'


def test_what_is_markup_stays(tmp_path):
    """It is put in as it is, next to other children."""
    assert element("p", Markup("<i>a</i>"), "<b>") == "<p><i>a</i>\n&lt;b&gt;</p>"


@pytest.mark.parametrize("text", [*CORPUS, *LONG], ids=range(len(CORPUS) + len(LONG)))
def test_a_page_has_the_same_elements_whatever_it_shows(text):
    """A title or a text makes none, and nothing on a page can be loaded or run."""
    read = Reader(page(text, element("p", text)))
    assert [tag for tag, _ in read.tags] == [
        *("html", "head", "meta", "meta", "meta", "meta", "title", "style", "body", "p")
    ]
    names = {name for _, attributes in read.tags for name in attributes}
    assert names == {"lang", "charset", "http-equiv", "content", "name"}


def test_the_policy_allows_the_page_s_own_style_and_nothing_else():
    """By its hash, which is that of the text in the page."""
    html = page("x", "")
    (inside,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = b64encode(sha256(inside.encode()).digest()).decode()
    (policy,) = (a["content"] for _, a in Reader(html).tags if "http-equiv" in a)
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_scripts_run_by_their_hash_and_make_no_markup_of_texts():
    """The policy names them, and trusted types keep them from setting markup."""
    html = page("x", "", scripts=("void 0",))
    digest = b64encode(sha256(b"void 0").digest()).decode()
    (policy,) = (a["content"] for _, a in Reader(html).tags if "http-equiv" in a)
    assert f"; script-src 'sha256-{digest}'; require-trusted-types-for 'script'" in policy
    assert "; trusted-types 'none'; base-uri 'none'" in policy


def test_the_style_loads_nothing():
    """No import, no address; light and dark, and narrow screens, are thought of."""
    assert not re.search(r"@import|url\(|<", style())
    for feature in ("prefers-color-scheme: dark", "min-width", "overflow-wrap"):
        assert feature in style()
