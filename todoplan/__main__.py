"""The entry point of the `todoplan` command. It imports only the modules that a call needs."""

import importlib
import io
import sys

import todoplan
from todoplan.errors import INTERRUPTED, UNREADABLE

_EXTRA = frozenset({"typer", "rich"})


def main() -> None:
    """
    Run the command line, and exit with its code.

    Raises:
        SystemExit: always; with 2 and a line on stderr if the extra "cli" is not installed.
    """
    # Printing must not fail if a task's text has characters that the terminal's encoding lacks.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    if sys.argv[1:] == ["--version"]:
        # Status lines and scripts call this often. Without the imports of the command line, it
        # takes a tenth of the time.
        sys.stdout.write(f"{todoplan.__version__}\n")
        sys.exit(0)
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] not in (["--help"], ["-h"]):
        # A coding agent waits for the hook at every prompt. So the hook imports only the standard
        # library.
        importlib.import_module("todoplan.cli.hook").run(sys.argv[2:])
        sys.exit(0)
    try:
        # `run_short` carries out some commands without typer, which is slow to import. Shell
        # completion (no arguments) and help (a leading dash) always need typer.
        if sys.argv[1:] and not sys.argv[1].startswith("-"):
            code = importlib.import_module("todoplan.cli.plans").run_short(sys.argv[1:])
            if code is not None:
                sys.exit(code)
        importlib.import_module("todoplan.cli.app").run(sys.argv[1:])
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        sys.stderr.write(
            f"todoplan: the command line needs {error.name}: pip install 'todoplan[cli]'\n"
        )
        sys.exit(UNREADABLE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
