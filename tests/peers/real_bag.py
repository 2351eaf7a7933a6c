#!/usr/bin/env python3
"""`ros2 bag` beside `prehend bag`: both record one run and play each other's recording; as Markdown tables.

    # ROS 2 Jazzy, sourced, with: ros2bag rosbag2_py rosbag2_transport rosbag2_storage_mcap rosbag2_storage_sqlite3 vision_msgs
    # and the package prehend_interfaces of this repository (crates/prehend_interfaces), built by colcon
    cargo build -p prehend-cli
    python3 tests/peers/real_bag.py --prehend target/debug/prehend

Two recorders listen to one graph while it carries a goal out: `prehend record` and `ros2 bag record`, with each of its storages in turn. What
both have is read by rosbag2's own reader and compared byte by byte, over the time in which both listened. Then Prehend works with each
recording: `bag info`, `map build`, `replay`. At last each program plays what the other one recorded, and the other one records that. Exits with
1 when anything but a picture got lost, a map or a replay differs, or something does not read what the other one wrote.

The embedded backend sends pictures in datagrams of 1.3 KB, to each reader by itself: with two recorders of all of them, two slow cores and real
time, the robot loses other messages. So the simulated time goes at half of it, and everything stays on the loopback interface, unless
ROS_AUTOMATIC_DISCOVERY_RANGE says otherwise.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from peer_process import Missing
from real_parts import ROOT, Graph, check, end, goal, in_domain, outcome

NEEDED = ["ros2bag", "rosbag2_py", "rosbag2_transport", "rosbag2_storage_mcap", "rosbag2_storage_sqlite3", "vision_msgs", "prehend_interfaces"]
STORAGES = ["mcap", "sqlite3"]
TITLES = {"prehend": "`prehend record`", **{storage: f"`ros2 bag record -s {storage}`" for storage in STORAGES}}
# Who records in its own time begins and ends a little beside the others, seconds.
MARGIN = 1.0
# What weighs most, and what comes with it.
PICTURES = ["sensor_msgs/msg/Image", "sensor_msgs/msg/CameraInfo", "vision_msgs/msg/Detection2DArray"]


def recorder(args, kind, out, topics):
    """Somebody who records these topics until it is interrupted."""
    out.parent.mkdir(parents=True, exist_ok=True)
    if kind == "prehend":
        command = [args.prehend, "record", "--out", str(out), "--topics", *topics]
    else:
        # As much room as ours has.
        command = ["ros2", "bag", "record", "-s", kind, "-o", str(out), "--max-cache-size", str(256 << 20), "--topics", *topics]
    with out.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(command, cwd=ROOT, env=in_domain(args), stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def interrupted(process):
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(30)
    except subprocess.TimeoutExpired:
        end(process)
        return None


def storage(bag):
    return "sqlite3" if any(bag.glob("*.db3")) else "mcap"


def messages(bag):
    """Topic, type, time and digest of every message, as rosbag2's own reader has them."""
    import rosbag2_py
    reader = rosbag2_py.SequentialReader()
    reader.open(rosbag2_py.StorageOptions(uri=str(bag), storage_id=storage(bag)), rosbag2_py.ConverterOptions("cdr", "cdr"))
    types = {topic.name: topic.type for topic in reader.get_all_topics_and_types()}
    while reader.has_next():
        topic, data, stamp = reader.read_next()
        # Middlewares fill a message up to four bytes, or do not.
        yield topic, types[topic], stamp * 1e-9, hashlib.blake2b(data.rstrip(b"\0"), digest_size=12).digest()


def said(args, *command):
    """What a command of ours prints as JSON, and its exit code."""
    done = subprocess.run([args.prehend, *command, "--json"], cwd=ROOT, env=in_domain(args), capture_output=True, text=True, timeout=600)
    if not done.stdout.strip():
        raise Missing(f"`prehend {' '.join(command)}`: {done.stderr.strip()[:300]}")
    return json.loads(done.stdout), done.returncode


def recorded(args, folder, theirs):
    """One run, recorded by both."""
    graph = Graph(args, folder, "--perfect-detector", "--speed", str(args.speed))
    bags = {kind: folder / kind for kind in ["prehend", theirs]}
    try:
        graph.until_ready()
        # What a replay needs, by Prehend's own choice.
        subprocess.run(
            [args.prehend, "record", "--out", str(folder / "first"), "--seconds", "2"], cwd=ROOT, env=in_domain(args), capture_output=True, check=True)
        topics = [topic["name"] for topic in said(args, "bag", "info", str(folder / "first"))[0]["topics"]]
        running = {kind: recorder(args, kind, bag, topics) for kind, bag in bags.items()}
        time.sleep(5.0)
        told = outcome(goal(args, args.goal))
        time.sleep(2.0)
        for process in running.values():
            process.send_signal(signal.SIGINT)
        for kind, process in running.items():
            if process.wait(60) != 0:
                raise Missing(f"{TITLES[kind]} ended with {process.returncode}; see {bags[kind]}.log")
    finally:
        graph.end()
    print(f"\"{args.goal}\": {told}\n", flush=True)
    return bags


def compared(bags):
    """Which messages the recorders have of the time in which both listened; whether nothing but pictures is missing."""
    found = {kind: list(messages(bag)) for kind, bag in bags.items()}
    begin = max(min(stamp for _, _, stamp, _ in all_) for all_ in found.values()) + MARGIN
    last = min(max(stamp for _, _, stamp, _ in all_) for all_ in found.values()) - MARGIN
    heard = {kind: collections.defaultdict(set) for kind in bags}
    types, wanted = {}, collections.defaultdict(set)
    for kind, all_ in found.items():
        for topic, type_, stamp, digest in all_:
            types[topic] = type_
            heard[kind][topic].add(digest)
            if begin <= stamp <= last:
                wanted[topic].add(digest)
    print(f"In {last - begin:.0f} s in which both listened:\n")
    print(f"| topics | {' | '.join(TITLES[kind] for kind in bags)} |")
    print("|---" * (1 + len(bags)) + "|")
    good = True
    for title, is_picture in [("pictures, calibrations, detections", True), ("everything else", False)]:
        chosen = [topic for topic, type_ in types.items() if (type_ in PICTURES) == is_picture]
        total = sum(len(wanted[topic]) for topic in chosen)
        cells = []
        for kind in bags:
            missing = {topic: len(wanted[topic] - heard[kind][topic]) for topic in chosen}
            has = total - sum(missing.values())
            good &= is_picture or has == total
            cells.append(f"{has} of {total}")
            if has < total:
                print(f"{TITLES[kind]} lacks {', '.join(f'{topic} {count}' for topic, count in missing.items() if count)}", file=sys.stderr)
        print(f"| {len(chosen)} topics: {title} | {' | '.join(cells)} |")
    print(flush=True)
    return good, found


def used(args, bags, found, folder):
    """What Prehend makes of each recording; whether it is the same."""
    rows, good = {"`bag info`: messages": [], "`map build`: things, of so many frames": [], "`replay`: decisions that are the same": []}, True
    for kind, bag in bags.items():
        info, code = said(args, "bag", "info", str(bag))
        same = info["messages"] == len(found[kind]) and code == 0
        rows["`bag info`: messages"].append(f"{info['messages']}" + ("" if same else f", rosbag2 has {len(found[kind])}"))
        built, code = said(args, "map", "build", "--frames", str(bag), "--out", str(folder / f"map-{kind}"))
        rows["`map build`: things, of so many frames"].append(f"{built['objects']} of {len(built['frames'])}")
        good &= same and code == 0
        replay, code = said(args, "replay", str(bag), "--logs", str(folder / f"replay-{kind}"))
        tally = collections.Counter(decision["result"] for decision in replay["decisions"])
        rows["`replay`: decisions that are the same"].append(f"{tally['same']} of {sum(tally.values())}")
        good &= code == 0
    print(f"| Prehend reads | {' | '.join(TITLES[kind] for kind in bags)} |")
    print("|---" * (1 + len(bags)) + "|")
    for title, cells in rows.items():
        print(f"| {title} | {' | '.join(cells)} |")
    print(flush=True)
    return good


def played(args, bags, found, folder):
    """Each plays what the other one recorded, and the other one records it; whether everything but pictures arrived."""
    print("| played by | recorded by | pictures, calibrations, detections | everything else |\n|---|---|---|---|")
    good = True
    theirs = next(kind for kind in bags if kind != "prehend")
    for kind, player, listener in [("prehend", "ros2", "prehend"), (theirs, "prehend", theirs)]:
        topics = sorted({topic for topic, _, _, _ in found[kind]})
        again = folder / f"again-{kind}-{listener}"
        listening = recorder(args, listener, again, topics)
        time.sleep(4.0)
        command = [args.prehend, "bag", "play", str(bags[kind])]
        if player == "ros2":
            # Listeners come to be known first; ours waits for them by itself.
            command = ["ros2", "bag", "play", str(bags[kind]), "--delay", "3", "--disable-keyboard-controls"]
        with again.with_suffix(".play.log").open("wb") as log:
            ended = subprocess.run(command, cwd=ROOT, env=in_domain(args), stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=300).returncode
        time.sleep(2.0)
        if interrupted(listening) != 0 or ended != 0:
            raise Missing(f"the player ended with {ended}; see {again}.log and {again}.play.log")
        heard = collections.defaultdict(set)
        for topic, _, _, digest in messages(again):
            heard[topic].add(digest)
        has, total = collections.Counter(), collections.Counter()
        for topic, type_, digest in {(topic, type_, digest) for topic, type_, _, digest in found[kind]}:
            total[type_ in PICTURES] += 1
            has[type_ in PICTURES] += digest in heard[topic]
        good &= has[False] == total[False]
        by = {"ros2": "`ros2 bag play`", "prehend": "`prehend bag play`"}[player]
        print(f"| {by} of {TITLES[kind]} | {TITLES[listener]} | {has[True]} of {total[True]} | {has[False]} of {total[False]} |", flush=True)
    print(flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prehend", default=str(ROOT / "target/debug/prehend"), help="the program")
    parser.add_argument("--storages", nargs="+", default=STORAGES, choices=STORAGES, metavar="STORAGE", help=f"of {', '.join(STORAGES)}")
    parser.add_argument("--goal", default="put the red mug in the bowl")
    parser.add_argument("--speed", type=float, default=0.5, help="simulated seconds per second")
    parser.add_argument("--domain", type=int, default=81, help="ROS domain of the run")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the recordings and logs; a new one in the temporary folder else")
    args = parser.parse_args()
    check(args, NEEDED)
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    folder = (args.out or pathlib.Path(tempfile.mkdtemp(prefix="real_bag_"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    print(f"recordings and logs: {folder}", file=sys.stderr)
    good = True
    try:
        for theirs in args.storages:
            within = folder / theirs
            bags = recorded(args, within, theirs)
            is_whole, found = compared(bags)
            good &= is_whole
            good &= used(args, bags, found, within)
            good &= played(args, bags, found, within)
    except Missing as error:
        sys.exit(str(error))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
