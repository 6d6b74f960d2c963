"""
What a model reads after a call: what changed, what is wrong, the list.

`phrasing` tells of an accepted change, `error_texts` of problems, warnings and repairs, `views`
shows tasks. All words stand in `todoplan.texts`.
"""
