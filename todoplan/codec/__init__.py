"""
Reading and writing plans and journals as versioned JSON, and in the formats of other systems.

Law: what is read equals what was written. Reading a corrupt document raises a `CodecError`, and
never returns an empty plan. No value is converted silently.

- `documents` reads and writes plans, journals, events and the states of adapters; it has the JSON
  Schema of all documents.
- `engine` reads and writes single values and JSON text; it has the composed readers, the faults
  with their paths, and the checksums.
- `foreign` has the formats of other systems.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
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
    from todoplan.codec.foreign.agentscope import from_agentscope, to_agentscope
    from todoplan.codec.foreign.backlog import from_backlog, to_backlog
    from todoplan.codec.foreign.langchain import from_langchain, to_langchain
    from todoplan.codec.foreign.markdown import from_markdown, not_held, to_markdown
    from todoplan.codec.foreign.peers import (
        from_agno,
        from_beads,
        from_hermes,
        from_pydantic_ai_todo,
        from_taskmaster,
    )

__all__ = [
    "VERSION",
    "dump_journal",
    "dump_plan",
    "entry_from_data",
    "entry_to_data",
    "from_agentscope",
    "from_agno",
    "from_backlog",
    "from_beads",
    "from_hermes",
    "from_langchain",
    "from_markdown",
    "from_pydantic_ai_todo",
    "from_taskmaster",
    "json_schema",
    "load_journal",
    "load_plan",
    "not_held",
    "plan_from_data",
    "plan_to_data",
    "to_agentscope",
    "to_backlog",
    "to_langchain",
    "to_markdown",
]
__dir__ = listing(__all__)

if not TYPE_CHECKING:  # with a `__getattr__`, type checkers would accept every misspelled name
    __getattr__ = loader(
        __name__,
        {
            "documents": (
                "VERSION",
                "dump_journal",
                "dump_plan",
                "entry_from_data",
                "entry_to_data",
                "json_schema",
                "load_journal",
                "load_plan",
                "plan_from_data",
                "plan_to_data",
            ),
            "foreign.agentscope": ("from_agentscope", "to_agentscope"),
            "foreign.backlog": ("from_backlog", "to_backlog"),
            "foreign.langchain": ("from_langchain", "to_langchain"),
            "foreign.markdown": ("from_markdown", "not_held", "to_markdown"),
            "foreign.peers": (
                "from_agno",
                "from_beads",
                "from_hermes",
                "from_pydantic_ai_todo",
                "from_taskmaster",
            ),
        },
    )
