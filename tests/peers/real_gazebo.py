#!/usr/bin/env python3
"""Prehend in a real Gazebo: whether its worlds rest there as here, and what its sentences come to there; as Markdown tables.

    # Gazebo's server, sourced: `gz sim` (Harmonic) or `ign gazebo` (Fortress). For sentences ROS 2 Jazzy besides, with: ros_gz_sim
    # ros_gz_bridge gz_ros2_control controller_manager joint_trajectory_controller joint_state_broadcaster gripper_controllers tf2_ros
    cargo build -p prehend-cli
    python3 tests/peers/real_gazebo.py --prehend target/debug/prehend --worlds 2 --sentences 2 --seed 1

A world is written by `prehend scene to-sdf`, where everything has come to rest, and played for a few simulated seconds: what is somewhere else
then has fallen, slid or rolled. A sentence is asked of `ros2 launch prehend prehend.launch.py sim:=gazebo gui:=false moveit_launch:=prehend`, and
Gazebo's own poses say what is so afterwards. Exits with 1 when a world does not load, a thing has moved that has no reason to, or a sentence is
told as done that is not.

Fortress knows its systems by other names, and its images carry a frame that nobody else knows: both are put right beside Prehend.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from peer_process import Missing, until
from real_parts import ROOT, check, end, in_domain, listed, program

# Beyond these a thing is somewhere else: metres and degrees.
MOVED = (0.005, 3.0)
# What the world's writer says of things that roll.
ROLLS = "it rolls without resistance"


NEEDED = [
    "ros_gz_sim", "ros_gz_bridge", "gz_ros2_control", "controller_manager", "joint_trajectory_controller", "joint_state_broadcaster",
    "gripper_controllers", "robot_state_publisher", "tf2_ros"]
NODES = ["prehend", "agent", "affordance", "gazebo", "move_group", "object_map", "skills", "verifier"]
CAMERA = "camera_color_optical_frame"
# What Fortress calls the frame of the wrist camera's images: model, link and sensor.
FORTRESS_FRAME = "xarm6/link6/wrist_camera"
# The program as launch files find it; where it has written a world, that gets the names of Fortress.
FORTRESS_PROGRAM = """#!/bin/sh
"{prehend}" "$@" || exit $?
[ "$1 $2" = "scene to-sdf" ] || exit 0
while [ "$1" != --out ]; do shift; done
sed -i 's/gz-sim-/ignition-gazebo-/; s/gz::sim::systems/ignition::gazebo::systems/' "$2"
"""
# Scene, sentence, and what is so afterwards: a thing is over another one, at most so many metres beside its middle, or something has moved
# by so many metres.
SENTENCES = [
    ("tabletop", "put the red mug in the bowl", ("red_mug", "bowl", 0.06)),
    ("tabletop", "put the can on the plate", ("can", "plate", 0.09)),
    ("blocks", "put the green block in the tray", ("green_block", "tray", 0.13)),
    ("blocks", "put the small red block on the green block", ("small_red_block", "green_block", 0.03)),
    ("drawers", "open the top drawer", ("top_drawer", None, 0.05)),
    ("clutter", "put the sponge in the basket", ("sponge", "basket", 0.1)),
]


class Topics:
    """What a server tells. Its partition keeps others out."""

    # Harmonic and later; Fortress.
    KINDS = {"gz": ["gz", "sim"], "ign": ["ign", "gazebo"]}

    def __init__(self, world):
        self.program = self.installed()
        partition = f"prehend_{os.getpid()}"
        self.partition = {"GZ_PARTITION": partition, "IGN_PARTITION": partition}
        self.world = world

    @classmethod
    def installed(cls):
        """The program that is there; none when there is no Gazebo."""
        # Where both are, `gz` is the newer.
        return next((name for name in cls.KINDS if shutil.which(name)), None)

    def heard(self, topic):
        """The newest message of a topic as text; empty when none comes."""
        command = [self.program, "topic", "-e", "-t", topic, "-n", "1"]
        try:
            return subprocess.run(command, env={**os.environ, **self.partition}, capture_output=True, text=True, timeout=10).stdout
        except subprocess.TimeoutExpired:
            return ""

    def seconds(self):
        told = re.search(r"sim_time \{(.*?)\}", self.heard("/stats"), re.S)
        return field(told[1], "sec") + field(told[1], "nsec") * 1e-9 if told else 0.0

    def poses(self):
        """Where each model is, and each link in its model: position and quaternion (x, y, z, w). Of two of a name, the first."""
        found = {}
        for block in re.findall(r"pose \{\n  name: (.*?)\n\}", self.heard(f"/world/{self.world}/pose/info"), re.S):
            name = block.split('"')[1]
            position, orientation = (re.search(part + r" \{(.*?)\n  \}", block, re.S) for part in ["position", "orientation"])
            at = [field(position[1], axis) for axis in "xyz"]
            found.setdefault(name, (at, [field(orientation[1], axis) for axis in "xyzw"]))
        return found


class Server(Topics):
    """A server with one world."""

    def __init__(self, world, log):
        super().__init__(ElementTree.parse(world).getroot().find("world").get("name"))
        self.log = log
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [*self.KINDS[self.program], "-s", "-r", str(world)], env={**os.environ, **self.partition}, stdout=out, stderr=subprocess.STDOUT,
                cwd=world.parent)

    def until(self, seconds):
        def is_there():
            if self.process.poll() is not None:
                raise Missing(f"the server ended; see {self.log}")
            return self.seconds() >= seconds
        until(f"{seconds} simulated seconds; see {self.log}", is_there, 180)

    def end(self):
        end(self.process)


def prefix(args, folder):
    """A prefix as colcon installs it, of links into the repository and to the program."""
    index = folder / "share/ament_index/resource_index/packages"
    programs = folder / "lib/prehend"
    for made in [index, folder / "share/prehend/launch", programs]:
        made.mkdir(parents=True)
    (index / "prehend").touch()
    for data in ["config", "urdf"]:
        (folder / "share/prehend" / data).symlink_to(ROOT / data)
    for file in (ROOT / "launch").glob("*.launch.py"):
        (folder / "share/prehend/launch" / file.name).symlink_to(file)
    for node in NODES:
        (programs / node).symlink_to(args.prehend)
    if is_fortress():
        (programs / "prehend").unlink()
        (programs / "prehend").write_text(FORTRESS_PROGRAM.format(prehend=args.prehend))
        (programs / "prehend").chmod(0o755)
    return folder


def is_fortress():
    return bool(shutil.which("ign"))


class Launched(Topics):
    """The launch file as a user starts it, with one scene in Gazebo."""

    def __init__(self, args, scene, seed, folder):
        super().__init__(scene)
        self.args, self.log = args, folder / "launch.log"
        prefixes = f"{prefix(args, folder / 'prefix')}:{os.environ['AMENT_PREFIX_PATH']}"
        self.environment = {**in_domain(args), **self.partition, "AMENT_PREFIX_PATH": prefixes, "ROS_LOG_DIR": str(folder / "ros")}
        words = [f"scene:=config/scenes/{scene}.yaml", f"seed:={seed}", "sim:=gazebo", "gui:=false", "moveit_launch:=prehend"]
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                ["ros2", "launch", "prehend", "prehend.launch.py", *words], cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, start_new_session=True)
        self.frame = None
        if is_fortress():
            words = ["--frame-id", CAMERA, "--child-frame-id", FORTRESS_FRAME, "--ros-args", "-p", "use_sim_time:=true"]
            self.frame = subprocess.Popen(
                [program("tf2_ros", "static_transform_publisher"), *words], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(self, sentence):
        """What a sentence came to; nothing when nobody took it."""
        command = [self.args.prehend, "goal", sentence, "--json"]
        try:
            with self.log.with_name("goals.log").open("ab") as told:
                asked = subprocess.run(command, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, stderr=told, text=True, timeout=400)
        except subprocess.TimeoutExpired:
            return {"outcome": "nothing"}
        return json.loads(asked.stdout) if asked.stdout.strip() else {"outcome": "nothing"}

    def until_seeing(self):
        """Waits until what the cameras show is on the map."""
        def sees():
            if self.process.poll() is not None:
                raise Missing(f"the launch ended; see {self.log}")
            return self.ask("what is on the table?")["outcome"] == "done"
        until(f"a graph that sees; see {self.log}", sees, 180)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            pass
        # Fortress's server outlives the launch now and then, and would be a second controller manager in the next graph.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if self.frame:
            end(self.frame)


def is_so(before, after, wanted):
    """Whether Gazebo has a thing where the sentence wants it."""
    name, on, limit = wanted
    moved = math.dist(before[name][0], after[name][0])
    if on is None:
        return moved > limit
    return moved > 0.02 and math.dist(after[name][0][:2], after[on][0][:2]) <= limit and after[name][0][2] > after[on][0][2] - 0.03


def asked(args, folder):
    """The sentences, each in a Gazebo of its own; whether none was told as done that is not."""
    print(f"| scene | sentence, seeds from {args.seed} | told as done | so in Gazebo | else told | seconds, median |\n|---|---|---|---|---|---|")
    good, runs, right = True, 0, 0
    played = {file.stem for file in args.scenes}
    for number, (scene, sentence, wanted) in enumerate(SENTENCES):
        if scene not in played:
            continue
        told, so, seconds = collections.Counter(), 0, []
        for seed in range(args.seed, args.seed + args.sentences):
            launched = Launched(args, scene, seed, folder / f"sentence-{number}-{seed}")
            try:
                launched.until_seeing()
                before, begun = launched.poses(), time.monotonic()
                report = launched.ask(sentence)
                seconds.append(time.monotonic() - begun)
                time.sleep(1.0)
                is_right = is_so(before, launched.poses(), wanted)
            finally:
                launched.end()
            is_done = report["outcome"] == "done"
            good &= is_right or not is_done
            so += is_right
            right += is_right and is_done
            runs += 1
            told["done" if is_done else f"{report['outcome']} ({report.get('reason')})"] += 1
            print(f"{scene} {seed} \"{sentence}\": {report['outcome']}, {'so' if is_right else 'not so'}", file=sys.stderr, flush=True)
        seconds.sort()
        done = told.pop("done", 0)
        print(f"| {scene} | {sentence} | {done} of {args.sentences} | {so} | {listed(told)} | {seconds[len(seconds) // 2]:.0f} |", flush=True)
    print(f"\n{right} of {runs} done and so\n", flush=True)
    return good


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
    gazebo = Server(world, folder / "gazebo.log")
    try:
        gazebo.until(args.seconds)
        after = gazebo.poses()
    finally:
        gazebo.end()
    before = written(world)
    if lost := before.keys() - after.keys():
        raise Missing(f"{scene}: Gazebo has no {', '.join(sorted(lost))}")
    return {name: apart(before[name], after[name]) for name in before}, rolling


def worlds(args, folder):
    """The worlds; whether nothing has moved in them that does not roll."""
    title = f"moved more than {MOVED[0] * 1e3:.0f} mm or {MOVED[1]:.0f}°"
    print(f"| scene, {args.worlds} seeds from {args.seed} | things | {title} | of those roll | the others, median | moved most |")
    print("|---|---|---|---|---|---|")
    good = True
    for scene in args.scenes:
        count, moved, rolled, rest, most = 0, 0, 0, [], (0.0, "")
        for seed in range(args.seed, args.seed + args.worlds):
            found, rolling = rests(args, scene, seed, folder / f"{scene.stem}-{seed}")
            count += len(found)
            for name, (metres, degrees) in found.items():
                most = max(most, (metres, name))
                if metres > MOVED[0] or degrees > MOVED[1]:
                    moved += 1
                    rolled += name in rolling
                else:
                    rest.append(metres)
        good &= moved == rolled
        rest.sort()
        middle = f"{rest[len(rest) // 2] * 1e3:.1f} mm" if rest else "-"
        print(f"| {scene.stem} | {count} | {moved} | {rolled} | {middle} | {most[0] * 1e3:.0f} mm ({most[1]}) |", flush=True)
    print(flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prehend", default=str(ROOT / "target/debug/prehend"), help="the program")
    parser.add_argument("--worlds", type=int, default=1, help="worlds of each scene; 0: none")
    parser.add_argument("--scenes", nargs="+", type=pathlib.Path, default=sorted((ROOT / "config/scenes").glob("*.yaml")), metavar="FILE", help="those of config/scenes")
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each world is played, simulated seconds")
    parser.add_argument("--sentences", type=int, default=0, help="seeds of each sentence; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--domain", type=int, default=77, help="ROS domain of the sentences")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the worlds and logs; a new one in the temporary folder else")
    args = parser.parse_args()
    check(args, NEEDED if args.sentences else [])
    if Topics.installed() is None:
        sys.exit("Gazebo is not installed, or not sourced: neither `gz` nor `ign` is there")
    folder = (args.out or pathlib.Path(tempfile.mkdtemp(prefix="real_gazebo_"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    print(f"worlds and logs: {folder}", file=sys.stderr)
    good = True
    try:
        if args.worlds:
            good &= worlds(args, folder)
        if args.sentences:
            good &= asked(args, folder)
    except Missing as error:
        sys.exit(str(error))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
