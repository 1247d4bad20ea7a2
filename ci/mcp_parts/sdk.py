"""The official Python SDK as a client: 1.x speaks in sessions (2025-11-25), 2.x without (2026-07-28).

A line a check, `ok …` or `no …`; the exit code is 1 where one is not well."""

import contextlib
import importlib.metadata
import os
import sys
import time

import anyio

URL, TOKEN = os.environ["MCP_URL"], os.environ["MCP_TOKEN"]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
MODERN = not importlib.metadata.version("mcp").startswith("1.")
MINE = f"weather-py{2 if MODERN else 1}"
GONE = f"cancelled-py{2 if MODERN else 1}"
STEPS = [{"fill": {"label": "City", "value": "{city}"}}, {"press": "Enter"}, {"wait_for": {"text": "7-day forecast for {city}"}}]


class Seen:
    asked = []
    changes = 0


async def answer(_context, params):
    from mcp.types import ElicitResult

    Seen.asked.append(params)
    return ElicitResult(action="accept", content={"query": "lantern"})


async def told(message):
    if "list_changed" in repr(message) or "ListChanged" in repr(message):
        Seen.changes += 1


@contextlib.asynccontextmanager
async def connected():
    """A client and the revision that it speaks."""
    from mcp.client.streamable_http import streamable_http_client

    if MODERN:
        import httpx2
        from mcp.client.client import Client

        async with (
            httpx2.AsyncClient(headers=HEADERS, timeout=120) as http,
            Client(streamable_http_client(URL, http_client=http), mode="2026-07-28", elicitation_callback=answer) as client,
            client.listen(tools_list_changed=True) as changes,
            anyio.create_task_group() as tasks,
        ):

            async def listen():
                async for _ in changes:
                    Seen.changes += 1

            tasks.start_soon(listen)
            yield client, client.protocol_version
            tasks.cancel_scope.cancel()
    else:
        import httpx
        from mcp import ClientSession

        async with (
            httpx.AsyncClient(headers=HEADERS, timeout=120) as http,
            streamable_http_client(URL, http_client=http) as (read, write, _),
            ClientSession(read, write, elicitation_callback=answer, message_handler=told) as session,
        ):
            it = await session.initialize()
            yield session, it.protocolVersion


def plain(it):
    return it.model_dump(by_alias=True, mode="json")


failed = []


@contextlib.contextmanager
def check(name):
    try:
        yield
        print(f"ok {name}", flush=True)
    except Exception as err:  # whatever the SDK throws is the finding
        failed.append(name)
        print(f"no {name}: {type(err).__name__} {str(err).splitlines()[:1]}", flush=True)


def must(holds, why):
    if not holds:
        raise AssertionError(str(why)[:300])


async def until(what, why, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if await what():
            return
        await anyio.sleep(0.05)
    raise AssertionError(why)


async def main():
    async with connected() as (client, spoken):

        async def call(name, args, **more):
            return plain(await client.call_tool(name, args, **more))

        async def names():
            more = {"cache_mode": "refresh"} if MODERN else {}
            return [it.name for it in (await client.list_tools(**more)).tools]

        def learn(name, **more):
            args = {"task": "Weather for {city}", "name": name, "url": "http://city.test/", "steps": STEPS}
            return call("recipe_learn", {**args, "params": {"city": "Lisbon"}, "second": {"city": "Oslo"}}, **more)

        with check("connect"):
            must(spoken == ("2026-07-28" if MODERN else "2025-11-25"), f"it speaks {spoken}")
        with check("list"):
            tools = {it.name: plain(it) for it in (await client.list_tools()).tools}
            it = tools["recipe_shop-search"]
            must(it["inputSchema"]["properties"]["query"]["type"] == "string", it)
            must(it["outputSchema"]["type"] == "object", it)
        # The SDK checks structured content against the output schema, and raises where it does not fit.
        with check("call"):
            it = await call("recipe_shop-search", {"query": "umbrella"})
            must(not it["isError"] and it["structuredContent"]["data"], it)
            must("umbrella" in it["content"][0]["text"].lower(), it)
        with check("an error is the tool's"):
            it = await call("commis_run", {"name": "there-is-none"})
            must(it["isError"] and it["structuredContent"]["error"]["error_code"] == "RECIPE_NOT_FOUND", it)
        with check("a value that is missing is asked for"):
            it = await call("recipe_shop-search", {})
            must(not it["isError"] and len(Seen.asked) == 1, it)
            must("lantern" in it["content"][0]["text"].lower(), it)
        with check("read and prompt"):
            it = plain(await client.read_resource("commis://recipes/shop-search"))
            must("shop.test" in it["contents"][0]["text"], it)
            it = plain(await client.get_prompt("answer", {"task": 'the "umbrella"'}))
            must(it["messages"][0]["content"]["text"].endswith(': the "umbrella"'), it)
        with check("learn, with progress"):
            seen = []

            async def progress(at, total, message):
                seen.append((at, total, message))

            it = await learn(MINE, progress_callback=progress)
            must(not it["isError"] and it["structuredContent"]["data"]["outcome"] == "verified", it)
            must(len(seen) >= 3 and seen == sorted(set(seen)) and all(total and what for _, total, what in seen), seen)
        with check("the list changed"):

            async def changed():
                return Seen.changes > 0

            await until(changed, "nothing was told")
            must(f"recipe_{MINE}" in await names(), "the new tool is not listed")
            it = await call(f"recipe_{MINE}", {"city": "Paris"})
            must(not it["isError"], it)
        with check("cancel"):
            with anyio.CancelScope() as scope:

                async def stop(*_):
                    if not MODERN:
                        # 1.x says nothing when a call is given up.
                        from mcp import types

                        params = types.CancelledNotificationParams(requestId=client._request_id - 1)
                        it = types.CancelledNotification(method="notifications/cancelled", params=params)
                        await client.send_notification(types.ClientNotification(it))
                    scope.cancel()

                await learn(GONE, progress_callback=stop)

            async def gone():
                it = await call("task_list", {"limit": 20})
                states = [x["state"] for x in it["structuredContent"]["data"]["tasks"] if x["args"].get("name") == GONE]
                return states == ["cancelled"]

            await until(gone, "the task goes on")
    with check("close"):
        pass
    sys.exit(1 if failed else 0)


anyio.run(main)
