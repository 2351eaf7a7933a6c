#!/usr/bin/env python3
"""Prehend on a real Nav2 beside its own navigation: the same errands on both, and what killed servers come to; as Markdown tables.

    # ROS 2 Jazzy, sourced, with: nav2_amcl nav2_planner nav2_navfn_planner nav2_smac_planner nav2_controller nav2_regulated_pure_pursuit_controller
    # nav2_behaviors nav2_bt_navigator nav2_velocity_smoother nav2_lifecycle_manager nav2_map_server
    cargo build -p prehend-cli
    python3 tests/peers/real_nav2.py --prehend target/debug/prehend --robot ranger_xarm6 --seeds 2 --seed 1 --kills 10

The robot, its laser, its odometry and its arm are the embedded ones; localisation, costmaps, planning and driving are the real Nav2's
(`sim:nav2:=map`), with config/nav2/ROBOT.yaml. Each errand has a Nav2 of its own, since each begins in another room. Exits with 1 when a run
on the real one claims something wrong or moves without a permit, or when a goal after a kill is not done.
"""
import argparse
import collections
import itertools
import json
import math
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from peer_process import Missing, until
from real_parts import ROOT, Graph, answered, check, end, ending, goal, in_domain, listed, outcome, program, stop, unpermitted

TASKS = ["affordance_phone", "affordance_cabinet", "double_pick", "spatial", "affordance_sides"]
# Node, package and remappings, in the order in which the lifecycle manager brings them up. The velocities go as in nav2_bringup.
VELOCITIES = [("cmd_vel", "cmd_vel_nav")]
SERVERS = [
    ("map_server", "nav2_map_server", []),
    ("amcl", "nav2_amcl", []),
    ("controller_server", "nav2_controller", VELOCITIES),
    ("planner_server", "nav2_planner", []),
    ("behavior_server", "nav2_behaviors", VELOCITIES),
    ("velocity_smoother", "nav2_velocity_smoother", [*VELOCITIES, ("cmd_vel_smoothed", "cmd_vel")]),
    ("bt_navigator", "nav2_bt_navigator", []),
]
# As in nav2_bringup, each has a manager of its own: the localisation is not lost with the navigation.
LOCALISATION = ["map_server", "amcl"]
MANAGERS = ["lifecycle_manager_localization", "lifecycle_manager_navigation"]
MANAGER = "nav2_lifecycle_manager"
NEEDED = sorted({package for _, package, _ in SERVERS} | {MANAGER} | {"nav2_navfn_planner", "nav2_smac_planner", "nav2_regulated_pure_pursuit_controller"})
# Which manager brings up anew when a server was killed.
MANAGED = {name: MANAGERS[name not in LOCALISATION] for name, _, _ in SERVERS}
# A lifecycle manager says so when all are up.
ACTIVE = "Managed nodes are active"
DOWN = ["Pausing managed nodes", "Shutting down managed nodes", "Resetting managed nodes", "due to bond"]
SCENE = "config/scenes/room_two_tables.yaml"
# Drives from place to place, and needs nothing but driving and seeing.
TOUR = "look around"
# Two tables, and between them a wall with a doorway.
DOORWAY = [2.5, 1.3]
TWO_ROOMS = ROOT / "tests/scenes/two_rooms.yaml"
# From one side of the wall to the other.
CROSSINGS = ["go to the red block", "go to the plate"]
NODES = ["sim", "object_map", "affordance", "verifier", "skills", "go_to", "agent"]


class Nav2:
    """A real Nav2 for one robot; with `map_file` it has a map server of its own, else the map is the simulated robot's."""

    def __init__(self, args, folder, map_file=None):
        self.environment = in_domain(args)
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.settings = ROOT / "config/nav2" / f"{args.robot}.yaml"
        self.map_file = map_file
        self.processes = {}
        servers = [server for server in SERVERS if map_file or server[0] != "map_server"]
        for server in servers:
            self.start(server)
        for manager, localises in zip(MANAGERS, [True, False]):
            self.manage(manager, [name for name, _, _ in servers if (name in LOCALISATION) == localises])

    def start(self, server, *more):
        name, package, remappings = server
        more = [*more, *(["-p", f"yaml_filename:={self.map_file}"] if name == "map_server" else [])]
        binary = program(package, "lifecycle_manager" if package == MANAGER else name)
        words = [word for old, new in remappings for word in ("-r", f"{old}:={new}")]
        command = [binary, "--ros-args", "--params-file", str(self.settings), "-r", f"__node:={name}", "-p", "use_sim_time:=true", *words, *more]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(command, env=self.environment, stdout=log, stderr=subprocess.STDOUT)

    def kill(self, name):
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait()

    def again(self, name):
        self.start(next(server for server in SERVERS if server[0] == name))

    def navigation_anew(self):
        """Starts all of the navigation anew, as a person does whose lifecycle manager hangs."""
        servers = [server for server in SERVERS if server[0] not in LOCALISATION]
        for name in [MANAGERS[1], *(name for name, _, _ in servers)]:
            self.kill(name)
        for server in servers:
            self.start(server)
        self.manage(MANAGERS[1], [name for name, _, _ in servers])

    def manage(self, manager, names):
        self.start(
            (manager, MANAGER, []), "-p", "autostart:=true", "-p", f"node_names:=[{', '.join(names)}]", "-p", "bond_timeout:=4.0",
            "-p", "attempt_respawn_reconnection:=true")

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def ups(self):
        """How often each manager has brought its servers up."""
        return [self.log(manager).count(ACTIVE) for manager in MANAGERS]

    def is_active(self):
        """Whether each manager has brought its servers up after it took them down last."""
        logs = map(self.log, MANAGERS)
        return all(log.rfind(ACTIVE) > max(map(log.rfind, DOWN)) for log in logs)

    def until_active(self, ups=(1, 1), patience=60):
        until(f"Nav2 active; see {self.folder}", lambda: all(now >= wanted for now, wanted in zip(self.ups(), ups)), patience)

    def end(self):
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            end(process)


def evaluation(args, out, more):
    """One evaluation as JSON; its folder holds the runs."""
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [
        args.prehend, "eval", "asp-mobile", "--robot", args.robot, "--seeds", "1", "--speed", str(args.speed), "--json", "--out", str(out), *more]
    with out.with_suffix(".log").open("wb") as log:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True)
    if not done.stdout.strip():
        raise Missing(f"no result; see {out.with_suffix('.log')}")
    return json.loads(done.stdout)


def drives(folder):
    """Seconds of the drives that were done, and what the others ended with, from the traces of the runs."""
    seconds, faults = [], collections.Counter()
    for trace in folder.glob("**/trace.jsonl"):
        for line in trace.open():
            event = json.loads(line)
            if event.get("name") != "drive" or event.get("status") == "started":
                continue
            told = re.search(r"done in ([\d.]+) s", event["message"])
            if told:
                seconds.append(float(told[1]))
            else:
                code = re.search(r"Nav2 code (\d+)", event["message"])
                faults[f"code {code[1]}" if code else event["status"]] += 1
    return sorted(seconds), faults


def errands(args, folder):
    """The same errands on both; whether the real one is free of wrong claims and of motions without a permit."""
    totals = {}
    for kind in args.on:
        total = totals[kind] = collections.Counter()
        for seed in range(args.seed, args.seed + args.seeds):
            for task in args.tasks:
                more = ["--task", task, "--seed", str(seed)]
                out = folder / kind / f"{task}-{seed}"
                nav2 = None
                if kind == "real":
                    nav2 = Nav2(args, folder / kind / f"{task}-{seed}-nav2")
                    more += ["--domain", str(args.domain), "--param", "sim:nav2:=map"]
                try:
                    result = evaluation(args, out, more)
                finally:
                    if nav2:
                        nav2.end()
                for key in ["runs", "right", "false_success", "ungated_motions", "hard_contacts"]:
                    total[key] += result[key]
                print(f"{kind} {task} {seed}: {'right' if result['right'] else 'not right'}", file=sys.stderr, flush=True)
    titles = {"own": "own navigation", "real": "real Nav2"}
    print(f"| {args.robot}, seeds {args.seed} to {args.seed + args.seeds - 1}, speed {args.speed:g} | {' | '.join(titles[kind] for kind in args.on)} |")
    print("|---" * (1 + len(args.on)) + "|")
    found = {kind: drives(folder / kind) for kind in args.on}

    def row(title, value):
        print(f"| {title} | {' | '.join(value(kind) for kind in args.on)} |")

    row("right", lambda kind: f"{totals[kind]['right']} of {totals[kind]['runs']}")
    row("wrong claims", lambda kind: str(totals[kind]["false_success"]))
    row("motions without a permit", lambda kind: str(totals[kind]["ungated_motions"]))
    row("hard contacts", lambda kind: str(totals[kind]["hard_contacts"]))
    row("drives done; seconds, median / 90 % / most", lambda kind: spread(found[kind][0]))
    row("other drives ended", lambda kind: listed(found[kind][1]))
    print(flush=True)
    return all(total["false_success"] == 0 and total["ungated_motions"] == 0 for kind, total in totals.items() if kind == "real")


def spread(seconds):
    if not seconds:
        return "0"
    middle, ninth = seconds[len(seconds) // 2], seconds[len(seconds) * 9 // 10]
    return f"{len(seconds)}; {middle:.1f} / {ninth:.1f} / {seconds[-1]:.1f} s"


def graph_of(args, folder, nav2, scene=SCENE):
    """The robot, with the navigation that is meant."""
    return Graph(
        args, folder, "--robot", args.robot, "--scene", str(scene), "--perfect-detector", "--speed", str(args.speed), "--param", f"sim:nav2:={nav2}")


class Judged:
    """Prehend's nodes one by one, and the simulator's own channel to a judge, who may interfere."""

    def __init__(self, args, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.processes = {}
        for name in NODES:
            command = [
                args.prehend, "node", name, "--robot", f"config/robots/{args.robot}.yaml", "--scene", str(TWO_ROOMS), "--speed", str(args.speed),
                *(["--supervised", "-p", "nav2:=map"] if name == "sim" else [])]
            pipe = subprocess.PIPE if name == "sim" else subprocess.DEVNULL
            with (folder / f"{name}.log").open("wb") as log:
                self.processes[name] = subprocess.Popen(
                    command, cwd=ROOT, env=in_domain(args), stdin=pipe, stdout=pipe, stderr=log, text=name == "sim")

    def ask(self, request):
        sim = self.processes["sim"]
        sim.stdin.write(json.dumps(request) + "\n")
        sim.stdin.flush()
        answer = json.loads(sim.stdout.readline() or '{"error": "the simulator has ended"}')
        if "error" in answer:
            raise Missing(answer["error"])
        return answer

    def bumps(self):
        return self.ask({"ask": "snapshot"})["base"]["bumps"]

    def end(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            end(process)


class Driving:
    """Whether the base drives, as its odometry says."""

    def __init__(self, domain):
        import rclpy
        from geometry_msgs.msg import Twist
        from nav_msgs.msg import Odometry
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        self.node = rclpy.create_node("driving", context=context)
        self.executor = SingleThreadedExecutor(context=context)
        self.executor.add_node(self.node)
        self.begun, self.last = None, 0.0
        self.node.create_subscription(Odometry, "/odom", self.take, 10)
        self.told = {name: None for name in ["/cmd_vel_nav", "/cmd_vel"]}
        for name in self.told:
            self.node.create_subscription(Twist, name, lambda twist, name=name: self.told.update({name: (time.monotonic(), twist)}), 1)

    def velocities(self):
        """What was told last on the way from the controller to the base."""
        self.spin(1.0)
        now = time.monotonic()
        words = lambda told: f"{told[1].linear.x:.2f} m/s, {told[1].angular.z:.2f} rad/s {now - told[0]:.1f} s ago" if told else "nothing"
        return ", ".join(f"{name}: {words(told)}" for name, told in self.told.items())

    def take(self, message):
        twist, now = message.twist.twist, time.monotonic()
        if abs(twist.linear.x) > 0.01 or abs(twist.angular.z) > 0.02:
            self.begun = self.begun or now
            self.last = now
        elif now - self.last > 0.3:
            self.begun = None

    def spin(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.005)

    def until_driving(self, lasting, patience=60):
        """Waits for a base that has driven for a while."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            self.spin(0.02)
            if self.begun and time.monotonic() - self.begun > lasting:
                return
        raise Missing("a base that drives")


def stops(args, folder, kind):
    """Stops the robot while its base drives; seconds from the command to a base that stands, and what the goals came to."""
    nav2 = Nav2(args, folder / "stops-nav2") if kind == "real" else None
    graph = graph_of(args, folder / f"stops-{kind}", "map" if nav2 else "robot")
    driving = Driving(args.domain)
    stood, told = [], collections.Counter()
    try:
        graph.until_ready()
        for _ in range(args.stops):
            running = goal(args, TOUR)
            driving.until_driving(1.0)
            begun = time.monotonic()
            command = stop(args)
            driving.spin(5.0)
            command.wait()
            stood.append(driving.last - begun)
            told[outcome(running)] += 1
            stop(args, "--clear").wait()
    finally:
        graph.end()
        if nav2:
            nav2.end()
    return spread(sorted(stood)), listed(told)


def in_two_rooms(args, folder, robot):
    """A real Nav2 and Prehend, which `robot` starts, in two rooms, both looked at; whoever asks for this ends the two."""
    nav2 = Nav2(args, folder.with_name(f"{folder.name}-nav2"))
    room = robot(args, folder)
    try:
        nav2.until_active()
        # The nodes may still be coming up.
        if not any(outcome(goal(args, sentence)) == "done" for sentence in [TOUR] * 3):
            raise Missing(f"a round that is done; see {folder}")
        if (there := outcome(goal(args, CROSSINGS[-1]))) != "done":
            raise Missing(f"a drive to the other room ({there}); see {folder}")
    except Missing:
        room.end()
        nav2.end()
        raise
    return nav2, room


def kills(args, folder, server):
    """Kills a server of Nav2 at random moments of drives, starts it again, and asks for the next one; whether each of those was done."""
    draw = random.Random(args.seed)
    driving = Driving(args.domain)
    nav2, room = in_two_rooms(args, folder / f"kills-{server}", lambda *where: graph_of(*where, "map", TWO_ROOMS))
    told, after, waited, stood, back = collections.Counter(), collections.Counter(), [], [], []
    asked, hung = itertools.cycle(CROSSINGS), 0
    try:
        for count in range(args.kills):
            ups = nav2.ups()
            running = goal(args, next(asked))
            driving.until_driving(draw.uniform(0.3, 3.0))
            nav2.kill(server)
            killed = time.monotonic()
            while not answered(running) and time.monotonic() < killed + 60:
                driving.spin(0.02)
            took = time.monotonic() - killed
            if (ended := outcome(running)) != "done":
                waited.append(took)
            told[ended] += 1
            driving.spin(1.0)
            stood.append(driving.last - killed)
            nav2.again(server)
            anew = [before + (name == MANAGED[server]) for before, name in zip(ups, MANAGERS)]
            try:
                nav2.until_active(anew)
                back.append(time.monotonic() - killed)
            except Missing:
                hung += 1
                nav2.navigation_anew()
                nav2.until_active(anew)
            # The same once more, and then back, so that each kill is in a drive through the doorway.
            after[again := outcome(goal(args, CROSSINGS[count % 2]))] += 1
            if again != "done":
                print(f"kill {count + 1}: the next goal ended {again}; {driving.velocities()}", file=sys.stderr, flush=True)
                stop(args).wait()
                stop(args, "--clear").wait()
                nav2.navigation_anew()
                nav2.until_active([before + (name == MANAGERS[1]) for before, name in zip(anew, MANAGERS)])
    finally:
        room.end()
        nav2.end()
    moved = room.moved()
    soon = f"{sum(seconds <= 2.0 for seconds in waited)} of {len(waited)}"
    cells = [
        listed(told), spread(sorted(waited)), soon, spread(sorted(stood)), spread(sorted(back)), str(hung), str(moved["bumps"]),
        unpermitted(moved), listed(after)]
    print(f"| {server} | {' | '.join(cells)} |", flush=True)
    return after["done"] == args.kills and not moved["ungated_motions"]


class Somebody:
    """Another program, or a person at RViz, that uses the same Nav2."""

    def __init__(self, driving):
        from geometry_msgs.msg import PoseWithCovarianceStamped
        from rclpy.qos import DurabilityPolicy, QoSProfile
        self.driving, self.pose = driving, None
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        driving.node.create_subscription(PoseWithCovarianceStamped, "/amcl_pose", self.take, latched)
        self.initial = driving.node.create_publisher(PoseWithCovarianceStamped, "/initialpose", 1)

    def take(self, pose):
        self.pose = pose

    def called(self, kind, name, request):
        client = self.driving.node.create_client(kind, name)
        if not client.wait_for_service(10):
            raise Missing(f"the service {name}")
        future = client.call_async(request)
        self.driving.executor.spin_until_future_complete(future, timeout_sec=20)

    def cancel(self):
        from action_msgs.srv import CancelGoal
        self.called(CancelGoal, "/navigate_to_pose/_action/cancel_goal", CancelGoal.Request())

    def go(self):
        """A goal of somebody's: where the robot began."""
        from nav2_msgs.action import NavigateToPose
        from rclpy.action import ActionClient
        client = ActionClient(self.driving.node, NavigateToPose, "/navigate_to_pose")
        client.wait_for_server(10)
        asked = NavigateToPose.Goal()
        asked.pose.header.frame_id = "map"
        asked.pose.pose.position.x = asked.pose.pose.position.y = 1.0
        asked.pose.pose.orientation.w = 1.0
        self.driving.executor.spin_until_future_complete(client.send_goal_async(asked), timeout_sec=10)

    def manage(self, command):
        from nav2_msgs.srv import ManageLifecycleNodes
        request = ManageLifecycleNodes.Request(command=getattr(ManageLifecycleNodes.Request, command))
        self.called(ManageLifecycleNodes, f"/{MANAGERS[1]}/manage_nodes", request)

    def jump(self):
        """Tells the localisation that the robot is half a metre beside where it believes to be, as sure as RViz's "2D Pose Estimate" is."""
        if self.pose is None:
            raise Missing("a pose of AMCL's")
        self.pose.pose.pose.position.y += 0.5
        for index, variance in [(0, 0.25), (7, 0.25), (35, (math.pi / 12) ** 2)]:
            self.pose.pose.covariance[index] = variance
        self.initial.publish(self.pose)


def mistakes(nav2, room, somebody):
    """What can go wrong in a drive: its name, what is done, for how long it stays so (seconds; None: until the goal has ended), what mends it."""
    nothing = lambda: None
    ask = lambda **request: lambda: room.ask(request)
    signalled = lambda name, what: lambda: nav2.processes[name].send_signal(what)
    block, free = ask(ask="put_obstacle", position=DOORWAY), ask(ask="put_obstacle", position=None)
    return [
        ("the doorway is blocked for 15 s", block, 15, free),
        ("the doorway is blocked", block, None, free),
        ("the base stops as at a bump", ask(ask="bump"), 0, nothing),
        ("somebody cancels the drive at Nav2", somebody.cancel, 0, nothing),
        ("somebody gives Nav2 another goal", somebody.go, 0, nothing),
        ("the lifecycle manager pauses Nav2", lambda: somebody.manage("PAUSE"), None, lambda: somebody.manage("RESUME")),
        ("controller_server hangs for 8 s (SIGSTOP)", signalled("controller_server", signal.SIGSTOP), 8, signalled("controller_server", signal.SIGCONT)),
        ("the localisation is told half a metre beside", somebody.jump, 0, nothing),
    ]


def wrong(args, folder):
    """Lets go wrong what can while the base drives; whether the goal after each was done."""
    driving = Driving(args.domain)
    somebody = Somebody(driving)
    nav2, room = in_two_rooms(args, folder / "wrong", Judged)
    asked = itertools.cycle(CROSSINGS)
    good = True
    try:
        print(f"| {args.robot}, what goes wrong in a drive | the goal ended | and said | seconds to that | bumps | the next goal |\n|---|---|---|---|---|---|", flush=True)
        for name, done, lasting, mended in mistakes(nav2, room, somebody):
            before = room.bumps()
            running = goal(args, next(asked))
            driving.until_driving(1.0)
            done()
            begun = time.monotonic()
            if lasting is not None:
                driving.spin(lasting)
                mended()
            while running.poll() is None and time.monotonic() < begun + 200:
                driving.spin(0.05)
            ended, said = ending(running)
            took = time.monotonic() - begun
            if lasting is None:
                mended()
            # A manager that missed a bond takes its servers down and brings them up anew.
            driving.spin(8.0)
            until("Nav2 active again", nav2.is_active, 60)
            bumps = room.bumps() - before
            after, why = ending(goal(args, next(asked)))
            good &= after == "done"
            print(f"| {name} | {ended} | {said} | {took:.1f} | {bumps} | {after}{'' if after == 'done' else ': ' + why} |", flush=True)
    finally:
        room.end()
        nav2.end()
    print()
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prehend", default=str(ROOT / "target/debug/prehend"), help="the program")
    parser.add_argument("--robot", default="ranger_xarm6", choices=["ranger_xarm6", "stretch"])
    parser.add_argument("--seeds", type=int, default=1, help="rooms of each task of eval asp-mobile; 0: none")
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS, metavar="TASK", help=f"of {', '.join(TASKS)}")
    parser.add_argument("--on", nargs="+", default=["own", "real"], choices=["own", "real"], help="on whose navigation")
    parser.add_argument("--kills", type=int, default=0, help="kills of each server of --killed; 0: none")
    names = [name for name, _, _ in SERVERS if name != "map_server"]
    parser.add_argument("--killed", nargs="+", default=["bt_navigator"], choices=names, metavar="SERVER", help=f"of {', '.join(names)}")
    parser.add_argument("--wrong", action="store_true", help="what can go wrong in a drive, one after the other")
    parser.add_argument("--stops", type=int, default=0, help="stops of a base that drives; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=float, default=1.0, help="simulated seconds per second; Nav2's controller is timed by the wall")
    parser.add_argument("--domain", type=int, default=79, help="ROS domain of the runs on the real one")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the runs and logs; a new one in the temporary folder else")
    args = parser.parse_args()
    check(args, NEEDED)
    folder = (args.out or pathlib.Path(tempfile.mkdtemp(prefix="real_nav2_"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    print(f"runs and logs: {folder}", file=sys.stderr)
    good = True
    try:
        if args.seeds:
            good &= errands(args, folder)
        if args.wrong:
            good &= wrong(args, folder)
        if args.stops:
            ended_as = {kind: stops(args, folder, kind) for kind in args.on}
            print(f"| `prehend stop` while the base drives, {args.stops} times | {' | '.join(args.on)} |")
            print("|---" * (1 + len(args.on)) + "|")
            for title, index in [("from the command to a base that stands, median / 90 % / most", 0), ("the goal ended", 1)]:
                print(f"| {title} | {' | '.join(ended_as[kind][index] for kind in args.on)} |")
            print(flush=True)
        if args.kills:
            print(f"| {args.robot}: killed {args.kills} times during a drive | the goal under way ended | seconds to its answer, where it was not done | "
                  "within 2 s | to a base that stands | to a Nav2 that is active again | times that Nav2's manager hung for 60 s | bumps | motions without a permit | the same goal again |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
            for server in args.killed:
                good &= kills(args, folder, server)
            print(flush=True)
    except Missing as error:
        sys.exit(str(error))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
