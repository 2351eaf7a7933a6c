#!/usr/bin/env python3
"""A language model that follows a script, behind OpenAI's streamed chat completions, and makes every N-th call wrong.

It reads "put|place the A in|on|next to the B" and "pick up the A" from the person's sentence, plans by what the tools answer, and mends
what failed. Its wrong calls: another relation, another key, a tool that is none, arguments that are no JSON, `finish` too early.

    python3 tests/peers/scripted_model.py --lines > /tmp/sixty.jsonl          # 60 goals for it
    python3 tests/peers/scripted_model.py --port 8931 --wrong 10 &            # writes /tmp/agent_model.yaml
    prehend eval language /tmp/sixty.jsonl --speed 8 --param agent:settings:=/tmp/agent_model.yaml

Needs nothing but Python.
"""
import argparse
import http.server
import json
import random
import re
import threading

SENTENCE = re.compile(r"(?:put|place) (?:the )?(?P<a>.+?) (?P<how>in|on|next to) (?:the )?(?P<b>.+)|pick up (?:the )?(?P<c>.+)")
STATES = {"in": "in", "on": "on", "next to": "next_to"}
SCENES = {
    "tabletop": (["red mug", "red apple", "green apple", "can", "box"], {"in": ["bowl"], "on": ["plate"], "next to": ["bottle", "bowl"]}),
    "blocks": (["small red block", "green block", "blue block", "orange ball", "blue ball", "purple cylinder"],
               {"in": ["tray"], "next to": ["tray"]}),
    "kitchen": (["tomato", "lemon"], {"in": ["bowl", "pan"], "on": ["plate"]}),
}


def lines():
    """Sixty goals: every scene, thing and destination by turns."""
    rng, made = random.Random(60), []
    pairs = [(scene, thing, how, to) for scene, (things, where) in SCENES.items() for thing in things
             for how, targets in where.items() for to in targets]
    pairs += [(scene, thing, "held", "") for scene, (things, _) in SCENES.items() for thing in things]
    rng.shuffle(pairs)
    for scene, thing, how, to in (pairs + pairs)[:60]:
        words = f"pick up the {thing}" if how == "held" else f"put the {thing} {how} the {to}"
        fact = ["held", thing] if how == "held" else [STATES[how], thing, to]
        want = {"outcome": "done", "facts": [fact]}
        made.append({"scene": f"config/scenes/{scene}.yaml", "goal": words, "want": want, "construction": how.replace(" ", "_")})
    return made


def call(name, arguments):
    return name, json.dumps(arguments)


def plan(messages):
    """The next call by what was said so far."""
    data = json.loads(messages[1]["content"].removeprefix("```json\n").removesuffix("\n```"))
    match = SENTENCE.fullmatch(data["sentence"].strip().rstrip("."))
    if not match:
        return call("refuse", {"reason": "not_understood", "message": "I read few sentences."})
    thing, how, to = match["a"] or match["c"], match["how"], match["b"]
    wanted = STATES.get(how, "held")
    answers = [json.loads(message["content"]) for message in messages if message["role"] == "tool"]
    calls = [c["function"] for message in messages for c in message.get("tool_calls", [])]
    last = answers[-1] if answers else {}
    facts = [answer["fact"] for answer in answers if answer.get("fact")]
    held = (last.get("output") or {}).get("held_object")
    if facts and facts[-1]["state"] == wanted and not str(last.get("feedback_msg", "")).startswith("not finished"):
        return call("finish", {"message": "Done.", "facts": facts[-1:]})
    if len(answers) > 40:
        return call("refuse", {"reason": "infeasible", "message": "I tried for long."})
    if last.get("success") and calls and calls[-1]["name"] == "object_retrieval" and last["output"]["inventory"]:
        asked = json.loads(calls[-1]["arguments"]).get("query")
        found = last["output"]["inventory"][0]
        if asked == thing and not held:
            return call("interact", {"obj": found, "action": "grasp"})
        if asked == to and held:
            return call("interact", {"obj": found, "action": f"place it {how}"})
    return call("object_retrieval", {"query": to if held and to else thing})


def wrong(name, arguments, rng):
    """The same call with one thing wrong."""
    kind = rng.randrange(6)
    if kind == 0:
        return name, arguments[: len(arguments) // 2]
    if kind == 1:
        return "launch", arguments
    if kind == 2:
        return name, arguments.replace("_0", "_7")
    if kind == 3:
        return name, arguments.replace("place it in", "place it on").replace("place it on", "place it next to")
    if kind == 4:
        return call("finish", {"message": "Done.", "facts": []})
    return name, json.dumps({**json.loads(arguments), "force": 40})


class Handler(http.server.BaseHTTPRequestHandler):
    count, lock, every, rng = 0, threading.Lock(), 0, random.Random(10)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name, arguments = plan(body["messages"])
        with Handler.lock:
            Handler.count += 1
            number = Handler.count
            if Handler.every and number % Handler.every == 0:
                name, arguments = wrong(name, arguments, Handler.rng)
        function = {"name": name, "arguments": arguments}
        delta = {"role": "assistant", "content": None,
                 "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]}
        usage = {"prompt_tokens": len(json.dumps(body)) // 4, "completion_tokens": len(arguments) // 4}
        events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                  {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
                  {"choices": [], "usage": usage}]
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", action="store_true", help="print the sentence set and end")
    parser.add_argument("--port", type=int, default=8931)
    parser.add_argument("--wrong", type=int, default=0, metavar="N", help="make every N-th call wrong; 0 = none")
    parser.add_argument("--settings", default="/tmp/agent_model.yaml", help="settings of the node agent, written")
    arguments = parser.parse_args()
    if arguments.lines:
        for line in lines():
            print(json.dumps(line))
        return
    Handler.every = arguments.wrong
    with open(arguments.settings, "w", encoding="utf-8") as file:
        file.write(f"planner: model\nmodel: {{provider: openai, model: scripted, base_url: \"http://127.0.0.1:{arguments.port}/v1\"}}\n")
    http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
