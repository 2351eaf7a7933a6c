"""A peer as a process that takes commands on stdin (the example interop_peer of prehend-ros; rclcpp_peer), and what checks share."""
import json
import queue
import subprocess
import sys
import threading
import time

DEADLINE = 20.0
LONG_TEXT = 200_000


class Missing(Exception):
    """What should have come did not."""


def until(what, condition, deadline=DEADLINE):
    end = time.monotonic() + deadline
    while not (found := condition()):
        if time.monotonic() > end:
            raise Missing(f"not within {deadline:.0f} s: {what}")
        time.sleep(0.005)
    return found


def need(condition, seen):
    if not condition:
        raise Missing(f"seen: {seen}")
    return seen


def spread(values):
    ordered = sorted(values)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return f"p50 {at(0.5):.2f} ms, p99 {at(0.99):.2f} ms, most {ordered[-1]:.2f} ms"


class Peer:
    """The process, and its answers: one JSON object for each command."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.ready = self.answer()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def answer(self, deadline=90):
        try:
            return self.lines.get(timeout=deadline)
        except queue.Empty:
            raise Missing("the peer said nothing") from None

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self, command):
        self.tell(command)
        return self.seen()

    def seen(self):
        answer = self.answer()
        if not answer["ok"]:
            raise Missing(f"{answer['command']}: {answer['error']}")
        return answer["seen"]

    def close(self):
        self.process.stdin.close()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def attempt(what, cell, *arguments):
    print(f"... {what}", file=sys.stderr, flush=True)
    try:
        seen = True, str(cell(*arguments))
    except (Missing, subprocess.SubprocessError, OSError, ValueError, KeyError) as failure:
        seen = False, f"**fails**: {failure}"
    print(f"    {seen[1]}", file=sys.stderr, flush=True)
    return seen
