"""
From planning calls to plans and findings, by way of our own core.

Read `recording` (a whole file: its steps, its lanes, its findings), then `call_replay` (one call,
and the theory), then what that needs: `recorded_tools` (other systems' arguments as our commands),
`translation` (their ids as ours), `shown_state` (how the plan stood, by the answers of tools),
`findings` (what is said about it).
"""
