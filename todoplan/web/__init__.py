"""
HTTP server code that the MCP server and the board share.

`access` checks whether a request is allowed, `bodies` limits its size, `serving` runs a server.
Starlette and uvicorn are required; the extras `board` and `mcp` install them.
"""
