"""Which imports the folders of the package may have. The checks read the files and import none."""

import ast
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2] / "todoplan"
BENCHMARKS = ROOT.with_name("benchmarks")
EVERYTHING = ("*",)
MAY = {
    unit: tuple(others.split())
    for unit, others in {
        "": "core dialogue stores planner",
        "errors": "",
        "lazy": "",
        "texts": "",
        "core": "",
        "core.plan": "",
        "core.commands": "core.plan",
        "core.problems": "core.plan",
        "core.events": "core.plan",
        "core.rules": "core.plan core.commands core.problems core.events",
        "core.decide": "core.plan core.commands core.problems core.events core.rules",
        "dialogue.intake": "core",
        "dialogue.tools": "core dialogue.intake",
        "dialogue.calls": "core dialogue.intake dialogue.tools",
        "dialogue.replies": "core dialogue.intake dialogue.tools dialogue.calls",
        "dialogue.guidance": "core dialogue.tools dialogue.calls dialogue.replies",
        "dialogue": "core dialogue",
        "codec": "core",
        "render": "core",
        "stores.base": "core",
        "stores.rows": "stores.base codec core",
        "stores.locks": "",
        "stores.copying": "stores.base core",
        "stores.slot": "stores.base stores.memory codec core",
        "stores.urls": "stores.base stores.file stores.memory stores.postgres stores.sqlite",
        "stores": "stores.base stores.locks stores.rows codec core",
        "planner": "dialogue codec stores.base stores.locks stores.memory stores.slot core",
        "transcripts.dialects": "",
        "transcripts.calls": "core dialogue",
        "transcripts.files": "transcripts.calls",
        "transcripts.readers": "codec dialogue core transcripts.calls transcripts.files",
        "transcripts.reading": (
            "transcripts.calls transcripts.dialects transcripts.files transcripts.readers"
        ),
        "transcripts.replay": "dialogue core transcripts.calls transcripts.reading",
        "transcripts.output": (
            "board.bundle board.messages codec core render transcripts.calls transcripts.files "
            "transcripts.replay"
        ),
        "transcripts.spans": (
            "render telemetry transcripts.calls transcripts.output transcripts.replay"
        ),
        "transcripts.commands": "render transcripts.output transcripts.replay transcripts.spans",
        "web": "",
        "adapters": "planner dialogue codec core stores.base stores.memory stores.slot",
        "adapters.claude_agent_sdk": "planner dialogue core stores.memory adapters.mcp",
        "adapters.mcp": "planner dialogue codec core stores.memory web board.bundle render",
        "board.bundle": "render",
        "board.messages": "codec core render stores.base",
        "board": "board planner render codec core dialogue stores.base typed web",
        "typed": "core render",
        "telemetry": "dialogue core",
        "cli": "*",
        "testing": "*",
    }.items()
} | {"__main__": ("cli", "")}
"""
For each unit, a folder or a part of one: the units that it may import. The unit "" is the package's
own `__init__.py`.
"""
LIBRARIES = {"core": {"attrs"}, "": set(), "errors": set(), "lazy": set()}
_IMPURE = (
    "asyncio io logging multiprocessing os pathlib random secrets shutil socket subprocess "
    "tempfile threading time urllib uuid"
)
IMPURE = {*_IMPURE.split()}
IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "now", "utcnow", "today", "breakpoint"}


class Module:
    """One file: its dotted name below the package, its tree, the modules and names it imports."""

    def __init__(self, root, path):
        parts = path.relative_to(root).with_suffix("").parts
        self.root, self.name = root, ".".join(parts).removesuffix("__init__").strip(".")
        self.is_package = parts[-1] == "__init__"
        self.tree = ast.parse(path.read_text("utf-8"))
        self.unit = unit_of(self.name)

    def imports(self, *, at_import=False):
        """
        Yield (module, name or None); with `at_import` only what runs when the module is imported.
        """
        for node in self._running(self.tree.body) if at_import else ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, None) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{self.name} imports relatively"
                yield from ((node.module or "", alias.name) for alias in node.names)

    def _running(self, body):
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            yield node
            yield from self._running(list(ast.iter_child_nodes(node)))

    def ours(self, **how):
        """Yield (module, name or None) for each import of a module of the package itself."""
        top = self.root.name
        for module, name in self.imports(**how):
            if module == top or module.startswith(f"{top}."):
                inner = module.removeprefix(top).strip(".")
                deeper = f"{inner}.{name}".strip(".")
                yield (deeper, None) if is_module(self.root, deeper) else (inner, name)


def is_module(root, name):
    """Return whether a dotted name below the package is a file or a folder."""
    path = root.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


def unit_of(name):
    """Return the unit of the import table that a module is in."""
    first, *rest = name.split(".")
    if first in {"core", "dialogue", "stores", "adapters", "transcripts", "board"} and rest:
        return f"{first}.{rest[0]}"
    return first


@cache
def modules(root=ROOT):
    """Return all modules of a package."""
    return tuple(Module(root, path) for path in sorted(root.rglob("*.py")))


def allowed(unit):
    """Return the units that a unit may import. An unknown unit may import none."""
    return MAY.get(unit, MAY.get(unit.split(".")[0], ()))


def forbidden_imports(root=ROOT):
    """Yield imports that `MAY` does not allow. A package may import its own modules."""
    for module in modules(root):
        may = allowed(module.unit)
        for target, _ in module.ours():
            unit = unit_of(target)
            below = module.is_package and target.startswith(f"{module.name}.")
            near = unit in {module.unit, "errors", "lazy", "texts", *may}
            fine = below or near or unit.split(".")[0] in may
            if (not fine and may != EVERYTHING) or (unit == "testing" != module.unit):
                yield f"{module.name} imports {target}"


def cycles(root=ROOT):
    """Yield modules that are in an import cycle when they are run, or that import such modules."""
    edges = {}
    for module in modules(root):
        edges[module.name] = {name for name, _ in module.ours(at_import=True)} - {module.name}
    while leaves := {name for name, targets in edges.items() if not targets & set(edges)}:
        edges = {name: targets for name, targets in edges.items() if name not in leaves}
    yield from edges


def impurities(root=ROOT):
    """
    Yield what the core must not import or call, and libraries that a bare import must not need.
    """
    for module in modules(root):
        first = module.unit.split(".")[0]
        for name in {name.split(".")[0] for name, _ in module.imports()}:
            library = name not in sys.stdlib_module_names and name != root.name
            if library and name not in LIBRARIES.get(first, {name}):
                yield f"{module.name} needs {name}"
            if first == "core" and name in IMPURE:
                yield f"{module.name} imports {name}"
        calls = (n.func for n in ast.walk(module.tree) if isinstance(n, ast.Call))
        named = {getattr(call, "id", getattr(call, "attr", "")) for call in calls}
        if first == "core":
            yield from (f"{module.name} calls {name}" for name in named & IMPURE_CALLS)


def bound(tree):
    """Return the names that a module defines at its top level, also those for type checkers."""
    names = set()
    inner = (node for top in tree.body if isinstance(top, ast.If) for node in top.body)
    for node in (*tree.body, *inner):
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        names |= {n.id for t in targets if t for n in ast.walk(t) if isinstance(n, ast.Name)}
        names |= {getattr(node, "name", None)}
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def public(module):
    """Return what `__all__` lists, or `None` where there is none."""
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return None


def wrong_lists(root=ROOT):
    """
    Yield namespaces without `__all__`, and lists with names that do not exist or occur twice.

    A namespace is a package: what users import from. Other modules need no list.
    """
    for module in modules(root):
        here, listed = bound(module.tree) - {None}, public(module)
        if listed is None:
            if here and module.is_package and module.name != "texts":
                yield f"{module.name} has no __all__"
        elif len(set(listed)) < len(listed) or set(listed) - here:
            yield f"{module.name}: __all__ lists {sorted(set(listed) - here)}"


def private_imports(root=ROOT):
    """Yield private names and modules that are imported from another folder."""
    for module in modules(root):
        for target, name in module.ours():
            path = f"{target}.{name or ''}".split(".")
            private = any(part.startswith("_") and part != "__main__" for part in path)
            if private and unit_of(target) != module.unit:
                yield f"{module.name} imports {target}.{name or ''}"


CHECKS = (
    forbidden_imports,
    cycles,
    impurities,
    wrong_lists,
    private_imports,
)
ANYWHERE = (cycles,)
"""Checks that the benchmarks must pass too. They may import any module."""
