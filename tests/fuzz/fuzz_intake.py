"""
The fuzz target of intake: bytes become calls to every tool, and every reply keeps its promises.

With atheris installed `python tests/fuzz/fuzz_intake.py` runs it until it is stopped; without, a
property test feeds it.
"""

import sys
from functools import reduce
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.talk import BOXES, check_reply, planned

PLAN = reduce(
    lambda plan, call: BOXES[1].call(plan, "TaskUpdate", call).plan,
    (
        {"taskId": "2", "addBlockedBy": ["1"], "metadata": {"k": [1]}},
        {"taskId": "1", "status": "in_progress"},
    ),
    planned("Write the parser", "Test it", "Ship it"),
)
CALLS = tuple((box, name) for box in BOXES for name in box.toolset.tool_names)


def one_input(data):
    """
    Send the bytes, as text and as they are, to the tool that the first byte chooses.
    """
    box, name = CALLS[(data[0] if data else 0) % len(CALLS)]
    for arguments in (data[1:].decode("utf-8", "surrogateescape"), data[1:]):
        check_reply(PLAN, box.call(PLAN, name, arguments))


def main():
    """
    Run atheris on the target; its options are those of libFuzzer.
    """
    import atheris  # noqa: PLC0415 - optional: the property test runs without it

    atheris.instrument_all()
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
