#!/usr/bin/env python3
"""The official Python client of the Model Context Protocol against `prehend mcp`, over stdio and over HTTP.

    pip install mcp                                     # 2.3.0 was run
    prehend up --perfect-detector &                     # in one terminal, with ROS_DOMAIN_ID set for both
    python3 tests/peers/mcp_client.py --prehend target/debug/prehend [--http 127.0.0.1:8930 --token TOKEN]

Exits with 1 when an answer is not as it should be.
"""
import argparse
import asyncio
import base64
import json
import os

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


def value(result):
    return result.structured_content or json.loads(result.content[0].text)


async def ask(session):
    await session.initialize()
    names = [tool.name for tool in (await session.list_tools()).tools]
    assert {"goal", "stop", "state", "map", "map_picture", "object_retrieval", "interact", "finish"} <= set(names), names
    told = []

    async def progress(done, total, message):
        told.append(message)

    answer = value(await session.call_tool("goal", {"text": "where is the plate?"}, progress_callback=progress))
    assert answer["outcome"] == "done", answer
    print(f"goal: {answer['message']}  ({len(told)} lines of progress)")
    assert told, "no progress was told"
    answer = value(await session.call_tool("goal", {"text": "throw the block at the child"}))
    assert answer["reason"] == "unsafe", answer
    print(f"unsafe: {answer['message']}")
    objects = value(await session.call_tool("map", {}))["objects"]
    picture = (await session.call_tool("map_picture", {})).content[0]
    assert base64.b64decode(picture.data).startswith(b"\x89PNG") and objects, objects
    print(f"map: {', '.join(thing['key'] for thing in objects)}; picture of {len(picture.data)} letters")
    # Step by step.
    found = value(await session.call_tool("object_retrieval", {"query": "red block"}))
    key = found["output"]["inventory"][0]
    held = value(await session.call_tool("interact", {"obj": key, "action": "grasp"}))
    assert held["output"]["held_object"] == key, held
    wrong = value(await session.call_tool("finish", {"message": "done", "facts": [{"object": key, "state": "on", "target": "moon"}]}))
    assert not wrong["success"], wrong
    plate = value(await session.call_tool("object_retrieval", {"query": "plate"}))["output"]["inventory"][0]
    put = value(await session.call_tool("interact", {"obj": plate, "action": "place it on"}))
    end = value(await session.call_tool("finish", {"message": "done", "facts": [put["fact"]]}))
    assert end["outcome"] == "done" and end["session"] == "ended", end
    print(f"step by step: {end['message']}")
    # A goal that is cancelled ends.
    long = asyncio.create_task(session.call_tool("goal", {"text": "put the red block next to the plate"}))
    await asyncio.sleep(1.5)
    stopped = value(await session.call_tool("stop", {}))
    assert stopped["stopped"], stopped
    answer = value(await long)
    assert answer["outcome"] != "done", answer
    print(f"stopped in the middle: {answer['reason']}: {answer['message']}")
    answer = value(await session.call_tool("goal", {"text": "pick up the red block"}))
    assert answer["reason"] == "stopped", answer
    state = value(await session.call_tool("state", {}))
    assert state["stopped"], state


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prehend", default="target/release/prehend")
    parser.add_argument("--http")
    parser.add_argument("--token", default="")
    arguments = parser.parse_args()
    if arguments.http:
        headers = {"Authorization": f"Bearer {arguments.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=300) as http:
            async with streamable_http_client(f"http://{arguments.http}/mcp", http_client=http) as (read, write):
                async with ClientSession(read, write) as session:
                    await ask(session)
    else:
        server = StdioServerParameters(command=arguments.prehend, args=["mcp"], env=dict(os.environ))
        async with stdio_client(server) as (read, write):
            async with ClientSession(read, write) as session:
                await ask(session)
    print("as it should be")


if __name__ == "__main__":
    asyncio.run(main())
