"""What planning costs a model: exact counts with OpenAI's o200k_base vocabulary."""

import json
import warnings
from functools import cache
from importlib import import_module

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the package reads its ranks the old way
    _ENCODING = import_module("bpe_openai").get_encoding("o200k_base")


@cache
def tokens(text):
    """Count the tokens of a text."""
    return len(_ENCODING.encode(text))


def compact(value):
    """Return JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def function(name, description, parameters):
    """Return a tool definition as OpenAI's function calling takes it."""
    body = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": body}


def functions(toolset):
    """Return the tools of a set as OpenAI's function calling takes them."""
    return [function(d.name, d.description, d.schema) for d in toolset.definitions()]


def fixed_cost(toolset, length="compact"):
    """Count what a tool set adds to every request: system prompt and tool definitions."""
    return tokens(toolset.system_prompt(length)) + tokens(compact(functions(toolset)))
