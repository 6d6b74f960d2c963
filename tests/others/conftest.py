"""CrewAI wants an environment of its own: where it is not there, its tests are left out."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("crewai") else ["test_crewai.py"]
