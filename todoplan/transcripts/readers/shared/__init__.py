"""
What dialects have in common. `base` says what a dialect's reader is; `join` puts answers to their
calls; `values` is careful access to JSON of which nothing is known; `conversation` reads a chat
message in anyone's shape.
"""
