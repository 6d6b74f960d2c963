import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from support.hostile import CORPUS, LONG, everywhere, plan_with, plans

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Evidence, Task, Waiting
from todoplan.render.markup import to_html
from todoplan.render.outline import lines, summary


class Reader(HTMLParser):
    """Collects every tag with its attributes, and every text that is more than space."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.other = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, *attrs))

    def handle_endtag(self, tag):
        self.tags.append((f"/{tag}",))

    def handle_data(self, data):
        if data.strip(" \n"):
            self.texts.append(data)

    def handle_comment(self, data):
        self.other.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def read_back(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.other == []
    return reader.tags, reader.texts


def expected(plan):
    tags = [("ul", ("class", "todoplan"), ("aria-label", summary(plan)))]
    texts, rows = [], lines(plan)
    for place, line in enumerate(rows):
        kinds = ["mark", "id", "text", *["note"] * len(line.notes)]
        spans = [tag for kind in kinds for tag in (("span", ("class", kind)), ("/span",))]
        after = rows[place + 1].level if place + 1 < len(rows) else 0
        closed = [("/li",), ("/ul",)] * (line.level - after)
        tags += [("li", ("class", classes(line))), *spans]
        tags += [("ul",)] if after > line.level else [*closed, ("/li",)]
        texts += [line.mark, line.id, line.text, *line.notes]
    return [*tags, ("/ul",)], texts


def classes(line):
    proof = {True: " verified", False: " unverified", None: ""}[line.verified]
    return f"{line.status}{' waiting' if line.is_waiting else ''}{proof}"


@given(plans().filter(len))
def test_html_reads_back_as_the_same_texts(plan):
    """The elements and attributes are ours, the text nodes the cleaned texts."""
    assert read_back(to_html(plan)) == expected(plan)


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_the_corpus_is_shown_as_html(text):
    """Each known attack is a text node."""
    plan = everywhere(text)
    assert read_back(to_html(plan)) == expected(plan)


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_a_huge_title_is_a_text_of_html(text):
    """A million characters, plain and all markup."""
    plan = plan_with(text, text, owner=text)
    assert read_back(to_html(plan)) == expected(plan)


def test_a_plan_as_html():
    """One list, an item a task, quotes escaped."""
    assert to_html(plan_with("a \"b\" 'c' <d>", owner="ann")) == (
        '<ul class="todoplan" aria-label="0/1 completed">\n'
        '<li class="pending"><span class="mark">[ ]</span> <span class="id">1</span> '
        '<span class="text">a &quot;b&quot; &#x27;c&#x27; &lt;d&gt;</span> '
        '<span class="note">ann</span></li>\n</ul>'
    )


def test_subtasks_are_a_list_in_their_item():
    """And what the program found is a class beside the status."""
    found = Evidence(passed=True, summary="40 passed")
    done = Task("2", "b", parent="1", status="completed", check="pytest", evidence=found)
    plan = plan_of([Task("1", "a"), done, Task("3", "c", waiting=Waiting("Bob"))])
    assert re.sub("<span.*</span>", "", to_html(plan)).split("\n")[1:-1] == [
        '<li class="pending">',
        "<ul>",
        '<li class="completed verified"></li>',
        "</ul></li>",
        '<li class="pending waiting"></li>',
    ]
