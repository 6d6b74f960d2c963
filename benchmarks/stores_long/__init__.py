"""
A longer version of the store tests, which take seconds: `python -m benchmarks.stores_long`.

`damage` kills writers, and truncates and corrupts the write-ahead log. `contention` has several
processes write one plan. `costs` compares one process with a bare loop of the same statements, and
short journals with long ones. `benchmarks/stores.md` has the figures of a run.
"""
