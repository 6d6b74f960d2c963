"""What models say and hear over a plan's life: scripts, and what they cost in tokens."""
