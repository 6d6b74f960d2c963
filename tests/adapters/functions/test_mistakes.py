"""A developer's mistake is an error at once, in every wire shape alike."""

import pytest
from support.wires import WIRES

from todoplan import Plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.errors import TodoplanError

BOX = Toolbox(tasks())
WRONG = [
    lambda wire: wire.module.answer(BOX, Plan(), None),
    lambda wire: wire.module.answer(BOX, [], {}),
    lambda wire: wire.module.answer(tasks(), Plan(), {}),
    lambda wire: wire.module.answer(Plan(), BOX, {}),
    lambda wire: wire.module.calls_in(BOX, None),
    lambda wire: wire.module.calls_in(None, {}),
    lambda wire: wire.module.make_tools(Plan()),
]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("wire", WIRES)
def test_wrong_arguments_are_refused(wire, wrong):
    """It says what was seen and what to write; a response of `None` is not one without calls."""
    with pytest.raises(TodoplanError, match="was given; give"):
        wrong(wire)
