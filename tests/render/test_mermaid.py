import re

import pytest
from hypothesis import given
from support.hostile import CORPUS, LONG, plan_with, plans

from todoplan.core.plan.lifecycle import TABLE, Action, Kind
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip
from todoplan.render.mermaid import lifecycle_diagram, to_mermaid
from todoplan.render.outline import arrows, lines

NODE = re.compile(r'    (t\d+)\["((?:[A-Za-z0-9 \x80-\U0010ffff]|#\w+;)*)"\]:::(\w+)')
EDGE = re.compile(r"    (t\d+) --> (t\d+)")
STYLE = re.compile(r"    classDef (\w+) [a-z0-9:,. -]+")


def decoded(label):
    return re.sub(r"#(\d+);", lambda m: chr(int(m[1])), label.replace("#quot;", '"'))


def read_back(diagram):
    """
    Nodes, edges and styled classes, after a check that every line is one of these.
    """
    head, *rows = diagram.split("\n")
    assert head == "flowchart TD"
    nodes, edges, styles = (
        [found.groups() for row in rows if (found := shape.fullmatch(row))]
        for shape in (NODE, EDGE, STYLE)
    )
    assert len(nodes) + len(edges) + len(styles) == len(rows)
    return nodes, edges, styles


def check(plan):
    rows = lines(plan)
    nodes, edges, styles = read_back(to_mermaid(plan))
    assert [(name, decoded(label), kind) for name, label, kind in nodes] == [
        (row.node, clip(row.caption, 80), row.status) for row in rows
    ]
    assert edges == list(arrows(rows))
    assert [name for (name,) in styles] == list(Status)


@given(plans().filter(len))
def test_a_flowchart_reads_back_as_the_plan(plan):
    """
    Every line is a node, an arrow or a style of ours; labels decode to the cleaned titles.
    """
    check(plan)


@pytest.mark.parametrize("text", [*CORPUS, *LONG], ids=range(len(CORPUS) + len(LONG)))
def test_the_corpus_stays_within_its_labels(text):
    """
    Each known attack is a label: two nodes, one arrow, no click, no directive.
    """
    plan = plan_with(text, text, owner=text)
    check(plan)
    assert not re.search(r'%%|"\]; *click|\{|direction\s', to_mermaid(plan))


def test_a_flowchart_as_it_is_written():
    """
    Ids are generated, markup characters are entities.
    """
    plan = plan_with('Say "hi" #1', "b", status="completed")
    assert to_mermaid(plan).split("\n")[:4] == [
        "flowchart TD",
        '    t1["1 Say #quot;hi#quot; #35;1"]:::completed',
        '    t2["2 b"]:::completed',
        "    t1 --> t2",
    ]


@pytest.mark.parametrize("letter", [":", ";", "`", "$", "%", "<", "&", "@", "{", "\\"])
def test_what_mermaid_reads_specially_is_an_entity(letter):
    """
    No markup character stands in a label as itself.
    """
    assert f"#{ord(letter)};" in to_mermaid(plan_with(f"a{letter}b"))
    assert f"a{letter}b" not in to_mermaid(plan_with(f"a{letter}b"))


def test_the_word_direction_is_no_statement():
    """
    Mermaid looks for it in quoted labels too, and the node of that line would be gone.
    """
    assert 't1["1 set #100;irection LR"]' in to_mermaid(plan_with("set direction LR"))
    assert 't1["1 #68;irection TB"]' in to_mermaid(plan_with("Direction TB"))


def test_an_empty_plan_is_drawn():
    """
    One node says that there is nothing.
    """
    assert to_mermaid(Plan()) == 'flowchart TD\n    empty["no tasks"]'


def test_the_lifecycle_diagram_is_the_table():
    """
    Read back, it gives every cell of the table that moves a task, and no other.
    """
    head, *rows = lifecycle_diagram().split("\n")
    assert head == "stateDiagram-v2"
    shape = re.compile(r"    (\w+) --> (\w+): (\w+)(?: \((jump|back|reopen)\))?")
    read = {}
    for row in rows:
        status, target, action, kind = shape.fullmatch(row).groups()
        read[Status(status), Action(action)] = (Status(target), Kind(kind or "step"))
    moving = {cell: move for cell, move in TABLE.items() if move.kind is not Kind.STAY}
    assert read == {cell: (move.target, move.kind) for cell, move in moving.items()}
    assert len(rows) == len(moving)
