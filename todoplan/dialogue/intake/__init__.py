"""
Reading the arguments of a model's call: repaired if the meaning is clear, otherwise refused.

A refusal names every fault. Read `read` first: it has the principles, and reads a call's arguments
by the `fields` of a tool. `parsing` turns text into plain data. `values` has a reader for each kind
of field, and collects repairs and problems; it uses the words in `vocabulary`, and `cleaning` for
texts. `repairs` limits what a guess may do. `application_lists` repairs a list that was written by
a program, not by a model.
"""
