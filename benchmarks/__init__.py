"""Speed, tokens and memory of todoplan beside its peers, measured in one run."""
