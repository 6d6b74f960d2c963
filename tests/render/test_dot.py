import re

import pytest
from hypothesis import given
from support.hostile import CORPUS, LONG, plan_with, plans

from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip
from todoplan.render.dot import to_dot
from todoplan.render.outline import arrows, lines

NODE = re.compile(r'  (t\d+) \[label="((?:[^"\\\n]|\\["\\])*)", style=(\w+)\];')
EDGE = re.compile(r"  (t\d+) -> (t\d+);")


def check(plan):
    """
    Every line is ours, and labels decode to the cleaned titles.
    """
    rows = lines(plan)
    opening, box, *body, closing = to_dot(plan).split("\n")
    assert (opening, box, closing) == ("digraph plan {", "  node [shape=box];", "}")
    nodes, edges = (
        [found.groups() for row in body if (found := shape.fullmatch(row))]
        for shape in (NODE, EDGE)
    )
    assert len(nodes) + len(edges) == len(body)
    labels = [re.sub(r"\\(.)", r"\1", label).replace("&amp;", "&") for _, label, _ in nodes]
    assert labels == [clip(row.caption, 80) for row in rows]
    assert [name for name, _, _ in nodes] == [row.node for row in rows]
    assert edges == list(arrows(rows))


@given(plans())
def test_a_graph_reads_back_as_the_plan(plan):
    """
    As many nodes and arrows as tasks and edges, whatever the texts.
    """
    check(plan)


@pytest.mark.parametrize("text", [*CORPUS, *LONG], ids=range(len(CORPUS) + len(LONG)))
def test_the_corpus_stays_within_its_labels(text):
    """
    Each known attack is a quoted label.
    """
    check(plan_with(text, text, owner=text))


def test_a_graph_as_it_is_written():
    """
    Quotes and backslashes are escaped, an ampersand starts no entity.
    """
    assert to_dot(plan_with('a "b" \\N &lt;', "c")).split("\n") == [
        "digraph plan {",
        "  node [shape=box];",
        r'  t1 [label="1 a \"b\" \\N &amp;lt;", style=dashed];',
        '  t2 [label="2 c", style=dashed];',
        "  t1 -> t2;",
        "}",
    ]


def test_each_status_has_a_style_of_its_own():
    """
    Four statuses, four styles.
    """
    styles = {re.search(r"style=(\w+)", to_dot(plan_with("a", status=s)))[1] for s in Status}
    assert len(styles) == len(Status)


def test_an_empty_plan_is_an_empty_graph():
    """
    Still a graph.
    """
    assert to_dot(Plan()) == "digraph plan {\n  node [shape=box];\n}"
