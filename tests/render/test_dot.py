import re

import pytest
from hypothesis import given
from support.hostile import CORPUS, LONG, everywhere, plan_with, plans

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Status, Task, Waiting
from todoplan.render.markup import to_dot
from todoplan.render.outline import arrows, clip, lines

LOOK = r'label="((?:[^"\\\n]|\\["\\])*)", (style=[a-z, =]+)'
NODE = re.compile(rf"( +)(t\d+) \[{LOOK}\];")
OPEN = re.compile(r"( +)subgraph cluster_(t\d+) \{")
CLUSTER = re.compile(rf" +graph \[{LOOK}\];")
POINT = re.compile(r" +(t\d+) \[shape=point, style=invis\];")
EDGE = re.compile(r"  (t\d+) -> (t\d+)(?: \[([a-z0-9_=, ]+)\])?;")


def read_back(graph):
    """Nodes with levels and looks, and edges; each line is one of ours, each cluster is closed."""
    opening, *rows = graph.split("\n")
    # By its line: a title may say "subgraph" as well.
    clusters = rows[0] == "  compound=true;" and bool(rows.pop(0))
    assert (opening, rows.pop(0), rows.pop()) == ("digraph plan {", "  node [shape=box];", "}")
    nodes, edges, open_at, boxes = [], [], [], set()
    rows = iter(rows)
    for row in rows:
        if found := NODE.fullmatch(row):
            indent, name, label, look = found.groups()
            nodes.append((name, plain(label), len(open_at), look))
            assert indent == "  " * (len(open_at) + 1)
        elif found := OPEN.fullmatch(row):
            label, look = CLUSTER.fullmatch(next(rows)).groups()
            nodes.append((found[2], plain(label), len(open_at), look))
            assert POINT.fullmatch(next(rows))[1] == found[2]
            boxes.add(found[2])
            open_at.append(found[1])
        elif row.endswith("}"):
            assert row == open_at.pop() + "}"
        else:
            edges.append(EDGE.fullmatch(row).groups())
    assert (open_at, bool(boxes)) == ([], clusters)
    for start, end, named in edges:
        sides = {"ltail": start, "lhead": end}
        wanted = [f"{side}=cluster_{node}" for side, node in sides.items() if node in boxes]
        assert (named or "") == ", ".join(wanted)
    return nodes, [edge[:2] for edge in edges]


def plain(label):
    return re.sub(r"\\(.)", r"\1", label).replace("&amp;", "&")


def check(plan):
    """Every line is ours, and labels decode to the cleaned titles."""
    rows = lines(plan)
    nodes, edges = read_back(to_dot(plan))
    assert [node[:3] for node in nodes] == [
        (row.node, clip(row.caption, 80), row.level) for row in rows
    ]
    assert edges == list(arrows(rows))


@given(plans())
def test_a_graph_reads_back_as_the_plan(plan):
    """As many nodes and arrows as tasks and edges, whatever the texts."""
    check(plan)


@pytest.mark.parametrize("text", [*CORPUS, *LONG], ids=range(len(CORPUS) + len(LONG)))
def test_the_corpus_stays_within_its_labels(text):
    """Each known attack is a quoted label, of a node or of a cluster."""
    check(everywhere(text))


def test_a_graph_as_it_is_written():
    """Quotes and backslashes are escaped, an ampersand starts no entity."""
    assert to_dot(plan_with('a "b" \\N &lt;', "c")).split("\n") == [
        "digraph plan {",
        "  node [shape=box];",
        r'  t1 [label="1 a \"b\" \\N &amp;lt;", style=dashed];',
        '  t2 [label="2 c", style=dashed];',
        "  t1 -> t2;",
        "}",
    ]


def test_subtasks_are_drawn_in_a_cluster():
    """Arrows end at its border: its own node is a point that cannot be seen."""
    plan = plan_of(
        [
            Task("1", "Release", blocks=("3",), blocked_by=("4",)),
            Task("2", "Write", parent="1"),
            Task("3", "Tell", blocked_by=("1",)),
            Task("4", "Ask", blocks=("1",)),
        ]
    )
    assert to_dot(plan).split("\n") == [
        "digraph plan {",
        "  compound=true;",
        "  node [shape=box];",
        "  subgraph cluster_t1 {",
        '    graph [label="1 Release", style=dashed];',
        "    t1 [shape=point, style=invis];",
        '    t2 [label="2 Write", style=dashed];',
        "  }",
        '  t3 [label="3 Tell", style=dashed];',
        '  t4 [label="4 Ask", style=dashed];',
        "  t4 -> t1 [lhead=cluster_t1];",
        "  t1 -> t3 [ltail=cluster_t1];",
        "}",
    ]


def test_each_kind_has_a_look_of_its_own():
    """Every status, and waiting."""
    tasks = [Task(str(n), "a", status=status) for n, status in enumerate(Status, 1)]
    nodes, _ = read_back(to_dot(plan_of([*tasks, Task("9", "a", waiting=Waiting("Bob"))])))
    assert len({look for *_, look in nodes}) == len(Status) + 1
