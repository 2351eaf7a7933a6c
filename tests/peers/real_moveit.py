#!/usr/bin/env python3
"""Prehend on a real MoveIt 2 beside its own planner: the same runs on both, and what a killed move_group comes to; as Markdown tables.

    # ROS 2 Jazzy, sourced, with: moveit_ros_move_group moveit_planners_ompl moveit_kinematics moveit_simple_controller_manager tf2_ros
    # and the vendor's xarm_moveit_config, xarm_description and uf_ros_lib
    cargo build -p prehend-cli
    python3 tests/peers/real_moveit.py --prehend target/debug/prehend --runs 30 --seed 1 --kills 20

The robot, its controllers and its camera are the embedded ones; everything that MoveIt offers is the real one's (`sim:moveit:=off`), with the
vendor's description of the arm. One move_group serves all runs, as it does a robot that Prehend is started on again and again. Exits with 1 when
a run on the real one claims something wrong or moves without a permit, or when a goal after a kill is not done.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from peer_process import Missing, until
from real_parts import ROOT, Graph, check, end, ending, goal, in_domain, listed, outcome, program, stop, unpermitted, until_answered

NEEDED = [
    "moveit_ros_move_group", "moveit_planners_ompl", "moveit_kinematics", "moveit_simple_controller_manager", "tf2_ros",
    "xarm_moveit_config", "xarm_description", "uf_ros_lib",
]
# move_group says so when it serves everything.
READY = "You can start planning now!"
CONTROLLER = "/xarm6_traj_controller/follow_joint_trajectory"
# As a trace has MoveIt's error codes.
CODE = re.compile(r"\((?:MoveIt )?code (-?\d+)")
# As a skill that found no way has its reasons: "(30 candidates tried: 28 x pose out of reach, 2 x no path)", or of one "(1 candidates tried: no path)".
MISS = re.compile(r"(?:candidates tried: |, )(?:(\d+) x )?([^()]+?)(?=, \d+ x|\))")
GOALS = ["put the red mug in the bowl", "put the red mug on the plate"]


def settings(args, file, change=lambda parameters: None):
    """The vendor's settings of move_group for an xArm6 with gripper and wrist camera, on simulated time, changed where asked."""
    from launch import LaunchContext
    from uf_ros_lib.moveit_configs_builder import MoveItConfigsBuilder
    import yaml
    configs = MoveItConfigsBuilder(
        context=LaunchContext(), controllers_name="controllers", dof="6", robot_type="xarm", limited="true",
        add_gripper="true", add_realsense_d435i="true", add_d435i_links="true")
    if args.planner:
        configs.planning_pipelines(default_planning_pipeline="ompl", pipelines=sorted({"ompl", args.planner[0]}))
    parameters = {**configs.to_moveit_configs().to_dict(), "use_sim_time": True}
    change(parameters)
    # For every node of the process: MoveIt has more than one, and each needs the clock.
    file.write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}))


class MoveIt:
    """A real move_group, and the transform that its launch file publishes beside it."""

    def __init__(self, args, folder):
        self.args, self.environment = args, in_domain(args)
        self.settings = folder / "move_group.yaml"
        self.log = folder / "move_group.log"
        settings(args, self.settings)
        self.frame = self.started(
            "tf2_ros", "static_transform_publisher", ["--frame-id", "world", "--child-frame-id", "link_base"], subprocess.DEVNULL)
        self.start()

    def started(self, package, name, arguments, output):
        command = [program(package, name), *arguments]
        return subprocess.Popen(command, env=self.environment, stdout=output, stderr=subprocess.STDOUT)

    def start(self):
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = self.started(
                "moveit_ros_move_group", "move_group", ["--ros-args", "--params-file", str(self.settings)], log)
        said = lambda: READY in self.log.read_bytes()[before:].decode(errors="replace")
        until(f"move_group ready; see {self.log}", said, 60)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def start_with(self, change):
        """Starts it anew with its settings changed."""
        self.kill()
        settings(self.args, self.settings, change)
        self.start()

    def end(self):
        for process in [self.process, self.frame]:
            end(process)


def shared(args, folder):
    """The environment of a Prehend whose robot file names the planner."""
    share = folder / "share"
    for name in ["config", "urdf"]:
        shutil.copytree(ROOT / name, share / name, dirs_exist_ok=True)
    robot = share / "config/robots/xarm6.yaml"
    pipeline, planner = args.planner
    robot.write_text(robot.read_text().replace("  group: xarm6\n", f"  group: xarm6\n  pipeline: {pipeline}\n  planner: {planner}\n"))
    return {**os.environ, "PREHEND_SHARE": str(share)}


def evaluation(args, name, kind, more, folder, environment=None):
    """One evaluation as JSON; its folder holds the runs."""
    command = [
        args.prehend, "eval", *kind, "--seed", str(args.seed), "--speed", str(args.speed), "--json", "--out", str(folder / name), *more]
    with (folder / f"{name}.log").open("wb") as log:
        done = subprocess.run(command, cwd=folder if environment else ROOT, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    if not done.stdout.strip():
        raise Missing(f"{name}: no result; see {folder / name}.log")
    return json.loads(done.stdout)


def events(text):
    """What skills told in a trace."""
    return [event for event in map(json.loads, text.splitlines()) if event["node"] == "skills"]


def codes(told):
    """MoveIt's error codes, and how often each was met."""
    return collections.Counter(code for event in told for code in CODE.findall(event["message"]))


def misses(told):
    """Why poses, lines and plans were not found, and how often; told of once for each skill that found no way."""
    found = collections.Counter()
    for event in told:
        is_end = event["name"].endswith("/done") and "candidates tried" in event["message"]
        for count, why in MISS.findall(event["message"]) if is_end else []:
            found[why] += int(count or 1)
    return found


def told_in(folder):
    return [event for trace in folder.glob("*/trace.jsonl") for event in events(trace.read_text())]


def seconds(result, phase):
    spread = result["seconds"].get(phase)
    return "-" if spread is None else f"{spread['median']:.2f} / {spread['p90']:.2f} s"


def ran(args, kind, folder):
    """The same runs on both planners; whether the real one is free of wrong claims and of motions without a permit."""
    label = kind[0]
    own = evaluation(args, f"{label}_own", kind, [], folder)
    moveit = MoveIt(args, folder)
    try:
        environment = shared(args, folder) if args.planner else None
        real = evaluation(
            args, f"{label}_real", kind, ["--domain", str(args.domain), "--param", "sim:moveit:=off"], folder, environment)
    finally:
        moveit.end()
    rows = [
        ("right", lambda result, _: f"{result['right']} of {result['runs']}"),
        ("wrong claims", lambda result, _: result["false_success"]),
        ("motions without a permit", lambda result, _: f"{result['ungated_motions']} ({result['permits']['granted']} granted)"),
        ("largest force on a pad; hard contacts", lambda result, _: f"{result['max_pad_force']:.0f} N; {result['hard_contacts']}"),
        ("sentence to first motion, median / 90 %", lambda result, _: seconds(result, "first_motion")),
        ("whole goal, median / 90 %", lambda result, _: seconds(result, "total")),
        ("error codes met", lambda _, name: listed(codes(told_in(folder / f"{label}_{name}")))),
        ("not found, where a skill found no way", lambda _, name: listed(misses(told_in(folder / f"{label}_{name}")))),
    ]
    print(f"| `eval {' '.join(kind)} --seed {args.seed} --speed {args.speed:g}` | own planner | real MoveIt 2 |\n|---|---|---|")
    for title, value in rows:
        print(f"| {title} | {value(own, 'own')} | {value(real, 'real')} |")
    print(flush=True)
    return real["false_success"] == 0 and real["ungated_motions"] == 0


def graph_of(args, folder, real):
    """The robot, with its own planner or beside a real MoveIt."""
    graph = Graph(args, folder, "--perfect-detector", *(["--param", "sim:moveit:=off"] * real))
    graph.until_ready(60)
    return graph


def kills(args, folder):
    """Kills move_group at random moments of goals, starts it again, and asks for the next goal; whether each of those was done."""
    draw = random.Random(args.seed)
    moveit = MoveIt(args, folder)
    graph = graph_of(args, folder / "kills", True)
    told, after, waited = collections.Counter(), collections.Counter(), []
    asked = iter(GOALS * args.kills)
    try:
        for _ in range(args.kills):
            running = goal(args, next(asked))
            time.sleep(draw.uniform(0.5, 11.0))
            moveit.kill()
            killed = time.monotonic()
            until_answered(running)
            took = time.monotonic() - killed
            if (ended := outcome(running)) != "done":
                waited.append(took)
            told[ended] += 1
            moveit.start()
            after[outcome(goal(args, next(asked)))] += 1
    finally:
        graph.end()
        moveit.end()
    print(f"| move_group killed {args.kills} times during a goal | |\n|---|---|")
    print(f"| the goal under way ended | {listed(told)} |")
    if waited:
        waited.sort()
        middle, ninth, soon = waited[len(waited) // 2], waited[len(waited) * 9 // 10], sum(seconds <= 2.0 for seconds in waited)
        print(f"| seconds from the kill to its answer, where it was not done: median / 90 % / most | {middle:.1f} / {ninth:.1f} / {waited[-1]:.1f} |")
        print(f"| of these within 2 s | {soon} of {len(waited)} |")
    print(f"| the next goal, move_group started again | {listed(after)} |")
    moved = graph.moved()
    print(f"| motions without a permit | {unpermitted(moved)} |\n", flush=True)
    return after["done"] == args.kills and not moved["ungated_motions"]


class Moving:
    """Whether the arm moves, as its joint states say."""

    def __init__(self, domain):
        import rclpy
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from sensor_msgs.msg import JointState
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        self.node = rclpy.create_node("moving", context=context)
        self.executor = SingleThreadedExecutor(context=context)
        self.executor.add_node(self.node)
        self.began, self.before, self.last = {}, {}, 0.0
        self.node.create_subscription(JointState, "/joint_states", self.take, 10)

    def take(self, message):
        now = dict(zip(message.name, message.position))
        if any(abs(now[name] - self.before.get(name, now[name])) > 5e-4 for name in now if name.startswith("joint")):
            self.last = time.monotonic()
        self.began = self.began or now
        self.before = now

    def spin(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.005)

    def until_moving(self, seconds=30):
        """Waits for an arm that has moved for a while."""
        end = time.monotonic() + seconds
        since = None
        while time.monotonic() < end:
            self.spin(0.02)
            if time.monotonic() - self.last > 0.1:
                since = None
            elif since is None:
                since = time.monotonic()
            elif time.monotonic() - since > 0.3:
                return True
        return False


def stops(args, folder, real):
    """Stops the robot while its arm moves; seconds from the command to an arm that stands."""
    name = "stops_real" if real else "stops_own"
    moveit = MoveIt(args, folder) if real else None
    graph = graph_of(args, folder / name, real)
    moving = Moving(args.domain)
    stood, told = [], collections.Counter()
    asked = iter(GOALS * args.stops)
    try:
        for _ in range(args.stops):
            running = goal(args, next(asked))
            if not moving.until_moving():
                raise Missing("an arm that moves")
            begun = time.monotonic()
            command = stop(args)
            moving.spin(6.0)
            command.wait()
            stood.append(moving.last - begun)
            told[outcome(running)] += 1
            stop(args, "--clear").wait()
    finally:
        graph.end()
        if moveit:
            moveit.end()
    stood.sort()
    return f"{stood[len(stood) // 2]:.2f} / {stood[-1]:.2f} s", listed(told)


class Somebody:
    """Another program of the robot's owner: it puts things into MoveIt's scene, cancels at the controller, and moves the arm."""

    def __init__(self, moving):
        from moveit_msgs.srv import ApplyPlanningScene
        self.moving, self.sent = moving, None
        self.scene = moving.node.create_client(ApplyPlanningScene, "/apply_planning_scene")

    def answer(self, future, seconds=10):
        self.moving.executor.spin_until_future_complete(future, timeout_sec=seconds)
        if not future.done():
            raise Missing("an answer of the robot side")
        return future.result()

    def box(self, centre=None, size=None):
        """Puts a box there, metres in the frame of the arm's base; without a centre it is taken away."""
        from geometry_msgs.msg import Pose
        from moveit_msgs.msg import CollisionObject
        from moveit_msgs.srv import ApplyPlanningScene
        from shape_msgs.msg import SolidPrimitive
        thing = CollisionObject(id="somebodys_box", operation=CollisionObject.REMOVE)
        thing.header.frame_id = "link_base"
        if centre:
            thing.operation = CollisionObject.ADD
            thing.primitives = [SolidPrimitive(type=SolidPrimitive.BOX, dimensions=list(size))]
            pose = Pose()
            pose.position.x, pose.position.y, pose.position.z = centre
            thing.primitive_poses = [pose]
        request = ApplyPlanningScene.Request()
        request.scene.is_diff = request.scene.robot_state.is_diff = True
        request.scene.world.collision_objects = [thing]
        if not self.scene.wait_for_service(10) or not self.answer(self.scene.call_async(request)).success:
            raise Missing("a planning scene that takes a box")

    def cancel(self):
        """Cancels whatever the controller does."""
        from action_msgs.srv import CancelGoal
        client = self.moving.node.create_client(CancelGoal, f"{CONTROLLER}/_action/cancel_goal")
        client.wait_for_service(10)
        self.answer(client.call_async(CancelGoal.Request()))

    def move(self):
        """Gives the controller a trajectory: back to where the arm was first seen."""
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient
        from trajectory_msgs.msg import JointTrajectoryPoint
        client = ActionClient(self.moving.node, FollowJointTrajectory, CONTROLLER)
        if not client.wait_for_server(10):
            raise Missing("the arm's controller")
        asked = FollowJointTrajectory.Goal()
        asked.trajectory.joint_names = [name for name in self.moving.began if name.startswith("joint")]
        point = JointTrajectoryPoint(positions=[self.moving.began[name] for name in asked.trajectory.joint_names])
        point.time_from_start.sec = 3
        asked.trajectory.points = [point]
        self.sent = self.answer(client.send_goal_async(asked))

    def arrived(self):
        """Whether the controller has brought the arm there."""
        from action_msgs.msg import GoalStatus
        if self.answer(self.sent.get_result_async()).status != GoalStatus.STATUS_SUCCEEDED:
            raise Missing("the end of a motion of somebody's: Prehend has cut it short")


def narrow(parameters):
    """Limits of the second joint that the arm at home is outside of."""
    limits = parameters["robot_description_planning"]["joint_limits"]["joint2"]
    limits.update(has_position_limits=True, min_position=-0.3, max_position=2.0)


def elsewhere(parameters):
    """A controller that nobody offers."""
    parameters["moveit_simple_controller_manager"]["xarm6_traj_controller"]["action_ns"] = "elsewhere"


def mistakes(moveit, somebody):
    """What can be wrong or go wrong: its name; what is done before the goal, what in a motion, and what mends it."""
    nothing = lambda: None
    as_before = lambda: moveit.start_with(lambda parameters: None)
    signalled = lambda name: lambda: moveit.process.send_signal(name)
    box = lambda centre, size: lambda: somebody.box(centre, size)

    def hangs_briefly():
        signalled(signal.SIGSTOP)()
        time.sleep(0.8)
        signalled(signal.SIGCONT)()
    return [
        ("a box of somebody's around the gripper", box((0.3, 0.0, 0.35), (0.3, 0.3, 0.3)), None, somebody.box),
        ("a box of somebody's over all the table", box((0.5, 0.0, 0.08), (0.6, 1.2, 0.2)), None, somebody.box),
        ("the arm outside a joint limit of MoveIt's", lambda: moveit.start_with(narrow), None, as_before),
        ("a controller in MoveIt's settings that nobody offers", lambda: moveit.start_with(elsewhere), None, as_before),
        ("somebody cancels at the controller, in a motion", nothing, somebody.cancel, nothing),
        ("somebody gives the controller another trajectory, in a motion", nothing, somebody.move, somebody.arrived),
        ("move_group hangs for 0.8 s (SIGSTOP), in a motion", nothing, hangs_briefly, nothing),
        ("move_group hangs (SIGSTOP), in a motion", nothing, signalled(signal.SIGSTOP), signalled(signal.SIGCONT)),
    ]


def wrong(args, folder):
    """Lets go wrong what can; whether the goal after each was done."""
    moveit = MoveIt(args, folder)
    graph = graph_of(args, folder / "wrong", True)
    trace = folder / "wrong/up/trace.jsonl"
    moving = Moving(args.domain)
    somebody = Somebody(moving)
    asked = iter(GOALS * 100)
    good = True
    print("| what is wrong | MoveIt's codes | the goal ended | and said | the next goal, when it is mended |\n|---|---|---|---|---|")
    try:
        for name, before, in_motion, mended in mistakes(moveit, somebody):
            told = trace.stat().st_size
            before()
            running = goal(args, next(asked))
            if in_motion:
                if not moving.until_moving():
                    raise Missing(f"an arm that moves, for: {name}")
                in_motion()
            ended, said = ending(running)
            mended()
            with trace.open("rb") as file:
                file.seek(told)
                met = codes(events(file.read().decode()))
            after = outcome(goal(args, next(asked)))
            good &= after == "done"
            print(f"| {name} | {listed(met)} | {ended} | {said} | {after} |", flush=True)
    finally:
        graph.end()
        moveit.end()
    print()
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prehend", default=str(ROOT / "target/debug/prehend"), help="the program")
    parser.add_argument(
        "--planner", nargs=2, metavar=("PIPELINE", "PLANNER"),
        help="MoveIt's planner in the runs, as pilz_industrial_motion_planner PTP; its default else")
    parser.add_argument("--runs", type=int, default=10, help="runs of eval tabletop; 0: none")
    parser.add_argument("--tasks", type=int, default=0, metavar="SEEDS", help="seeds of each of the 15 tasks of eval asp-tabletop; 0: none")
    parser.add_argument("--kills", type=int, default=0, help="kills of move_group; 0: none")
    parser.add_argument("--stops", type=int, default=0, help="stops of an arm that moves, on both planners; 0: none")
    parser.add_argument("--wrong", action="store_true", help="what can be wrong with a MoveIt or go wrong, one after the other")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=float, default=3.0, help="simulated seconds per second")
    parser.add_argument("--domain", type=int, default=78, help="ROS domain of the runs on the real one")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the runs and logs; a new one in the temporary folder else")
    args = parser.parse_args()
    check(args, NEEDED)
    folder = (args.out or pathlib.Path(tempfile.mkdtemp(prefix="real_moveit_"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    print(f"runs and logs: {folder}", file=sys.stderr)
    good = True
    try:
        if args.runs:
            good &= ran(args, ["tabletop", "--runs", str(args.runs)], folder)
        if args.tasks:
            good &= ran(args, ["asp-tabletop", "--seeds", str(args.tasks)], folder)
        if args.kills:
            good &= kills(args, folder)
        if args.wrong:
            good &= wrong(args, folder)
        if args.stops:
            own, real = (stops(args, folder, real) for real in [False, True])
            print(f"| `prehend stop` while the arm moves, {args.stops} times | own planner | real MoveIt 2 |\n|---|---|---|")
            print(f"| from the command to an arm that stands, median / most | {own[0]} | {real[0]} |")
            print(f"| the goal ended | {own[1]} | {real[1]} |\n")
    except Missing as error:
        sys.exit(str(error))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
