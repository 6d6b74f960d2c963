"""
Joins the page's scripts into one, for self-contained files: reports and the page for MCP hosts.

The live board loads the module files unchanged. Here their import and export lines are removed, and
the modules are concatenated inside one function.
"""

import re
from functools import cache
from importlib.resources import files

from todoplan.render.markup import Markup, element, page

# Each module comes after those that it imports.
_REPORT = ("dom", "model", "rows", "card", "tree", "graph", "report")
_APP = ("dom", "model", "rows", "card", "columns", "tree", "graph", "views", "host", "app")
_JOINS = re.compile(r"^import .*\n|^export (?=\w)", re.MULTILINE)


def _read(name: str) -> str:
    return files("todoplan.board").joinpath("static").joinpath(name).read_text("utf-8")


@cache
def _scripts(names: tuple[str, ...]) -> tuple[str, str]:
    modules = "".join(_JOINS.sub("", _read(f"{name}.js")) for name in names)
    return _read("vendor/dagre.min.js"), f'"use strict";\n(() => {{\n{modules}}})();\n'


def report_scripts() -> tuple[str, str]:
    """Return a report's scripts: the graph layout, and the code that draws a plan's history."""
    return _scripts(_REPORT)


@cache
def report_style() -> str:
    """Return the style sheet for the tasks and graphs of a report."""
    return _read("parts.css") + _read("report.css")


def app_page(plan: str, version: str) -> Markup:
    """Return the page that an MCP host shows. The page asks the host for the resource `plan`."""
    style = "".join(_read(f"{name}.css") for name in ("parts", "views", "app"))
    loading = element("p", "Waiting for the program that shows this page …", class_="quiet")
    main = element("main", loading, id="app", data_plan=plan, data_version=version)
    return page("Plan", main, styles=(style,), scripts=_scripts(_APP))
