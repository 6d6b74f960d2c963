"""
Verification by the program that a task is done, instead of trusting the model's claim.

Read `verifier` first: what a verifier is, and how it is called within its time limit. `looking`
answers the calls of a turn and runs verifiers in between. `todoplan.dialogue.verifying` decides
what follows from the findings.
"""
