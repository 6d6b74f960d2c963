"""
Plans and journals as versioned JSON, both ways and exactly, and as other systems keep them.

Law: what is read equals what was written, and a corrupt document is a `CodecError`, never an empty
plan. Nothing is coerced.

Read `plans` and `journals`, the documents; then what they are made of: `tasks` and `events`, on
`values` (single values), `readers` (readers put together) and `faults` (what is wrong, with its
path). `text` is JSON, `versions` the head of a document, `checks` its checksum, `schema` all of it
for other programs; `states` keeps beside a plan the last entries of its journal, and what a hand
last saw. `foreign` has the forms of other systems.
"""

from todoplan.codec.foreign.agentscope import (
    from_agentscope,
    to_agentscope,
)
from todoplan.codec.foreign.beads import from_beads
from todoplan.codec.foreign.langchain import from_langchain, to_langchain
from todoplan.codec.foreign.peers import from_agno, from_hermes, from_pydantic_ai_todo
from todoplan.codec.foreign.taskmaster import from_taskmaster
from todoplan.codec.journals import (
    dump_journal,
    entry_from_data,
    entry_to_data,
    load_journal,
)
from todoplan.codec.plans import dump_plan, load_plan, plan_from_data, plan_to_data
from todoplan.codec.schema import json_schema
from todoplan.codec.versions import VERSION
from todoplan.lazy import listing

__all__ = [
    "VERSION",
    "dump_journal",
    "dump_plan",
    "entry_from_data",
    "entry_to_data",
    "from_agentscope",
    "from_agno",
    "from_beads",
    "from_hermes",
    "from_langchain",
    "from_pydantic_ai_todo",
    "from_taskmaster",
    "json_schema",
    "load_journal",
    "load_plan",
    "plan_from_data",
    "plan_to_data",
    "to_agentscope",
    "to_langchain",
]
__dir__ = listing(__all__)
