"""
What a model sent, made into values: repaired where the meaning is clear, else refused with every
fault.

Read `read` first: the theory, and the careful way of a call's arguments against the `fields` of a
tool. On that way `parsing` and `literals` make text to plain data, `containers` takes off what it
was packed in, and `values` has a reader for each kind of field, by the words in `vocabulary` and
with texts cleaned in `cleaning`; `findings` collects faults and `repairs`, where it also stands
what a guess may not do. `fast_read` is the other way, for calls that need none of this.
`application_lists` repairs a list that a program wrote, not a model.
"""
