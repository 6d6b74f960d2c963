"""Speed, tokens and memory of todoplan and its peers, measured in one run."""
