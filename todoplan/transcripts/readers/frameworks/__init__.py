"""
Recordings of programs that use an agent framework.

`adk`, `pydantic_ai` and `ag_ui` read events and messages. `openai_agents` and `otlp` read traces,
in which a call is a span with its answer.
"""
