"""
The tables of the guides that are drawn from the code: `python tests/support/reference.py` writes.

A table stands in a page behind a mark, `<!-- table: codes -->`; a test holds that each is what is
drawn here, so a new rule, code, limit or setting fails the tests until the pages are written anew.
"""

import inspect
import re
import sys
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

import attrs
from support.docs import PAGES, page

from todoplan.cli.plans import VIEWS_VERSION
from todoplan.codec import VERSION, json_schema
from todoplan.codec.documents import JOURNAL, PLAN
from todoplan.core.plan.model import TASK_FIELDS
from todoplan.core.rules import PRESETS, RULES, Limits
from todoplan.dialogue import InputLimits, Settings
from todoplan.dialogue import guidance as conversation
from todoplan.dialogue.guidance import REMINDERS
from todoplan.stores.file import FORMAT as PLANS
from todoplan.texts import names
from todoplan.transcripts.commands import STATS_FORMAT as STATS
from todoplan.transcripts.output import REPLAY_FORMAT as REPLAY

MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n)((?:\|[^\n]*\n)*)")
FRAMES = {"at", "arguments", "error", "example", "more", "note", "other", "untitled", "warning"}
"""Parts of a sentence, not sentences."""


def table(head, rows):
    """Return a Markdown table; texts in it can neither end a cell nor open a tag."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def plain(text):
    """Return a text as it may stand in a cell."""
    escaped = re.sub(r"([|<>*\[\]])", r"\\\1", " ".join(text.split()))
    return re.sub(r"(?<!`)(\$\w+)", r"`\1`", escaped)  # a pair of $ alone would be a formula


def code(text):
    """Return a name in code."""
    return f"`{text}`"


def rules():
    """
    Return the presets, with the rules that each has at "error" and at "warn"; first what all have.
    """
    levels = {name: [p.severity(name).value for p in PRESETS.values()] for name in RULES}
    common = [name for name, found in levels.items() if set(found) == {"error"}]
    rows = [["every preset", ", ".join(map(code, common)), ""]]
    for number, preset in enumerate(PRESETS):
        rows.append([code(preset)])
        for level in ("error", "warn"):
            own = [n for n, found in levels.items() if found[number] == level and n not in common]
            rows[-1].append(", ".join(map(code, own)))
    return table(["preset", "error", "warn"], rows)


def objections():
    """Return the rules with what each objects to, as the docstring of its check says."""
    rows = []
    for name, rule in RULES.items():
        told = " ".join((inspect.getdoc(rule.check) or "").split())
        assert told.startswith("Report "), f"the docstring of _{name}: Report ..."
        rows.append([code(name), plain(told.removeprefix("Report ").rstrip("."))])
    return table(["rule", "it objects to"], rows)


def codes():
    """Return every problem code that is no rule."""
    return _codes_of("problems")


def _codes_of(file):
    listed = [name for name in names(file) if name not in FRAMES]
    shown = [code(name) for name in listed if name.removeprefix("rule.") not in RULES]
    return table(["codes"], [[", ".join(shown)]])


def repairs():
    """Return the codes of the repairs that a reply may tell of."""
    return _codes_of("repairs")


def findings():
    """Return the codes of the findings of a replay that are no rules."""
    return _codes_of("findings")


def _meanings(kind):
    text = " ".join((inspect.getdoc(kind) or "").partition("Raises:")[0].split())
    found = re.findall(r"`(\w+)`: (.*?)(?= `\w+`: |$)", text)
    return {name: meaning for name, meaning in found if name in attrs.fields_dict(kind)}


def settings():
    """Return the settings of guidance, as their docstring tells them."""
    told = _meanings(Settings)
    # Of the answer that is let go or raised, the docstring speaks with `unfinished`.
    told["on_ignored"] = 'what comes once `unfinished` is used up: `"let_go"` or `"raise"`'
    rows = (
        [code(field.name), code(repr(field.default)), _table_text(told[field.name])]
        for field in attrs.fields(Settings)
    )
    return table(["setting", "default", "meaning"], rows)


def _table_text(text):
    return text.rstrip(".").replace("|", r"\|")


def limits():
    """Return the limits of a plan with the rule that holds each."""
    rows = []
    for field in attrs.fields(Limits):
        rule, counts = field.metadata["rule"], field.metadata["counts"]
        assert rule in RULES
        rows.append([code(field.name), f"{field.default:,}", counts, code(rule)])
    return table(["limit", "default", "it counts", "rule"], rows)


INPUT = {
    "chars": "characters of the arguments",
    "depth": "levels of nesting",
    "items": "entries of a list",
    "strict": (
        "`True`: a call with an unknown key is refused; `False`: the key is ignored, and the reply"
        " says so"
    ),
}


def input_limits():
    """Return what one call may bring."""
    rows = []
    for field in attrs.fields(InputLimits):
        default = field.default if isinstance(field.default, bool) else f"{field.default:,}"
        rows.append([code(field.name), default, INPUT[field.name]])
    return table(["limit of one call", "default", "meaning"], rows)


def fields():
    """
    Return a task's keys in the stored JSON by the kind of their value, those that are always there
    first.
    """
    task = json_schema()["$defs"]["task"]
    assert set(task["properties"]) == set(TASK_FIELDS)
    rows = {}
    for name in sorted(task["properties"], key=lambda name: name not in task["required"]):
        rows.setdefault(_kind(task["properties"][name]).removesuffix(" or null"), []).append(name)
    always = ", ".join(map(code, task["required"]))
    shown = [[", ".join(map(code, names)), kind] for kind, names in rows.items()]
    return table(["key of a task", "value"], [*shown, [always, "always there"]])


def _kind(schema):
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        told = json_schema()["$defs"][name]
        if "properties" in told:
            return f"object of {', '.join(map(code, told['properties']))}"
        return ", ".join(map(code, told["enum"])) if "enum" in told else f"a {name}"
    kind = schema["type"]
    word = {"string": "text", "null": "null", "array": "list of ids", "object": "object"}
    listed = [kind] if isinstance(kind, str) else kind
    said = " or ".join(word.get(each, each) for each in listed)
    return f"{said} ({schema['description']})" if "description" in schema else said


def documents():
    """Return the kinds of documents, by the name in their head."""
    known = {
        PLAN: (VERSION, "one plan", "`codec.dump_plan`, `load_plan`, `todoplan show`"),
        JOURNAL: (VERSION, "a journal, a line for each entry", "`codec.dump_journal`"),
        PLANS: (VERSION, "the file of a `FileStore`", "`FileStore`, `todoplan mcp --file`"),
        REPLAY: (1, "recordings, replayed", "`todoplan replay --json`"),
        STATS: (1, "recordings, counted", "`todoplan stats --json`"),
        "todoplan/COMMAND": (VIEWS_VERSION, "what a command shows", "`todoplan COMMAND --json`"),
    }
    rows = ([code(form), *told] for form, told in known.items())
    return table(["format", "version", "what it is", "by"], rows)


def reminders():
    """Return the reminders in order of precedence, by what each is about."""
    kinds = {
        about: [code(kind) for kind, each in REMINDERS.items() if each.sends_back is sends_back]
        for about, sends_back in (("the next request", False), ("a final answer", True))
    }
    return table(["it is about", "reminders"], [[k, ", ".join(v)] for k, v in kinds.items()])


def finish_reasons():
    """Return which finish reasons are read, and as what."""
    rows = [
        ["no final answer: a tool is to run", _words(conversation._TOOL_FINISHES)],
        ["a refusal: asking again is no help", _words(conversation._REFUSING_FINISHES)],
        ["anything else", "as the message looks: one without calls is a final answer"],
    ]
    return table(["read as", "finish reason, without case and punctuation"], rows)


def _words(found):
    return ", ".join(map(code, sorted(found)))


def capabilities():
    """
    Return what some adapters cannot do, as their conformance suites declare; "" without the
    frameworks.
    """
    if not all(map(find_spec, ("langgraph", "agentscope", "agents", "pydantic_ai", "mcp"))):
        return ""
    file = Path(__file__).parents[1] / "adapters" / "test_shape.py"
    spec = spec_from_file_location("shape_of_adapters", file)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return f"{module.matrix()}\n"


TABLES = {
    "rules": rules,
    "objections": objections,
    "codes": codes,
    "repairs": repairs,
    "findings": findings,
    "settings": settings,
    "limits": limits,
    "input-limits": input_limits,
    "fields": fields,
    "documents": documents,
    "reminders": reminders,
    "finish-reasons": finish_reasons,
    "capabilities": cache(capabilities),
}


def redrawn(name):
    """Return a page with every table as the code has it now."""
    return MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]() or found[3]}", page(name))


if __name__ == "__main__":
    for each, path in PAGES.items():
        path.write_text(redrawn(each), "utf-8")
