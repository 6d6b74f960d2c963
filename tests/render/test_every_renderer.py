"""What holds for whatever makes a text of a plan: a renderer that comes anew is held to it too."""

import pytest
from hypothesis import given
from support.hostile import CORPUS, UNSAFE, everywhere, plans

from todoplan import render
from todoplan.cli.views import PRINTERS
from todoplan.core.plan.plan import Plan

RENDERERS = {name: getattr(render, name) for name in dir(render) if name.startswith("to_")}


def test_each_can_be_asked_for_on_the_command_line():
    """`show` has every renderer beside the text, plan documents, and nothing else."""
    printers = {f"to_{name}": printer for name, printer in PRINTERS.items() if name != "json"}
    assert {"to_text": render.to_text, **printers} == RENDERERS


@pytest.mark.parametrize("renderer", RENDERERS.values(), ids=RENDERERS)
@given(plans())
def test_none_raises_or_lets_anything_unsafe_through(renderer, plan):
    """Law 14: no control character, no direction of writing, no half of a pair."""
    assert not UNSAFE.search(renderer(plan))


@pytest.mark.parametrize("text", CORPUS)
@pytest.mark.parametrize("renderer", RENDERERS.values(), ids=RENDERERS)
def test_no_attack_adds_a_line(renderer, text):
    """Where all texts are the attack there are as many lines as where they are harmless."""
    assert not UNSAFE.search(renderer(everywhere(text)))
    assert renderer(everywhere(text)).count("\n") == renderer(everywhere("a")).count("\n")


EMPTY = {
    "to_text": "no tasks",
    "to_markdown": "no tasks",
    "to_mermaid": 'flowchart TD\n    empty["no tasks"]',
    "to_dot": "digraph plan {\n  node [shape=box];\n}",
    "to_html": '<ul class="todoplan" aria-label="no tasks">\n'
    '<li class="empty">no tasks</li>\n</ul>',
}


@pytest.mark.parametrize("name", RENDERERS)
def test_an_empty_plan_says_that_there_is_nothing(name):
    """Still a graph, a list or a line."""
    assert RENDERERS[name](Plan()) == EMPTY[name]
