"""Exact token counts with OpenAI's o200k_base, from the package bpe-openai."""

import json
import warnings
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["compact", "function", "tokens"]

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the package reads its ranks the old way
    _ENCODING = import_module("bpe_openai").get_encoding("o200k_base")


@cache
def tokens(text: str) -> int:
    """Count the tokens of a text."""
    return len(_ENCODING.encode(text))


def compact(value: Any) -> str:
    """Return JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def function(name: str, description: str, parameters: Any) -> dict[str, Any]:
    """Return a tool definition in the form of OpenAI's function calling."""
    body = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": body}
