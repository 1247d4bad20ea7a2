"""An agent of LangChain and LangGraph calls a recipe: the tools come over MCP, the model is a script.

A line a check, `ok …` or `no …`; the exit code is 1 where one is not well."""

import asyncio
import os
import sys

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.prebuilt import create_react_agent

HEADERS = {"Authorization": f"Bearer {os.environ['MCP_TOKEN']}"}
SERVER = {"commis": {"transport": "streamable_http", "url": os.environ["MCP_URL"], "headers": HEADERS}}


class Script(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        self.__dict__["bound"] = [it.name for it in tools]
        return self


def calls(name, args):
    return AIMessage(content="", tool_calls=[{"name": name, "args": args, "id": name}])


async def main():
    tools = await MultiServerMCPClient(SERVER).get_tools()
    print("ok list" if any(it.name == "recipe_shop-search" for it in tools) else "no list: no recipe among the tools")
    model = Script(
        messages=iter(
            [
                calls("commis_find", {"words": "products of the shop"}),
                calls("recipe_shop-search", {"query": "umbrella"}),
                AIMessage(content="There are umbrellas."),
            ]
        )
    )
    agent = create_react_agent(model, tools)
    it = await agent.ainvoke({"messages": [("user", "How dear is an umbrella?")]})
    answers = {x.name: x for x in it["messages"] if isinstance(x, ToolMessage)}
    found = "shop-search" in str(answers["commis_find"].content)
    print("ok find" if found else f"no find: {answers['commis_find']}"[:300])
    data = answers["recipe_shop-search"]
    well = data.status == "success" and "umbrella" in str(data.content).lower()
    print("ok call" if well else f"no call: {data}"[:300])
    whole = bool(data.artifact and data.artifact["structured_content"]["data"])
    print("ok structured content" if whole else f"no structured content: {data.artifact}"[:300])
    sys.exit(0 if found and well and whole else 1)


asyncio.run(main())
