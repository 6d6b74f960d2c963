"""
Plans as Markdown, Mermaid, DOT and HTML, and tools to build HTML safely.

HTML is built from elements, which escape their texts. A page is one file that loads no other files.
Its content security policy allows only our own style sheets and scripts, identified by their
hashes, and no images, fonts, forms or connections.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import TABLE, Kind
from todoplan.render.outline import arrows, aside, clip, lines, nesting, summary
from todoplan.texts import one_line


class Markup(str):
    """Text that is already HTML. Any other text is cleaned and escaped when added to an element."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str) -> Markup:
    """
    Return an element with its children.

    A trailing underscore in the name of an attribute is removed (`class_`); other underscores
    become hyphens. Attributes with an empty value are omitted.
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(one_line(text))}"'
        for name, text in attributes.items()
        if text
    )
    return Markup(f"<{tag}{given}>{joined(children)}</{tag}>")


def joined(children: Iterable[str]) -> Markup:
    """Return the children as the content of an element, one on each line."""
    # Without the newlines, screen readers and copying would join the texts of neighbouring boxes to
    # one word.
    return Markup(
        "\n".join(
            child if isinstance(child, Markup) else escape(one_line(child)) for child in children
        )
    )


@cache
def style() -> str:
    """Return the style sheet that all pages share."""
    return files("todoplan.render").joinpath("page.css").read_text("utf-8")


def page(title: str, *body: str, styles: Sequence[str] = (), scripts: Sequence[str] = ()) -> Markup:
    """
    Return a whole HTML page, including its document type.

    `styles` and `scripts` are our own code; the scripts come after the body.
    """
    sheets = (style(), *styles)
    # Our styles and scripts are allowed by their hashes, so an injected style or script would not
    # run. Trusted types prevent our scripts from parsing text as markup.
    allowed = ""
    for kind, texts in (("style", sheets), ("script", scripts)):
        digests = [b64encode(sha256(text.encode()).digest()).decode() for text in texts]
        if digests:
            allowed += f"; {kind}-src " + " ".join(f"'sha256-{digest}'" for digest in digests)
    if scripts:
        allowed += "; require-trusted-types-for 'script'; trusted-types 'none'"
    policy = f"default-src 'none'{allowed}; base-uri 'none'; form-action 'none'"
    head = (
        f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"{element('title', title)}\n{''.join(f'<style>{sheet}</style>' for sheet in sheets)}"
    )
    last = "".join(f"<script>{script}</script>\n" for script in scripts)
    return Markup(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n'
        f"<body>\n{joined(body)}\n{last}</body>\n</html>\n"
    )


def data_block(element_id: str, data: object) -> Markup:
    """Return an element with JSON data for a script; no text in the data can close the element."""
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{escape(element_id)}">{text}</script>')


def table(rows: Iterable[Sequence[str]]) -> Markup:
    """Return an HTML table; the first row has the titles of the columns."""
    head, *others = rows
    titles = element("thead", element("tr", *(element("th", text, scope="col") for text in head)))
    lines = (element("tr", *(element("td", text) for text in row)) for row in others)
    # The box around the table scrolls sideways on a phone, so that the page does not.
    return element("div", element("table", titles, element("tbody", *lines)), class_="wide")


# -------- markdown --------
# A plan as a GitHub task list in Markdown.


# A dot between two characters is escaped too, because some sites turn "todo.md" into a link.
_MARKUP = re.compile(r"[!#$&*+:<=>@\[\\\]^_`{|}~]|(?<=\S)\.(?=\S)")
_INDENT = "  "


def escaped(text: str) -> str:
    """Return cleaned text on one line, with every markup character escaped."""
    return _MARKUP.sub(r"\\\g<0>", one_line(text))


def to_markdown(plan: Plan) -> str:
    """
    Return the summary and a task list, one line for each task, with subtasks indented.

    All markup in texts is escaped. Some sites turn @names and #numbers into links after they have
    rendered the Markdown; escaping cannot prevent that.
    """
    rows = []
    for line in lines(plan):
        # A box has only two states, so every other status is written as a word.
        box = "[x]" if line.status is Status.COMPLETED else "[ ]"
        plain = line.status in {Status.PENDING, Status.COMPLETED}
        notes = line.notes if plain else (line.words, *line.notes)
        text = escaped(f"{line.id} {line.text}{aside(notes)}")
        rows.append(f"{_INDENT * line.level}- {box} {text}")
    return "\n".join((escaped(summary(plan)), "", *rows)) if rows else summary(plan)


# -------- mermaid --------
# Mermaid diagrams: a plan as a flowchart, and the transition table as a state diagram.


_WIDTH = 80
_MERMAID_INDENT = "    "
# Texts in diagrams have run as scripts before: CVE-2025-54880 and -54881 of Mermaid. Everything but
# letters, digits and spaces becomes an entity, because quotation marks cannot be escaped. Mermaid
# reads any line with "direction LR" as a statement, even inside quotation marks, so the "d" becomes
# an entity too.
_MERMAID_MARKUP = re.compile("[^A-Za-z0-9 \x80-\U0010ffff]|[dD](?=irection)")
_STYLES = (
    "    classDef pending stroke-dasharray:4 3",
    "    classDef in_progress stroke-width:3px",
    "    classDef completed opacity:0.6",
    "    classDef cancelled opacity:0.4,stroke-dasharray:1 3",
    "    classDef failed stroke:red,stroke-width:2px",
    "    classDef waiting stroke:orange,stroke-dasharray:4 3",
)


def to_mermaid(plan: Plan) -> str:
    """
    Return a flowchart with a node for each task and an arrow from each blocker.

    A node is named "t7" for task 7; its class is the status, or "waiting". A task with subtasks is
    a subgraph with such a name, which contains the subtasks. Labels are cut at 80 columns. By
    default, Mermaid draws at most 500 arrows and 50,000 characters.
    """
    rows = lines(plan)
    if not rows:
        return 'flowchart TD\n    empty["no tasks"]'
    drawn = ["flowchart TD"]
    for row, opens, ends in nesting(rows):
        indent = _MERMAID_INDENT * (row.level + 1)
        label = _MERMAID_MARKUP.sub(
            lambda found: "#quot;" if found[0] == '"' else f"#{ord(found[0])};",
            clip(row.caption, _WIDTH),
        )
        box = f'{row.node}["{label}"]'
        drawn.append(f"{indent}subgraph {box}" if opens else f"{indent}{box}:::{row.kind}")
        drawn += [f"{_MERMAID_INDENT * (row.level - number)}end" for number in range(ends)]
    # The class of a subgraph cannot be written in the line that opens the subgraph.
    drawn += [f"    class {row.node} {row.kind}" for row, opens, _ in nesting(rows) if opens]
    drawn += [f"    {blocker} --> {blocked}" for blocker, blocked in arrows(rows)]
    return "\n".join((*drawn, *_STYLES))


def lifecycle_diagram() -> str:
    """Return the transition table as a state diagram: an arrow for each cell that moves a task."""
    drawn = ["stateDiagram-v2"]
    for (status, action), move in TABLE.items():
        kind = "" if move.kind is Kind.STEP else f" ({move.kind})"
        if move.kind is not Kind.STAY:
            drawn.append(f"    {status} --> {move.target}: {action}{kind}")
    return "\n".join(drawn)


# -------- dot --------
# A plan as a Graphviz graph in the DOT language.


# Each style is for nodes and clusters. A filled cluster needs a colour, because the default is
# black.
_DOT_STYLES = {
    "pending": "style=dashed",
    "in_progress": "style=bold",
    "completed": "style=filled, fillcolor=lightgrey",
    "cancelled": "style=dotted",
    "failed": "style=solid, color=red",
    "waiting": "style=dashed, color=orange",
}
# "&" is escaped too: Graphviz reads entities such as &quot; in labels.
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})


def to_dot(plan: Plan) -> str:
    """
    Return a digraph with a node for each task and an edge from each blocker.

    A node is named "t7" for task 7; its style shows the status. A task with subtasks is a cluster
    ("cluster_t7") that contains them. Its node is an invisible point in the cluster, where edges
    start and end. Labels are cut at 80 columns.
    """
    rows = lines(plan)
    clusters = {row.node for row, opens, _ in nesting(rows) if opens}
    # Edges can end at the border of a cluster only in a compound graph.
    drawn = ["digraph plan {", *(["  compound=true;"] if clusters else []), "  node [shape=box];"]
    for row, opens, ends in nesting(rows):
        indent = _INDENT * (row.level + 1)
        look = f'label="{clip(row.caption, _WIDTH).translate(_ESCAPES)}", {_DOT_STYLES[row.kind]}'
        if opens:
            drawn.append(f"{indent}subgraph cluster_{row.node} {{")
            drawn.append(f"{indent}  graph [{look}];")
            drawn.append(f"{indent}  {row.node} [shape=point, style=invis];")
        else:
            drawn.append(f"{indent}{row.node} [{look}];")
        drawn += [f"{_INDENT * (row.level - number)}}}" for number in range(ends)]
    for blocker, blocked in arrows(rows):
        sides = (("ltail", blocker), ("lhead", blocked))
        borders = ", ".join(f"{side}=cluster_{node}" for side, node in sides if node in clusters)
        drawn.append(f"  {blocker} -> {blocked}{borders and f' [{borders}]'};")
    return "\n".join((*drawn, "}"))


# -------- page --------
# A plan as a fragment of HTML.


def to_html(plan: Plan) -> str:
    """
    Return one `<ul class="todoplan">` with an item for each task.

    The class of an item is the status of its task. An item also has the class "waiting" if the task
    waits, and "verified" or "unverified" if the task is completed and has a check or evidence.
    Subtasks are a nested list. All texts are escaped.
    """
    inner = ""
    for line, opens, ends in nesting(lines(plan)):
        classes: list[str] = [line.status, *(["waiting"] if line.is_waiting else [])]
        if line.verified is not None:
            classes.append("verified" if line.verified else "unverified")
        parts = [("mark", line.mark), ("id", line.id), ("text", line.text)]
        parts += [("note", note) for note in line.notes]
        spans = [f'<span class="{kind}">{escape(text)}</span>' for kind, text in parts]
        inner += f'<li class="{" ".join(classes)}">{" ".join(spans)}'
        inner += ("\n<ul>\n" if opens else "</li>\n") + "</ul></li>\n" * ends
    inner = inner or '<li class="empty">no tasks</li>\n'
    return f'<ul class="todoplan" aria-label="{escape(summary(plan))}">\n{inner}</ul>'
