"""
A thread whose plan lives in a store: `mark` is what its state holds instead, `look` what a request
finds, and `plan_store` how tools, guidance and edits reach the plan.
"""
