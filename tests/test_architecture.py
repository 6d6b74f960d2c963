"""The house's walls: who may import whom, what the core must not do."""

import subprocess
import sys

import pytest
from support.architecture import (
    ANYWHERE,
    BENCHMARKS,
    CHECKS,
    ROOT,
    cycles,
    forbidden_imports,
    impurities,
    modules,
    private_imports,
    public,
    wrong_lists,
)

import todoplan

HEAVY = (
    "agents agentscope cattrs hypothesis ijson langchain langchain_core langgraph mcp pydantic"
    " pydantic_ai pytest rich sqlite3 typer"
)


@pytest.mark.parametrize("check", CHECKS)
def test_the_package_keeps_the_walls(check):
    """Imports go down, the core is pure, `__all__` is true, private names stay in their room."""
    assert list(check()) == []


@pytest.mark.parametrize("check", ANYWHERE)
def test_the_benchmarks_keep_the_walls_too(check):
    """No module imports itself by way of others."""
    assert list(check(BENCHMARKS)) == []


BAD = {
    forbidden_imports: [
        ("core/plan/x.py", "from todoplan.dialogue import intake"),
        ("core/plan/x.py", "import todoplan.codec"),
        ("core/plan/x.py", "from todoplan.core.events import types"),
        ("dialogue/tools/x.py", "from todoplan.dialogue.replies import views"),
        ("dialogue/tools/x.py", "from todoplan.codec import encode"),
        ("stores/sqlite.py", "from todoplan.stores.memory import Memory"),
        ("stores/base.py", "from todoplan.stores import memory"),
        ("adapters/one/x.py", "def f():\n    from todoplan.adapters.two import y"),
        ("planner/x.py", "from todoplan.stores.sqlite import Sqlite"),
        ("render/x.py", "from todoplan import Plan"),
        ("cli/x.py", "from todoplan.testing import suite"),
        ("surprise/x.py", "from todoplan.core import plan"),
    ],
    cycles: [
        ("core/plan/x.py", "import todoplan.core.plan.y"),
        ("errors.py", "import todoplan.dialogue.tools.y"),
    ],
    impurities: [
        ("core/plan/x.py", "import uuid"),
        ("core/plan/x.py", "def f():\n    import logging.handlers"),
        ("core/plan/x.py", "import pydantic"),
        ("core/plan/x.py", "datetime.datetime.now()"),
        ("core/plan/x.py", "def f():\n    print(open('x'))"),
        ("__init__.py", "import cattrs"),
    ],
    wrong_lists: [
        ("core/plan/__init__.py", "def f(): ..."),
        ("core/plan/x.py", "__all__ = ['f', 'g']\ndef f(): ..."),
        ("core/plan/x.py", "__all__ = ['f', 'f']\nf = 1"),
    ],
    private_imports: [
        ("dialogue/tools/x.py", "from todoplan.core.plan.plan import _head"),
        ("dialogue/tools/x.py", "from todoplan.core.plan._plan import head"),
    ],
}


@pytest.mark.parametrize(
    ("check", "path", "text"), [(check, *bad) for check, files in BAD.items() for bad in files]
)
def test_a_breach_is_found(check, path, text, tmp_path):
    """Each check fails on a package made wrong on purpose, and passes on it made right."""
    root = tmp_path / "todoplan"
    good = {
        "core/plan/x.py": "",
        "core/plan/y.py": "from todoplan.core.plan import x\n__all__ = ['x']",
        "dialogue/tools/y.py": "from todoplan.core.plan import y\n"
        "from todoplan.errors import E\n__all__ = ['E']",
        "cli/y.py": "",
        "errors.py": "",
        "stores/memory.py": "",
    }
    for name, content in good.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    assert list(check(root)) == []
    modules.cache_clear()
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    assert list(check(root)) != []


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import todoplan", f"attr {HEAVY}"),
        ("from todoplan import Plan, commands, decide, plan_of, replay, STRICT, Problem", HEAVY),
    ],
)
def test_bare_import_is_light(code, unwanted):
    """`import todoplan` loads nothing, the core neither cattrs nor a framework nor an extra."""
    code = f"import sys\n{code}\nprint(*(set('{unwanted}'.split()) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT.parent
    )
    assert done.stdout.split() == []


def test_every_name_of_a_lazy_package_is_there_when_asked_for():
    """What it lists it has; any other name is no attribute of it."""
    assert {getattr(todoplan, name) is not None for name in todoplan.__all__} == {True}
    assert set(todoplan.__all__) <= set(dir(todoplan))
    with pytest.raises(AttributeError, match="'todoplan' has no attribute 'plan_off'"):
        _ = todoplan.plan_off


def test_the_root_has_few_names():
    """What a user looks for first, and little else: at most 35 names."""
    root = next(module for module in modules() if not module.name)
    assert len(public(root) or ()) <= 35
