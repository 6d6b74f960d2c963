"""
What every HTTP server of ours needs, whatever it serves: the MCP server's and the board's one room.

`access` says who may ask, `bodies` how much may be sent, `serving` runs a server. It needs
Starlette and uvicorn, which the extras `board` and `mcp` bring.
"""
