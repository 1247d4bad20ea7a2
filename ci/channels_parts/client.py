"""A person's MCP client, made of the official Python SDK: 1.x speaks in sessions (2025-11-25), 2.x without (2026-07-28).

`client.py ANSWER ARGUMENTS`: calls the tool `run` with these (JSON) and answers what it is asked with `send_once`, `no`, `decline` or
`cancel`; `none` cannot be asked. Prints what it was asked and what came back as JSON."""

import contextlib
import importlib.metadata
import json
import os
import sys

import anyio

URL, TOKEN = os.environ["MCP_URL"], os.environ["MCP_TOKEN"]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
MODERN = not importlib.metadata.version("mcp").startswith("1.")
ANSWER, ARGUMENTS = sys.argv[1], json.loads(sys.argv[2])
asked = []


async def answer(_context, params):
    from mcp.types import ElicitResult

    asked.append(params.model_dump(by_alias=True, mode="json"))
    if ANSWER in ("decline", "cancel"):
        return ElicitResult(action=ANSWER)
    return ElicitResult(action="accept", content={"decision": ANSWER})


@contextlib.asynccontextmanager
async def connected():
    from mcp.client.streamable_http import streamable_http_client

    can = {} if ANSWER == "none" else {"elicitation_callback": answer}
    if MODERN:
        import httpx2
        from mcp.client.client import Client

        async with (
            httpx2.AsyncClient(headers=HEADERS, timeout=300) as http,
            Client(streamable_http_client(URL, http_client=http), mode="2026-07-28", **can) as client,
        ):
            yield client
    else:
        import httpx
        from mcp import ClientSession

        async with (
            httpx.AsyncClient(headers=HEADERS, timeout=300) as http,
            streamable_http_client(URL, http_client=http) as (read, write, _),
            ClientSession(read, write, **can) as session,
        ):
            await session.initialize()
            yield session


async def main():
    async with connected() as client:
        it = await client.call_tool("run", ARGUMENTS)
        print(json.dumps({"asked": asked, "came": it.model_dump(by_alias=True, mode="json")}))


anyio.run(main)
