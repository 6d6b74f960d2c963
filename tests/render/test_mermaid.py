import re

import pytest
from hypothesis import given
from support.hostile import CORPUS, LONG, everywhere, plan_with, plans

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Status, Task, Waiting
from todoplan.core.rules import TABLE, Action, Kind
from todoplan.render.markup import lifecycle_diagram, to_mermaid
from todoplan.render.outline import arrows, clip, lines

LABEL = r'\["((?:[A-Za-z0-9 \x80-\U0010ffff]|#\w+;)*)"\]'
NODE = re.compile(rf"( +)(t\d+){LABEL}:::(\w+)")
OPEN = re.compile(rf"( +)subgraph (t\d+){LABEL}")
END = re.compile(r"( +)end")
CLASS = re.compile(r"    class (t\d+) (\w+)")
EDGE = re.compile(r"    (t\d+) --> (t\d+)")
STYLE = re.compile(r"    classDef (\w+) [a-z0-9:,. -]+")


def decoded(label):
    return re.sub(r"#(\d+);", lambda m: chr(int(m[1])), label.replace("#quot;", '"'))


def read_back(diagram):
    """Nodes with levels and classes, edges, styles; each line is ours, each box is closed."""
    head, *rows = diagram.split("\n")
    assert head == "flowchart TD"
    nodes, edges, styles, kinds, boxes = [], [], [], {}, []
    for row in rows:
        if found := NODE.fullmatch(row):
            indent, name, label, kinds[name] = found.groups()
            nodes.append((name, decoded(label), len(boxes)))
            assert indent == "    " * (len(boxes) + 1)
        elif found := OPEN.fullmatch(row):
            indent, name, label = found.groups()
            nodes.append((name, decoded(label), len(boxes)))
            boxes.append(indent)
        elif found := END.fullmatch(row):
            assert found[1] == boxes.pop()
        elif found := CLASS.fullmatch(row):
            kinds[found[1]] = found[2]
        elif found := EDGE.fullmatch(row):
            edges.append(found.groups())
        else:
            styles.append(STYLE.fullmatch(row)[1])
    assert boxes == []
    return [(*node, kinds[node[0]]) for node in nodes], edges, styles


def check(plan):
    rows = lines(plan)
    nodes, edges, styles = read_back(to_mermaid(plan))
    assert nodes == [(row.node, clip(row.caption, 80), row.level, row.kind) for row in rows]
    assert edges == list(arrows(rows))
    assert styles == [*Status, "waiting"]


@given(plans().filter(len))
def test_a_flowchart_reads_back_as_the_plan(plan):
    """Every line is a node, an arrow or a style of ours; labels decode to the cleaned titles."""
    check(plan)


@pytest.mark.parametrize("text", [*CORPUS, *LONG], ids=range(len(CORPUS) + len(LONG)))
def test_the_corpus_stays_within_its_labels(text):
    """Each known attack is a label: of a node or of a box, no click, no directive."""
    plan = everywhere(text)
    check(plan)
    assert not re.search(r'%%|"\]; *click|\{|direction\s', to_mermaid(plan))


def test_a_flowchart_as_it_is_written():
    """Ids are generated, markup characters are entities."""
    plan = plan_with('Say "hi" #1', "b", status="completed")
    assert to_mermaid(plan).split("\n")[:4] == [
        "flowchart TD",
        '    t1["1 Say #quot;hi#quot; #35;1"]:::completed',
        '    t2["2 b"]:::completed',
        "    t1 --> t2",
    ]


def test_subtasks_are_drawn_in_the_box_of_what_contains_them():
    """A box has the name and the class that a node would have; arrows begin and end at it."""
    plan = plan_of(
        [
            Task("1", "Release", status="in_progress", blocks=("4",)),
            Task("2", "Write", parent="1"),
            Task("3", "Parse", parent="2", status="failed"),
            Task("4", "Tell", blocked_by=("1",), waiting=Waiting("Bob")),
        ]
    )
    assert to_mermaid(plan).split("\n")[:11] == [
        "flowchart TD",
        '    subgraph t1["1 Release"]',
        '        subgraph t2["2 Write"]',
        '            t3["3 Parse"]:::failed',
        "        end",
        "    end",
        '    t4["4 Tell"]:::waiting',
        "    class t1 in_progress",
        "    class t2 pending",
        "    t1 --> t4",
        "    classDef pending stroke-dasharray:4 3",
    ]


@pytest.mark.parametrize("letter", [":", ";", "`", "$", "%", "<", "&", "@", "{", "\\"])
def test_what_mermaid_reads_specially_is_an_entity(letter):
    """No markup character stands in a label as itself."""
    assert f"#{ord(letter)};" in to_mermaid(plan_with(f"a{letter}b"))
    assert f"a{letter}b" not in to_mermaid(plan_with(f"a{letter}b"))


def test_the_word_direction_is_no_statement():
    """Mermaid looks for it in quoted labels too, and the node of that line would be gone."""
    assert 't1["1 set #100;irection LR"]' in to_mermaid(plan_with("set direction LR"))
    assert 't1["1 #68;irection TB"]' in to_mermaid(plan_with("Direction TB"))


def test_the_lifecycle_diagram_is_the_table():
    """Read back, it gives every cell of the table that moves a task, and no other."""
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
