#!/usr/bin/env python3
"""Processes of several middlewares with each other: what one offers, another uses. Both backends of prehend-ros, and rclcpp, in one run.

    cargo build -p prehend-cli -p prehend-ros --bins --examples                                # backend embedded
    source /opt/ros/jazzy/setup.bash                                                            # the rest needs ROS 2
    cargo build -p prehend-cli -p prehend-ros --bins --examples --no-default-features \\
        --features prehend-cli/ros2,prehend-ros/ros2 --target-dir target/ros2                   # backend ros2
    cmake -S tests/peers/rclcpp_peer -B /tmp/rclcpp_peer && cmake --build /tmp/rclcpp_peer
    python3 tests/peers/ros2_pairs.py --peer embedded=target/debug/examples/interop_peer \\
        --peer ros2=target/ros2/debug/examples/interop_peer --peer rclcpp=/tmp/rclcpp_peer/rclcpp_peer \\
        --up embedded=target/debug/prehend --up ros2=target/ros2/debug/prehend

Every pair of peers meets, and each of Prehend's backends another process of its own. A row is a direction: topics are published, services, actions
and parameters offered by the first, used by the second. --up starts `prehend up` some times and takes the time until it says that it is ready. Times are
wall times on one machine; pictures carry the time of sending. This script itself speaks no ROS. Exits with 1 when a cell is not as it should be.
"""
import argparse
import itertools
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from peer_process import LONG_TEXT, Missing, Peer, attempt, need, spread


def topic(offers, uses, _):
    uses.tell("hear numbers 200")
    # The command subscribes when it runs: a publisher that has not found the subscription sends to nobody.
    time.sleep(2)
    offers.ask("say 200")
    seen = uses.seen()
    return need(seen["received"] == 200 and seen["in_order"], f"{seen['received']} of 200{'' if seen['in_order'] else ', not in order'}")


def latched(_, uses, __):
    seen = uses.ask("hear latched")
    return need(seen["newest"] == "third", "the newest" if seen["newest"] == "third" else f"{seen['all']}")


def pictures(offers, uses, what, count, size, rate):
    uses.tell(f"hear {what} {count}")
    time.sleep(2)
    offers.ask(f"show {what} {count} {size[0]} {size[1]} {rate}")
    seen = uses.seen()
    said = f"{seen['received']} of {count}" + (f", {spread(seen['latencies_ms'])}" if seen["received"] else "")
    return need(seen["received"] >= 0.99 * count and seen["whole"], said)


def images(offers, uses, options):
    return pictures(offers, uses, "images", int(15 * options.seconds), (640, 480), 15)


def large(offers, uses, _):
    return pictures(offers, uses, "large", 10, (1920, 1080), 2)


def service(_, uses, options):
    seen = uses.ask(f"call {options.calls}")
    return need(seen["right"] == options.calls, f"{seen['right']} of {options.calls}, {spread(seen['trips_ms'])}")


def text(_, uses, __):
    seen = uses.ask("text")
    return need(seen["length"] == LONG_TEXT, "whole" if seen["length"] == LONG_TEXT else f"{seen['length']} bytes")


def action(_, uses, __):
    done, aborted = uses.ask("goal 0.95"), uses.ask("goal 5")
    try:
        rejected = uses.ask("goal -1")["status"]
    except Missing as refusal:
        rejected = "rejected" if "reject" in str(refusal) else str(refusal)
    seen = f"{done['status'].lower()} with {done['feedback']} feedbacks, {aborted['status'].lower()}, {rejected}"
    return need(seen == "succeeded with 10 feedbacks, aborted, rejected" and done["reached"], seen)


def cancel(_, uses, __):
    seen = uses.ask("cancel 1 3")
    return need(seen["status"] == "Canceled" and seen["position"] < 0.95, f"{seen['status'].lower()} after {seen['feedback']} feedbacks")


def parameters(_, uses, __):
    seen = uses.ask("parameters")
    right = "gain" in seen["listed"] and (seen["before"], seen["after"]) == (1.5, 2.5) and seen["set"] == [True] and seen["text"] == [False]
    return need(right, "read, set, a text refused" if right else seen)


CELLS = [
    ("topic, reliable", topic), ("latched", latched), ("640 x 480 at 15 Hz, best effort", images), ("6.2 MB at 2 Hz, reliable", large),
    ("service", service), ("answer of 200 kB", text), ("action", action), ("cancel", cancel), ("parameters", parameters),
]


def meet(first, second, options):
    """Two peers in a domain; a row for each direction."""
    (a, one), (b, other) = first, second
    # Two processes of one kind need two names.
    names = [a, b if b != a else f"{b}_2"]
    peers = []
    rows = {}
    try:
        for own, command, partner in zip(names, (one, other), reversed(names)):
            peers.append(Peer([command, own, partner], options.environment))
        for offers, uses in ((0, 1), (1, 0)) if a != b else ((0, 1),):
            row = f"{(a, b)[offers]} to {(a, b)[uses]}"
            cells = [(name, cell) for name, cell in CELLS if not options.only or any(word in name for word in options.only)]
            rows[row] = {name: attempt(f"{row}: {name}", cell, peers[offers], peers[uses], options) for name, cell in cells}
        codes = [peer.close() for peer in peers]
        if any(codes):
            print(f"{a}, {b}: ended with {codes}", file=sys.stderr)
    finally:
        for peer in peers:
            peer.process.kill()
    return rows


def ready_after(prehend, options):
    """How long `prehend up` takes until it says that it is ready, s."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        process = subprocess.Popen(
            [prehend, "up", "--perfect-detector", "--out", folder + "/run"], cwd=options.root, env=options.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        late = threading.Timer(120, process.kill)
        late.start()
        lines, ready = [], None
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                if line.startswith("ready in"):
                    ready = time.monotonic() - begun
                    process.send_signal(signal.SIGINT)
                    break
            for _ in process.stdout:
                pass
            process.wait(60)
        finally:
            late.cancel()
            process.kill()
        if ready is None:
            raise Missing(f"it never said that it is ready: {lines[-3:]}")
        return ready


def starts(prehend, options):
    times = [ready_after(prehend, options) for _ in range(options.starts)]
    return f"median {statistics.median(times):.2f} s, {min(times):.2f} to {max(times):.2f} s ({len(times)} starts)"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    named = lambda text: (text.partition("=")[0], str(pathlib.Path(text.partition("=")[2]).resolve()))
    parser.add_argument("--peer", type=named, action="append", default=[], metavar="NAME=BINARY", help="a peer; NAME is a ROS name; may be repeated")
    parser.add_argument("--alone", action="append", default=[], help="of this one no two are paired ")
    parser.add_argument("--up", type=named, action="append", default=[], metavar="NAME=BINARY", help="a binary of prehend, to be started; may be repeated")
    parser.add_argument("--starts", type=int, default=5, help="of each")
    parser.add_argument("--domain", type=int, default=86, help="ROS domain to use")
    parser.add_argument("--seconds", type=float, default=30, help="of images")
    parser.add_argument("--calls", type=int, default=1000, help="of a service")
    parser.add_argument("--only", action="append", help="only columns with this in their name; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, help="also write what was seen there")
    options = parser.parse_args()
    options.root = pathlib.Path(__file__).resolve().parents[2]
    options.environment = {**os.environ, "ROS_DOMAIN_ID": str(options.domain)}
    return options


def main():
    options = parse()
    rows, begun = {}, os.getloadavg()[0]
    for first, second in itertools.combinations_with_replacement(options.peer, 2):
        if first != second or first[0] not in options.alone:
            try:
                rows.update(meet(first, second, options))
            except (Missing, OSError) as missing:
                rows[f"{first[0]} with {second[0]}"] = {"start": (False, f"**fails**: {missing}")}
    up = {name: attempt(f"prehend up, {name}", starts, prehend, options) for name, prehend in options.up}
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    if rows:
        print(f"| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
        for name, row in rows.items():
            print(f"| {name} | {' | '.join(row.get(column, (True, ''))[1] for column in columns)} |")
    for name, (_, seen) in up.items():
        print(f"\n`prehend up`, {name}: ready after {seen}")
    print(f"\nload {begun:.1f} before, {os.getloadavg()[0]:.1f} after, {os.cpu_count()} processors")
    if options.json:
        options.json.write_text(json.dumps({"exchange": rows, "up": up}, indent=1))
    fine = all(cell[0] for row in [*rows.values(), up] for cell in row.values())
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
