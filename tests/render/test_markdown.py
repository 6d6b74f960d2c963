import string

import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from support.hostile import CORPUS, LONG, everywhere, plan_with, plans, texts

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Approval, Evidence, Task, Waiting
from todoplan.dialogue.intake import read
from todoplan.dialogue.tools import write_tool
from todoplan.render.markup import escaped, to_markdown
from todoplan.render.outline import lines
from todoplan.texts import one_line

READERS = {
    "commonmark": MarkdownIt("commonmark"),
    "tables": MarkdownIt("js-default", {"html": True, "linkify": False, "typographer": False}),
}
BLOCKS = {
    *("paragraph_open", "paragraph_close", "inline", "bullet_list_open", "bullet_list_close"),
    *("list_item_open", "list_item_close"),
}


def read_back(markdown, reader):
    """Return the items, each with its level; nothing but a summary and one list may be there."""
    tokens = READERS[reader].parse(markdown)
    assert {token.type for token in tokens} <= BLOCKS
    assert sum(t.type == "bullet_list_open" and t.level == 0 for t in tokens) <= 1
    inlines = [token for token in tokens if token.type == "inline"]
    assert all(child.type == "text" for inline in inlines for child in inline.children)
    # Each level is a list, an item, a paragraph.
    return [
        ((inline.level - 3) // 2, "".join(child.content for child in inline.children))
        for inline in inlines[1:]
    ]


def expected(plan):
    for line in lines(plan):
        box = "[x]" if line.status == "completed" else "[ ]"
        apart = line.status in {"in_progress", "cancelled", "failed"}
        notes = (line.words, *line.notes) if apart else line.notes
        told = f"{box} {line.id} {line.text}" + (f" ({'; '.join(notes)})" if notes else "")
        yield line.level, told


def test_a_plan_as_markdown():
    """A GitHub task list; what a box cannot say stands in brackets."""
    plan = plan_of(
        (
            Task("1", "Write *parser*", status="completed"),
            Task("2", "Fix a.py", status="in_progress", owner="ann", blocks=("4",)),
            Task("3", "Ask Bob.", status="cancelled"),
            Task("4", "Ship - now!", blocked_by=("2",)),
        )
    )
    assert to_markdown(plan).split("\n") == [
        "1/4 completed, 1 in progress, 1 cancelled",
        "",
        "- [x] 1 Write \\*parser\\*",
        "- [ ] 2 Fix a\\.py (in progress; ann)",
        "- [ ] 3 Ask Bob. (cancelled)",
        "- [ ] 4 Ship - now\\! (waits for 2)",
    ]


def test_a_tree_as_markdown():
    """Subtasks are indented, and what a box cannot say is said in words."""
    found = Evidence(passed=False, summary="2 failed", by="ci")
    plan = plan_of(
        (
            Task("1", "Release", blocks=("4",)),
            Task("2", "Write", parent="1", status="completed", check="pytest", evidence=found),
            Task("3", "Draw", parent="2", status="failed"),
            Task("4", "Tell", blocked_by=("1",), waiting=Waiting("Bob", None, "Which?")),
        ),
        approved=Approval(0, "ann_b"),
    )
    assert to_markdown(plan).split("\n") == [
        '1/4 completed, 1 waiting, 1 failed, approved by "ann\\_b" at revision 0',
        "",
        "- [ ] 1 Release",
        '  - [x] 2 Write (unverified; check\\: "pytest"; check failed by "ci"\\: "2 failed")',
        "    - [ ] 3 Draw (failed)",
        '- [ ] 4 Tell (waits for 1; waiting\\: "Bob"; asks\\: "Which?")',
    ]


@given(plans().filter(len))
def test_a_checklist_is_what_intake_reads(plan):
    """Every line is an item with a box, indented by its level: pasted back it is as many todos."""
    _, _, *rows = to_markdown(plan).split("\n")
    intake = read({"todos": "\n".join(rows)}, write_tool("todos").fields)
    levels = [row.level for row in lines(plan)]
    done = [task.status == "completed" for task in plan]
    assert [todo.status == "completed" for todo in intake.values["todos"]] == done
    assert [len(row) - len(row.lstrip()) for row in rows] == [2 * level for level in levels]
    # A list of one level says nothing of levels.
    assert [todo.level for todo in intake.values["todos"]] in (levels, [None] * len(levels))


@given(plans())
@pytest.mark.parametrize("reader", READERS)
def test_markdown_reads_back_as_the_same_texts(reader, plan):
    """As many items as tasks, each below its own and its own text: no link, HTML, heading, code."""
    assert read_back(to_markdown(plan), reader) == list(expected(plan))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_the_corpus_is_shown_as_markdown(text, reader):
    """Each known attack reads back as text."""
    plan = everywhere(text)
    assert read_back(to_markdown(plan), reader) == list(expected(plan))


@pytest.mark.parametrize("text", [*LONG, "a." * 500_000], ids=range(3))
def test_a_huge_title_is_one_line_of_markdown(text):
    """A million characters stay on their line."""
    assert len(to_markdown(plan_with(text)).splitlines()) == 3


@pytest.mark.parametrize("mark", string.punctuation)
def test_whatever_may_be_markup_is_escaped(mark):
    """Also for readers with mathematics, mentions, footnotes, emoji codes; prose stays readable."""
    shown = mark if mark in "\"%'(),-/;?" else f"\\{mark}"
    assert to_markdown(plan_with(f"a{mark}b")).endswith(f"- [ ] 1 a{shown}b")


@given(texts)
def test_an_escaped_text_reads_back(text):
    """Cleaned, on one line, and nothing in it is markup."""
    (paragraph,) = READERS["commonmark"].parseInline(f"x {escaped(text)}")
    shown = "".join(part.content for part in paragraph.children)
    assert shown.rstrip() == f"x {one_line(text)}".rstrip()
