"""The suite: every check of an adapter, by its subject."""

from todoplan.testing.adapters.further import Further
from todoplan.testing.adapters.guided import Guided
from todoplan.testing.adapters.mistakes import Mistakes
from todoplan.testing.adapters.offered import Offered
from todoplan.testing.adapters.same_road import SameRoad
from todoplan.testing.adapters.sessions import Sessions
from todoplan.testing.adapters.turns import Turns

__all__ = ["AdapterSuite"]


class AdapterSuite(SameRoad, Mistakes, Turns, Sessions, Offered, Guided, Further):
    """
    Subclass it as `Test...`, declare what the framework can have, and make a host.
    """
