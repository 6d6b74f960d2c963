"""The entry of the `todoplan` command: what it needs is imported only when it is called."""

import importlib
import io
import sys

import todoplan
from todoplan.cli import INTERRUPTED, UNREADABLE

_EXTRA = frozenset({"typer", "rich"})


def main() -> None:
    """
    Run the command line, and exit with its code.

    Raises:
        SystemExit: always; with 2 and a line on stderr if the extra "cli" is not installed.
    """
    # A task's text may hold what the terminal's encoding lacks; output must not end there.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    if sys.argv[1:] == ["--version"]:
        # Status lines and scripts ask for it: without the libraries it takes a tenth of the time.
        sys.stdout.write(f"{todoplan.__version__}\n")
        sys.exit(0)
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] not in (["--help"], ["-h"]):
        # A coding agent waits for it, at every prompt: it needs the standard library alone.
        importlib.import_module("todoplan.cli.hook").run(sys.argv[2:])
        sys.exit(0)
    try:
        # A shell that completes a line gives no arguments, and help begins with a dash: both take
        # the long road.
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
