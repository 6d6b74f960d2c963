"""
The long form of what the tests of stores ask in seconds: `python -m benchmarks.stores_long`.

`damage` kills writers, and cuts and flips the write-ahead log; `contention` has processes write one
plan; `costs` is one process beside a bare loop of the same statements, and short journals beside
long ones. The figures of a run stand in `benchmarks/stores.md`.
"""
