#!/usr/bin/env python3
"""VLA2's ablation (section IV): what the strict planner, learned words and the recovery of an arm that is stuck add, on goals that need them.

    python3 tests/peers/ablation.py [--prehend target/release/prehend] [--wrong 3] [--out /tmp/ablation]

Eight sentences that the grammar has no reading of, eight with nouns that no table knows, and runs in which the arm is held. A language model
that follows a script (below) writes the lists of subtasks and says what the words mean; it makes every N-th answer wrong. What is measured
is what becomes of its answers, not the model. Needs nothing but Python.
"""
import argparse
import http.server
import json
import pathlib
import subprocess
import threading

TABLETOP, BLOCKS, KITCHEN = (f"config/scenes/{name}.yaml" for name in ("tabletop", "blocks", "kitchen"))

# Scene, sentence, thing, how, where.
ODD = [
    (TABLETOP, "it is the red mug that belongs with the bowl, inside of it of course", "red mug", "in", "bowl"),
    (TABLETOP, "the can has no business where it is, since the plate is its home", "can", "on", "plate"),
    (TABLETOP, "a bowl is a lonely thing without the green apple at its bottom", "green apple", "in", "bowl"),
    (TABLETOP, "mind the box, which ought to live with the bottle at its side", "box", "next to", "bottle"),
    (KITCHEN, "what about the lemon going for a swim in the bowl", "lemon", "in", "bowl"),
    (KITCHEN, "carrot, plate, you know what I mean", "carrot", "on", "plate"),
    (BLOCKS, "the small red block would look good in the tray, would it not", "small red block", "in", "tray"),
    (BLOCKS, "nobody tidies away that blue ball, and the tray is still empty", "blue ball", "in", "tray"),
]
WORDS = [
    (TABLETOP, "put the red becher in the bowl", "red mug", "in", "bowl"),
    (TABLETOP, "put the dose on the plate", "can", "on", "plate"),
    (TABLETOP, "put the can in the schuessel", "can", "in", "bowl"),
    (TABLETOP, "put the red apfel on the teller", "red apple", "on", "plate"),
    (KITCHEN, "put the moehre on the plate", "carrot", "on", "plate"),
    (KITCHEN, "put the zitrone in the bowl", "lemon", "in", "bowl"),
    (BLOCKS, "put the small red klotz in the tray", "small red block", "in", "tray"),
    (BLOCKS, "put the orange murmel in the tray", "orange ball", "in", "tray"),
]
MEANS = {"becher": "mug", "dose": "can", "schuessel": "bowl", "apfel": "apple", "teller": "plate", "moehre": "carrot",
         "zitrone": "lemon", "klotz": "block", "murmel": "ball"}
FACTS = {"in": "in", "on": "on", "next to": "next_to"}
# Seeds of the runs in which the arm is held.
JAMS = range(4, 8)


class Model(http.server.BaseHTTPRequestHandler):
    """Answers by the script; every N-th answer is wrong in one of five ways, by turns."""

    count, every, lock = 0, 0, threading.Lock()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [m["content"] for m in body["messages"] if isinstance(m.get("content"), str)]
        data = json.loads(texts[1].removeprefix("```json\n").removesuffix("\n```"))
        with Model.lock:
            Model.count += 1
            number = Model.count
        wrong = Model.every and number % Model.every == 0
        if "word" in data:
            means = "no such class" if wrong else MEANS.get(data["word"], "NONE")
            text = f"<answer>{means}</answer>"
        else:
            text = self.listed(data["task"], number // Model.every % 5 if wrong else None)
        usage = {"prompt_tokens": len(json.dumps(body)) // 4, "completion_tokens": len(text) // 4}
        events = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]},
                  {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
        stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(stream)))
        self.end_headers()
        self.wfile.write(stream.encode())

    @staticmethod
    def listed(sentence, wrong):
        known = next((line for line in ODD if line[1] == sentence.strip().rstrip(".")), None)
        if known is None:
            return "I cannot help with that."
        _, _, thing, how, to = known
        right = [f"1. pick up the {thing} /({thing})/", f"2. place the {thing} {how} the {to} /({thing}, {to})/"]
        return "\n".join({
            None: right,
            0: [f"The {thing} should end up {how} the {to}."],
            1: [f"1. pick up and place the {thing} {how} the {to} /({thing}, {to})/"],
            2: [f"1. levitate the {thing} /({thing})/", right[1]],
            3: [right[0], f"2. place the {thing} {how} the moon /({thing}, moon)/"],
            4: [line.split(" /(")[0] for line in right],
        }[wrong])

    def log_message(self, *_):
        pass


def lines(table):
    for scene, goal, thing, how, to in table:
        want = {"outcome": "done", "facts": [[FACTS[how], thing, to]]}
        yield json.dumps({"scene": scene, "goal": goal, "want": want, "construction": "ablation"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prehend", default="target/release/prehend")
    parser.add_argument("--wrong", type=int, default=3, metavar="N", help="make every N-th answer wrong; 0 = none")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("/tmp/ablation"))
    parser.add_argument("--speed", default="8")
    arguments = parser.parse_args()
    Model.every = arguments.wrong
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, table in (("odd", ODD), ("words", WORDS)):
        (arguments.out / f"{name}.jsonl").write_text("\n".join(lines(table)) + "\n")
    base = f"http://127.0.0.1:{server.server_port}/v1"

    def settings(name, planner, model):
        file = arguments.out / f"{name}.yaml"
        file.write_text(f"planner: {planner}\nmodel: {{provider: openai, model: scripted, base_url: \"{base}\", plans: list}}\n"
                        f"words: {{remember: false, model: {model}}}\n")
        return f"agent:settings:={file}"

    def language(name, parameter):
        command = [arguments.prehend, "eval", "language", arguments.out / f"{name}.jsonl", "--json", "--speed", arguments.speed,
                   "--param", parameter, "--out", arguments.out / f"runs-{name}-{parameter.rsplit('/', 1)[1]}"]
        told = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
        return f"{told['right']} of {told['runs']}", told["false_success"], told["ungated_motions"]

    def jammed(notice):
        done, seconds = 0, []
        for seed in JAMS:
            command = [arguments.prehend, "demo", "--json", "--seed", str(seed), "--speed", "4", "--disturb", "jam",
                       "--param", f"skills:notice_stuck:={notice}", "--out", arguments.out / f"jam-{seed}-{notice}"]
            told = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
            done += told["outcome"] == "done"
            seconds.append(told["seconds"]["total"] if isinstance(told.get("seconds"), dict) else 0.0)
        middle = sorted(seconds)[len(seconds) // 2]
        return f"{done} of {len(JAMS)}, {middle:.1f} s"

    full, no_planner, no_words = (settings("full", "hybrid", "true"), settings("no-planner", "builtin", "true"),
                                  settings("no-words", "hybrid", "false"))
    print(f"{'goals that need':<20} {'with':<24} without")
    for need, name, without in (("the planner", "odd", no_planner), ("words", "words", no_words)):
        (a, *wrong_a), (b, *wrong_b) = language(name, full), language(name, without)
        print(f"{need:<20} {a:<24} {b}   wrong claims, ungated motions: {wrong_a} and {wrong_b}")
    print(f"{'recovery':<20} {jammed('true'):<24} {jammed('false')}")


if __name__ == "__main__":
    main()
