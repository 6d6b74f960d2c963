"""
The fuzz targets: bytes for intake, the codec and the readers of recordings.

`python -m tests.fuzz TARGET --minutes 10` runs one, by atheris if it is installed, else by
Hypothesis; property tests feed them as well.
"""

import tempfile
from functools import reduce
from pathlib import Path

from support.talk import BOXES, check_reply, planned

from todoplan.codec.documents import dump_journal, dump_plan, load_journal, load_plan
from todoplan.core.commands import CreateTask
from todoplan.errors import CodecError, ReadError
from todoplan.planner.planner import Planner
from todoplan.stores import MemoryStore
from todoplan.transcripts.reading import DIALECTS, read

PLAN = reduce(
    lambda plan, call: BOXES[1].call(plan, "TaskUpdate", call).plan,
    (
        {"taskId": "2", "addBlockedBy": ["1"], "metadata": {"k": [1]}},
        {"taskId": "1", "status": "in_progress"},
    ),
    planned("Write the parser", "Test it", "Ship it"),
)
CALLS = tuple((box, name) for box in BOXES for name in box.toolset.tool_names)
READERS = (None, *DIALECTS)


def intake(data):
    """Send the bytes, as text and as they are, to the tool that the first byte chooses."""
    box, name = CALLS[(data[0] if data else 0) % len(CALLS)]
    for arguments in (data[1:].decode("utf-8", "surrogateescape"), data[1:]):
        check_reply(PLAN, box.call(PLAN, name, arguments))


def codec(data):
    """
    Read the bytes as a plan and as a journal: an error of the codec, or what is written again.
    """
    text = data.decode("utf-8", "surrogateescape")
    for load, dump in ((load_plan, dump_plan), (load_journal, dump_journal)):
        try:
            found = load(text)
        except CodecError:
            continue
        assert load(dump(found)) == found


def recordings(data):
    """
    Read the bytes as a recording, of the dialect that the first byte chooses or of a detected one.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "recording.jsonl")
        path.write_bytes(data[1:])
        try:
            for _ in read(path, READERS[(data[0] if data else 0) % len(READERS)]):
                pass
        except ReadError:
            return


def _seeds():
    planner = Planner(MemoryStore(), "a")
    planner.apply(CreateTask("Write the parser"))
    with planner.claim("ann"):
        pass
    call = '{"todos": [{"content": "Test it", "status": "pending"}]}'
    function = (
        f'{{"type": "function", "function": {{"name": "write_todos", "arguments": {call!r}}}}}'
    )
    message = f'{{"role": "assistant", "tool_calls": [{function}]}}'.replace("'", '"')
    documents = (dump_plan(PLAN), dump_journal(planner.history()))
    return {
        "intake": [b"\x01" + call.encode(), b"\x05" + b'{"done": [1], "add": ["More"]}'],
        "codec": [each.encode() for each in documents],
        "recordings": [b"\x00" + (message + "\n").encode(), b"\x00[" + message.encode() + b"]"],
    }


TARGETS = {"intake": intake, "codec": codec, "recordings": recordings}
SEEDS = _seeds()
