"""The plumbing of one framework each; whatever two of them need stands below, in the dialogue."""
