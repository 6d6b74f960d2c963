"""
Plans and journals as versioned JSON, read and written exactly, and conversion from and to other
systems.

Law: what is read equals what was written, and a corrupt document is a `CodecError`, never an empty
plan. Nothing is coerced.

- `plans` and `journals` have the documents.
- `tasks` and `events` read and write the parts of the documents, with `values` (single values),
  `readers` (composed readers) and `faults` (what is wrong, with its path).
- `text` is JSON, `versions` the head of a document, `checks` its checksum, `schema` a JSON Schema
  of all documents for other programs.
- `states` saves the latest journal entries beside a plan, and what a session has last seen.
- `foreign` has the formats of other systems.
"""

from todoplan.codec.documents import (
    VERSION,
    dump_journal,
    dump_plan,
    entry_from_data,
    entry_to_data,
    json_schema,
    load_journal,
    load_plan,
    plan_from_data,
    plan_to_data,
)
from todoplan.codec.foreign.agentscope import (
    from_agentscope,
    to_agentscope,
)
from todoplan.codec.foreign.langchain import from_langchain, to_langchain
from todoplan.codec.foreign.peers import (
    from_agno,
    from_beads,
    from_hermes,
    from_pydantic_ai_todo,
    from_taskmaster,
)
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
