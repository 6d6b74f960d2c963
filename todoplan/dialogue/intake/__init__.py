"""
What a model sent, made into values: mended where the meaning is clear, else refused with every
fault.

Read `read`, which takes a call's arguments against the `fields` of a tool. Most calls need no mend
and go the short way (`fast_read`, `fast_objects`, `fast_values`); the others pass `jsonish` and
`literals` (text to data), `envelopes` (what the arguments were packed in) and `values` (one reader
a kind of field, by the words in `vocabulary`, cleaned in `cleaning`). `findings` collects
`repairs` and faults on the way. `application_lists` mends a list that a program wrote.
"""
