"""Speed, tokens and memory of todoplan and its peers, measured in one run."""

import sys
from pathlib import Path

# Some modules use a server, clients or writers of the tests, from the package `support`.
_TESTS = str(Path(__file__).parents[1] / "tests")
if _TESTS not in sys.path:
    sys.path.append(_TESTS)
