"""
Plans and journals as versioned JSON, both ways and exactly, and as two frameworks keep them.

Law: what is read equals what was written, and a corrupt document is a `CodecError`, never an empty
plan. Nothing is coerced.
"""

from todoplan.codec.foreign.agentscope import (
    from_agentscope,
    read_agentscope,
    task_to_agentscope,
    to_agentscope,
)
from todoplan.codec.foreign.langchain import from_langchain, to_langchain
from todoplan.codec.journals import dump_journal, entry_from_data, entry_to_data, load_journal
from todoplan.codec.plans import dump_plan, load_plan, plan_from_data, plan_to_data
from todoplan.codec.schema import json_schema
from todoplan.codec.versions import UPCASTERS, VERSION, Upcasters

__all__ = [
    "UPCASTERS",
    "VERSION",
    "Upcasters",
    "dump_journal",
    "dump_plan",
    "entry_from_data",
    "entry_to_data",
    "from_agentscope",
    "from_langchain",
    "json_schema",
    "load_journal",
    "load_plan",
    "plan_from_data",
    "plan_to_data",
    "read_agentscope",
    "task_to_agentscope",
    "to_agentscope",
    "to_langchain",
]
