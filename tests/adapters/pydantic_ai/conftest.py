"""These tests need the extra; without it they are left out, except in CI, where that is a fault."""

import os
from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("pydantic_ai") or os.environ.get("CI") else ["test_*.py"]
