"""
What programs that use an agent framework write down: `adk`, `pydantic_ai` and `ag_ui` are events
and messages; `openai_agents` and `otlp` are traces, in which a call is a span with its answer.
"""
