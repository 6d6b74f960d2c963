"""
How replays are printed: `text` for a terminal, `markdown` for an issue, `json_document` for
programs (`json_schemas` promises its shape). The first two share `rows`, a step as a row of a
timeline, and `summaries`, the header and the grouped findings.
"""
