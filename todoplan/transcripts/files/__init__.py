"""
From bytes to JSON: what can be told of a file before anyone asks which tool wrote it.

Read `source` (opening and counting bytes), then the three forms that a file may have: `lines` (one
object a line), `document` (one JSON document, streamed) and `markdown` (fenced blocks under
headings). `json_text` and `javascript` parse texts that were found inside. `probe` takes the first
look at a file, from which its form and then its dialect are told. No file is held in memory.
"""
