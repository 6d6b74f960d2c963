"""Every text that a model reads, as data: one file for each subject, filled by `wording`."""
