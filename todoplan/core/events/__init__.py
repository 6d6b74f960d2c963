"""
What happened to a plan: the events, and the plan that they lead to.

Read `types` (one class an event), then `apply`, which is total and knows no rule, and `journal`,
one line of a plan's history. `touched` tells which tasks events are about; `merge` makes one
history of two that began at the same plan; `base` and `drift` tell what others have changed since a
hand last looked, and since a person approved.
"""
