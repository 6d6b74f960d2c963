"""
How replays are printed: `text` for a terminal, `markdown` for an issue, `html_page` for a browser,
`json_document` for programs (`json_schemas` promises its shape). All but the last share `rows`, a
step as a row of a timeline, and `summaries`, the header and the grouped findings. `changes` has the
history of a stored plan.
"""
