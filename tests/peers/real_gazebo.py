#!/usr/bin/env python3
"""Prehend's worlds in a real Gazebo: whether everything rests there as it does here; as a Markdown table.

    # Gazebo's server, sourced: `gz sim` (Harmonic) or `ign gazebo` (Fortress)
    cargo build -p prehend-cli
    python3 tests/peers/real_gazebo.py --prehend target/debug/prehend --seeds 2 --seed 1

Each world is written by `prehend scene to-sdf`, where everything has come to rest, and played for a few simulated seconds. What is somewhere
else then has fallen, slid or rolled. Exits with 1 when a world does not load or a thing that has no reason to move has moved.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from peer_process import Missing, until
from real_parts import ROOT, check, end

# Beyond these a thing is somewhere else: metres and degrees.
MOVED = (0.005, 3.0)
# What the world's writer says of things that roll.
ROLLS = "it rolls without resistance"


class Gazebo:
    """A server with one world; its topics are its own."""

    # Harmonic and later; Fortress.
    KINDS = {"gz": ["gz", "sim"], "ign": ["ign", "gazebo"]}

    def __init__(self, world, log):
        self.program = next(name for name in self.KINDS if shutil.which(name))
        partition = f"prehend_{os.getpid()}"
        self.environment = {**os.environ, "GZ_PARTITION": partition, "IGN_PARTITION": partition}
        self.name = ElementTree.parse(world).getroot().find("world").get("name")
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [*self.KINDS[self.program], "-s", "-r", str(world)], env=self.environment, stdout=out, stderr=subprocess.STDOUT, cwd=world.parent)
        self.log = log

    def heard(self, topic):
        """The newest message of a topic as text; empty when none comes."""
        command = [self.program, "topic", "-e", "-t", topic, "-n", "1"]
        try:
            return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=10).stdout
        except subprocess.TimeoutExpired:
            return ""

    def seconds(self):
        if self.process.poll() is not None:
            raise Missing(f"the server ended; see {self.log}")
        told = re.search(r"sim_time \{(.*?)\}", self.heard("/stats"), re.S)
        return field(told[1], "sec") + field(told[1], "nsec") * 1e-9 if told else 0.0

    def poses(self):
        """Where each model is: position and quaternion (x, y, z, w)."""
        found = {}
        for block in re.findall(r"pose \{\n  name: (.*?)\n\}", self.heard(f"/world/{self.name}/pose/info"), re.S):
            name = block.split('"')[1]
            position, orientation = (re.search(part + r" \{(.*?)\n  \}", block, re.S) for part in ["position", "orientation"])
            at = [field(position[1], axis) for axis in "xyz"]
            found.setdefault(name, (at, [field(orientation[1], axis) for axis in "xyzw"]))
        return found

    def end(self):
        end(self.process)


def field(text, name):
    """A number of a message as text: what is 0 is left out."""
    told = re.search(rf"\b{name}: (\S+)", text)
    return float(told[1]) if told else 0.0


def written(world):
    """Where each model that can move is at the start."""
    found = {}
    for model in ElementTree.parse(world).getroot().iter("model"):
        if model.findtext("static") == "true":
            continue
        numbers = [float(number) for number in model.findtext("pose").split()]
        found[model.get("name")] = (numbers[:3], numbers[3:])
    return found


def apart(before, after):
    """Metres and degrees between two poses."""
    turned = min(1.0, abs(sum(a * b for a, b in zip(before[1], after[1]))))
    return math.dist(before[0], after[0]), math.degrees(2 * math.acos(turned))


def rests(args, scene, seed, folder):
    """How far each thing of a world moved, and what of it was said to roll."""
    folder.mkdir(parents=True)
    world = folder / "world.sdf"
    made = subprocess.run(
        [args.prehend, "scene", "to-sdf", str(scene), "--seed", str(seed), "--out", str(world)], cwd=ROOT, capture_output=True, text=True)
    if made.returncode != 0:
        raise Missing(f"{scene}: {made.stderr.strip()}")
    said = (made.stdout + made.stderr).splitlines()
    rolling = {line.split(": ")[1].replace(" ", "_") for line in said if ROLLS in line}
    gazebo = Gazebo(world, folder / "gazebo.log")
    try:
        until(f"{args.seconds} simulated seconds of {world}; see {gazebo.log}", lambda: gazebo.seconds() >= args.seconds, 180)
        after = gazebo.poses()
    finally:
        gazebo.end()
    before = written(world)
    if lost := before.keys() - after.keys():
        raise Missing(f"{scene}: Gazebo has no {', '.join(sorted(lost))}")
    return {name: apart(before[name], after[name]) for name in before}, rolling


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prehend", default=str(ROOT / "target/debug/prehend"), help="the program")
    parser.add_argument("--scenes", nargs="+", type=pathlib.Path, default=sorted((ROOT / "config/scenes").glob("*.yaml")), metavar="FILE")
    parser.add_argument("--seeds", type=int, default=1, help="worlds of each scene")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each world is played, simulated seconds")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the worlds and logs; a new one in the temporary folder else")
    args = parser.parse_args()
    check(args, [])
    if not any(shutil.which(name) for name in Gazebo.KINDS):
        sys.exit("Gazebo is not installed, or not sourced: neither `gz` nor `ign` is there")
    folder = (args.out or pathlib.Path(tempfile.mkdtemp(prefix="real_gazebo_"))).resolve()
    print(f"worlds and logs: {folder}", file=sys.stderr)
    print(f"| scene, {args.seeds} seeds from {args.seed} | things | moved more than {MOVED[0] * 1e3:.0f} mm or {MOVED[1]:.0f}° | of those roll | sank, median | moved most |")
    print("|---|---|---|---|---|---|")
    good = True
    for scene in args.scenes:
        count, moved, rolled, sank, most = 0, collections.Counter(), 0, [], (0.0, "")
        for seed in range(args.seed, args.seed + args.seeds):
            try:
                found, rolling = rests(args, scene, seed, folder / f"{scene.stem}-{seed}")
            except Missing as error:
                print(f"{scene.stem} {seed}: {error}", file=sys.stderr, flush=True)
                good = False
                continue
            (folder / f"{scene.stem}-{seed}" / "moved.json").write_text(json.dumps(found, indent=1))
            count += len(found)
            for name, (metres, degrees) in found.items():
                most = max(most, (metres, name))
                if metres > MOVED[0] or degrees > MOVED[1]:
                    moved[name] += 1
                    rolled += name in rolling
                else:
                    sank.append(metres)
        good &= sum(moved.values()) == rolled
        sank.sort()
        middle = f"{sank[len(sank) // 2] * 1e3:.1f} mm" if sank else "-"
        print(f"| {scene.stem} | {count} | {sum(moved.values())} | {rolled} | {middle} | {most[0] * 1e3:.0f} mm ({most[1]}) |", flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
