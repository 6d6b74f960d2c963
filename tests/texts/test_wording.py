"""Texts are data: all that is said stands in files, and all that stands there is said."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from string import Template
from zipfile import ZipFile

import pytest

from todoplan import texts as subject
from todoplan.core.plan.model import TASK_FIELDS
from todoplan.core.rules import RULES
from todoplan.dialogue.tools import BASIC_TOOLSETS, TOOLSETS
from todoplan.texts import fill, say, wording

PACKAGE = Path(subject.__file__).parents[1]
SNAPSHOTS = Path(__file__).parent / "snapshots"
SOURCES = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
CODE = "\n".join(SOURCES.values())
FILES = {
    path.stem: re.findall(r"^== (.+) ==$", path.read_text("utf-8"), re.MULTILINE)
    for path in sorted((PACKAGE / "texts").glob("*.txt"))
}
SAID = ("problems", "replies", "repairs", "reminders")
WITH_A_NOTE = {"wrong_shape", "not_answered"}  # the program gives each its own sentence
PROBLEMS = set(re.findall(r'(?:Problem|refuse)\(\s*"([a-z_]+)"', CODE)) - WITH_A_NOTE | set(RULES)
REPAIRS = set(re.findall(r'(?:Repair|repair)\(\s*"([a-z_]+)"', CODE)) | {
    *("code_fence", "closing_tags", "trailing_comma", "noise")
}


def test_texts_are_filled_and_values_are_never_templates():
    """A `$` in a value stays one; a text that is not there is a KeyError, or the default."""
    assert fill("a $b", {"b": "$c"}) == "a $c"
    assert say("replies", "ready", ids="$x") == "now ready: $x"
    assert wording("replies", "nothing", "") == ""
    with pytest.raises(KeyError):
        wording("replies", "nothing")


@pytest.mark.parametrize("file", FILES)
def test_texts_are_well_formed(file):
    """Names stand once, and every text is a template with something in it."""
    assert len(set(FILES[file])) == len(FILES[file])
    for name in FILES[file]:
        text = wording(file, name)
        assert text.strip()
        assert Template(text).is_valid()


def test_every_problem_and_every_repair_has_a_text():
    """Every code that is given in any room is put into words."""
    assert len(PROBLEMS) > 35
    assert len(REPAIRS) > 15
    assert set(FILES["problems"]) >= PROBLEMS
    assert set(FILES["repairs"]) >= REPAIRS


@pytest.mark.parametrize("file", SAID)
def test_no_text_is_unused(file):
    """Every name stands in the code, whole or as the variant that a suffix or prefix makes."""
    made = {"ignored_key_near", "counts_others", "steps_others", "cancelled", "pending"}
    known = {"completed", "in_progress", "blocked_start", "blocked_complete", *made, *RULES}
    fields = {f"task.{name}" for name in TASK_FIELDS}
    unused = {name for name in FILES[file] if f'"{name}"' not in CODE} - known - fields
    assert not unused


PROMPTS = {"system.compact", "system.guided", "waiting", "instructions"}


@pytest.mark.parametrize("file", BASIC_TOOLSETS)
def test_a_tool_set_has_its_prompts_and_no_text_is_unused(file):
    """Each text is a prompt, a tool, an example or an argument that is shown."""
    used, variants = {*PROMPTS}, [each for each in TOOLSETS.values() if each.name == file]
    for tool in [tool for each in variants for tool in each.tools]:
        used |= {tool.key, f"{tool.key}.example", f"{tool.key}.example.later"}
        used |= set(_argument_names(tool.fields, tool.key))
    if any(each.team for each in variants):
        used |= {f"{name}.team" for name in used}
    assert PROMPTS <= set(FILES[file]) <= used


def _argument_names(fields, prefix):
    for field in fields:
        path = f"{prefix}.{field.target}"
        yield from (path, f"{path}.strict", *_argument_names(field.items, path))


def told(toolset):
    """Return all that a model is told about a tool set, as text."""
    parts = [f"[{length}]\n{toolset.system_prompt(length)}" for length in ("compact", "guided")]
    parts[1:1] = [f"[{name}]\n{toolset.text(name)}" for name in ("instructions", "waiting")]
    for strict in (False, True):
        for d in toolset.definitions(strict=strict):
            schema = json.dumps(d.schema, indent=1, ensure_ascii=False)
            parts.append(f"[{d.name}{' strict' * strict}]\n{d.description}\n{schema}")
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize(("name", "toolset"), TOOLSETS.items(), ids=TOOLSETS)
def test_what_a_model_is_told_changes_only_on_purpose(name, toolset):
    """The prompts, descriptions and schemas are those of the snapshot."""
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("TODOPLAN_UPDATE_SNAPSHOTS"):
        file.write_text(told(toolset), "utf-8")
    assert told(toolset) == file.read_text("utf-8")


def test_the_texts_are_read_from_an_archive(tmp_path):
    """A program may be shipped as a zip file, in which they are no files."""
    archive = tmp_path / "program.zip"
    with ZipFile(archive, "w") as made:
        for path in [*PACKAGE.glob("*.py"), *(PACKAGE / "texts").glob("*.*")]:
            made.write(path, path.relative_to(PACKAGE.parent))
    code = f"import sys; sys.path.insert(0, {str(archive)!r}); from todoplan import texts"
    code += "; print(texts.__file__); print(texts.names('reminders')); print(texts.names('none'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    home, found, none = done.stdout.splitlines()
    assert home.startswith(str(archive))
    assert "plan_lost" in found
    assert none == "()"
