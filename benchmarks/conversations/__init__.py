"""Scripts of model calls over the whole life of a plan, and their cost in tokens."""
