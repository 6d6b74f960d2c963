"""
`todoplan new-adapter`: writes the first files of an adapter for a framework.

The files can be imported and tested at once. Each function that has to be filled in raises an error
with a message, so the tests fail with this message until the function is filled in.
"""

import keyword
from pathlib import Path

from todoplan.cli.exits import write_files
from todoplan.errors import UNREADABLE
from todoplan.render.terminal import Screen
from todoplan.texts import say


def new_adapter(name: str, screen: Screen, *, folder: Path = Path()) -> int:
    """Write the module, host, test and page of a new adapter."""
    if not name.isidentifier() or keyword.iskeyword(name):
        screen.complain(
            f"{name!r} cannot be part of a module's name: write letters, digits and _, no digit"
            " first and no word of Python, such as my_framework"
        )
        return UNREADABLE
    adapter, host = f"todoplan_{name}", f"todoplan_{name}_host"
    names = {
        "adapter": f"{adapter}.py",
        "host": f"{host}.py",
        "test": f"test_{adapter}.py",
        "page": f"{adapter}.md",
    }
    title = "".join(map(str.capitalize, name.split("_")))
    words = {"name": name, "title": title, "adapter": adapter, "host": host}
    files = {folder / path: say("adapter", kind, **words) + "\n" for kind, path in names.items()}
    if taken := [str(path) for path in files if path.exists()]:
        screen.complain(f"{', '.join(taken)} would be overwritten: choose another name or --dir")
        return UNREADABLE
    if code := write_files(files, screen):
        return code
    wrote = "".join(f"wrote {path}\n" for path in files)
    screen.write(f"{wrote}next: pytest -x {folder / names['test']}\n")
    return 0
