"""
The page's scripts in one piece, for files that need nothing but themselves: reports.

The modules stay as they are, and are read by browsers as they are; here their lines of import and
export are left out, and they stand one behind the other in a function of their own.
"""

import re
from functools import cache
from importlib.resources import files

__all__ = ["report_scripts", "report_style"]

# Each behind those that it imports.
_MODULES = ("dom", "model", "rows", "card", "tree", "graph", "report")
_JOINS = re.compile(r"^import .*\n|^export (?=\w)", re.MULTILINE)


def _read(name: str) -> str:
    return files("todoplan.board").joinpath("static").joinpath(name).read_text("utf-8")


@cache
def report_scripts() -> tuple[str, ...]:
    """
    Return the scripts of a report: the graph's layout, and what draws the life of a plan.
    """
    modules = "".join(_JOINS.sub("", _read(f"{name}.js")) for name in _MODULES)
    return _read("vendor/dagre.min.js"), f'"use strict";\n(() => {{\n{modules}}})();\n'


@cache
def report_style() -> str:
    """
    Return the style of the tasks and graphs in a report.
    """
    return _read("parts.css") + _read("report.css")
