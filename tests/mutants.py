"""
Mutants of the package, drawn at random: which do the tests of their room let live?

    python -m tests.mutants --minutes 10 --seed 1
    python -m tests.mutants --only todoplan/core --count 50
    python -m tests.mutants --name "todoplan/core/rules.py:680:28 boolean"

A mutant is the package with one small change: a comparison, a boolean, a number, a text, a returned
value, a row of a table, a decorator, an argument or a call that is left out. Kinds are drawn first,
so that tables and decorated functions have their share. Each mutant runs in a copy of the checkout
with the tests of its room, most likely ones first, none of them slow. The same seed draws the same
mutants as long as the code is the same. At the end, those that live are named.

No test can kill some mutants, and these may live:
- A fast path that is left: the same is done, only later.
- A default that is never reached, and `strict=True` of what was seen to be equally long.
- The first argument of `cast`, which is not looked at.
- The case of an alias: keys are compared without it.
- `weakref_slot=False`, which saves memory, and `None` for `False` where only its truth is used.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WITH_LAWS = {"core", "dialogue", "codec", "planner"}
PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "anyio"]
OPERATORS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
}


class Points(ast.NodeVisitor):  # its methods are named as the syntax is
    """The places of a module where it can be changed: (kind, first byte, last byte, new text)."""

    def __init__(self, source):
        self.source, self.found = source.encode(), []
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.visit(ast.parse(source))

    def span(self, node):
        """Return where a node begins and ends."""
        first = self.starts[node.lineno - 1] + node.col_offset
        return first, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node):
        """Return a node's source."""
        first, last = self.span(node)
        return self.source[first:last].decode()

    def add(self, kind, node, text):
        """Note that a node's source may become another text."""
        self.found.append((kind, *self.span(node), text))

    def between(self, kind, left, operator, right):
        """Note that the operator between two nodes may become another one."""
        first, last = self.span(left)[1], self.span(right)[0]
        text = self.source[first:last].decode()
        old, new = OPERATORS.get(type(operator), ("#", ""))
        if text.count(f"{old} ") == 1 and "#" not in text:
            self.found.append((kind, first, last, text.replace(f"{old} ", f"{new} ")))

    def visit_Compare(self, node):
        """Another comparison."""
        if len(node.ops) == 1:
            self.between("compare", node.left, node.ops[0], node.comparators[0])
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        """The other connective, in its first place."""
        self.between("boolean", node.values[0], node.op, node.values[1])
        self.generic_visit(node)

    def visit_BinOp(self, node):
        """Another operator."""
        self.between("arithmetic", node.left, node.op, node.right)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        """Without its `not`."""
        if isinstance(node.op, ast.Not):
            self.add("boolean", node, f"bool({self.text(node.operand)})")
        self.generic_visit(node)

    def visit_If(self, node):
        """The other branch."""
        if "TYPE_CHECKING" in self.text(node.test):
            return
        self.add("boolean", node.test, f"not ({self.text(node.test)})")
        self.generic_visit(node)

    def visit_IfExp(self, node):
        """The other value."""
        self.add("boolean", node.test, f"(not ({self.text(node.test)}))")
        self.generic_visit(node)

    def visit_Return(self, node):
        """Nothing returned."""
        if node.value is not None and not is_constant(node.value, None):
            self.add("return", node.value, "None")
        self.generic_visit(node)

    def visit_Constant(self, node):
        """Another constant."""
        match node.value:
            case bool():
                self.add("constant", node, str(not node.value))
            case int() | float():
                self.add("constant", node, str(node.value + 1))
            case str() if node.lineno == node.end_lineno:
                self.add("text", node, repr(f"XX{node.value}"))

    def visit_Dict(self, node):
        """One row less."""
        pairs = [*zip(node.keys, node.values, strict=True)]
        for place, (key, value) in enumerate(pairs):
            if key is not None:
                self.without("row", [(k or v, v) for k, v in pairs], place)
                self.visit(value)

    def visit_Tuple(self, node):
        """One row less, of two values in a row and of more."""
        if len(node.elts) > 1 and isinstance(getattr(node, "ctx", None), ast.Load | None):
            for place in range(len(node.elts)):
                self.without("row", [(each, each) for each in node.elts], place)
        self.generic_visit(node)

    visit_List = visit_Set = visit_Tuple

    def without(self, kind, pairs, place):
        """Note that one of several entries may be left out, with the comma that follows it."""
        first, last = self.span(pairs[place][0])[0], self.span(pairs[place][1])[1]
        if place + 1 < len(pairs):
            last = self.span(pairs[place + 1][0])[0]
            if b"*" in self.source[self.span(pairs[place][1])[1] : last]:
                return
        self.found.append((kind, first, last, ""))

    def visit_Call(self, node):
        """One named argument less."""
        named = [word for word in node.keywords if word.arg]
        if getattr(node.func, "id", "") in {"cast", "TypeVar"}:
            return
        if len(named) == len(node.keywords):
            for place in range(len(named)):
                self.without("argument", [(word, word) for word in named], place)
        self.generic_visit(node)

    def visit_Expr(self, node):
        """A call left out; docstrings and examples are left alone."""
        if isinstance(node.value, ast.Call | ast.Await):
            self.add("call", node, "pass")
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_FunctionDef(self, node):
        """One decorator less; annotations are left alone."""
        for each in node.decorator_list:
            name = self.text(each)
            if not name.endswith(("overload", "setter", "override", "final")):
                first, last = self.span(each)
                self.found.append(("decorator", first - 1, last, ""))
        for each in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(each)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Subscript(self, node):
        """Legal words of a type are no values."""
        if getattr(node.value, "id", "") != "Literal":
            self.generic_visit(node)

    def visit_AnnAssign(self, node):
        """The value alone."""
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node):
        """All but the list of public names, and the words of errors."""
        if getattr(node.targets[0], "id", "") not in {"__all__", "msg"}:
            self.visit(node.value)

    def leave(self, node):
        """Nothing in here is changed."""

    visit_JoinedStr = visit_Import = visit_ImportFrom = visit_TypeAlias = visit_Raise = leave


def is_constant(node, value):
    """Say whether a node is one constant."""
    return isinstance(node, ast.Constant) and node.value is value


def mutants(only):
    """Return all mutants by kind: (name, file, what is changed, the same in words)."""
    found = defaultdict(list)
    for path in sorted((ROOT / "todoplan").rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith(only) or place.startswith("todoplan/guides/"):
            continue
        source = path.read_text("utf-8")
        raw = source.encode()
        for kind, first, last, text in Points(source).found:
            line = raw.count(b"\n", 0, first) + 1
            column = first - raw.rfind(b"\n", 0, first) - 1
            name = f"{place}:{line}:{column} {kind}"
            told = f"{raw[first:last].decode()!r} -> {text!r}"
            found[kind].append((name, place, (first, last, text), told))
    return found


def changed(place, change):
    """Return the source of a mutant."""
    first, last, text = change
    raw = (ROOT / place).read_bytes()
    return raw[:first] + text.encode() + raw[last:]


def drawn(found, seed):
    """Yield mutants for ever, or until there are none: a kind, then one of it."""
    chance = random.Random(seed)  # noqa: S311 - a lot
    left = {kind: chance.sample(each, len(each)) for kind, each in sorted(found.items())}
    while left:
        kind = chance.choice([*left])
        mutant = left[kind].pop()
        with suppress(SyntaxError):
            ast.parse(changed(*mutant[1:3]))
            yield mutant
        if not left[kind]:
            del left[kind]


def room_tests(place):
    """Return the tests of a module's room, its own file first."""
    parts = Path(place).with_suffix("").parts[1:]
    own = Path("tests", *parts[:-1], f"test_{parts[-1]}.py")
    room = Path("tests", *parts[: 2 if parts[0] == "adapters" else 1])
    chosen = [own] if (ROOT / own).exists() else []
    if (ROOT / room).is_dir():
        chosen.append(room)
    elif not chosen:
        chosen += [path.relative_to(ROOT) for path in sorted((ROOT / "tests").glob("test_*.py"))]
    if parts[0] in WITH_LAWS:
        chosen.append(Path("tests", "laws"))
    return tuple(map(str, chosen))


class Copy:
    """A copy of the checkout, in which one file at a time is changed."""

    def __init__(self, folder):
        self.folder, self.times = Path(folder), {}
        listed = ["git", "ls-files", "-co", "--exclude-standard"]
        files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
        for name in filter(lambda each: (ROOT / each).is_file(), files.stdout.splitlines()):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        # A test asks git which files the project has.
        for command in (["init", "-q"], ["add", "-A"]):
            subprocess.run(["git", *command], cwd=self.folder, check=True)

    def passes(self, tests, longest=None):
        """Say whether tests pass, in a process of their own and a time."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "HYPOTHESIS_PROFILE": "mutants",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # loading them takes longer than most tests
        }
        run = subprocess.Popen(
            [*PYTEST, *tests],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            said, _ = run.communicate(timeout=longest)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, 9)
            run.communicate()
            return False
        if run.returncode and longest is None:
            sys.exit(f"the tests {' '.join(tests)} fail without any mutant:\n{said.decode()}")
        return run.returncode == 0

    def lives(self, place, source):
        """Say whether the tests of a room pass with a changed module."""
        tests = room_tests(place)
        if tests not in self.times:
            began = time.monotonic()
            self.passes(tests)
            self.times[tests] = time.monotonic() - began
        path = self.folder / place
        whole = path.read_bytes()
        path.write_bytes(source)
        try:
            return self.passes(tests, 30 + 3 * self.times[tests])
        finally:
            path.write_bytes(whole)


def main():
    """Draw, run, count."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--minutes", type=float, default=10.0, help="no mutant is begun later; default 10")
    add("--count", type=int, default=100_000, help="so many at most")
    add("--seed", type=int, default=1)
    add("--only", default="todoplan/", help="files whose path begins so")
    add("--name", help="this one alone")
    given = parser.parse_args()
    found = mutants(given.only)
    print({kind: len(each) for kind, each in sorted(found.items())}, flush=True)  # noqa: T201
    chosen = drawn(found, given.seed)
    if given.name:
        chosen = [each for of in found.values() for each in of if each[0] == given.name]
    end, counts, alive = time.monotonic() + 60 * given.minutes, defaultdict(Counter), []
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        for number, (name, place, change, told) in enumerate(chosen):
            if number >= given.count or time.monotonic() > end:
                break
            became = "survived" if copy.lives(place, changed(place, change)) else "killed"
            counts[name.split(" ")[-1]][became] += 1
            if became == "survived":
                alive.append(f"survived {name}: {told}")
            print(became, f"{name}: {told}", flush=True)  # noqa: T201
    print(*alive, sep="\n")  # noqa: T201 - a report
    for kind, each in sorted(counts.items()):
        print(f"{kind}: {each['killed']} killed, {each['survived']} survived")  # noqa: T201
    every = sum(counts.values(), Counter())
    print(f"all: {every['killed']} killed, {every['survived']} survived, seed {given.seed}")  # noqa: T201


if __name__ == "__main__":
    main()
