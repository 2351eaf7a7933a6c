#!/usr/bin/env python3
"""What an installed ROS 2 sees of Prehend, and Prehend of it: every kind of exchange in both directions, as a Markdown table.

    source /opt/ros/jazzy/setup.bash && source install/setup.bash        # install/: where prehend_interfaces was built with colcon
    cargo build -p prehend-cli && cargo build -p prehend-ros --example interop_peer
    python3 tests/peers/ros2_interop.py --prehend target/debug/prehend --peer target/debug/examples/interop_peer

The peer is a process on the facade of prehend-ros, on whichever backend it was compiled with; this script is the other side, on rclpy. The
second part starts `prehend up` and uses its graph as a person with the ros2 tools would. Both run in a ROS domain of their own. Times are
wall times on one machine; images carry the time of sending. Exits with 1 when a cell is not as it should be. --only, --json: see --help.

Large images from the embedded backend want a larger receive buffer on Cyclone DDS's side, as ROS 2's own DDS tuning has it:

    sysctl -w net.core.rmem_max=33554432
    export CYCLONEDDS_URI='<CycloneDDS><Domain><Internal><SocketReceiveBufferSize min="16MB"/></Internal></Domain></CycloneDDS>'
"""
import argparse
import array
import json
import os
import pathlib
import sys
import threading
import time

import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import GripperCommand
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import Image
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from peer_process import DEADLINE, LONG_TEXT, Missing, Peer, attempt, need, spread, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
PATTERN = bytes(range(256)) * 24_600
STATUS = {value: name.removeprefix("STATUS_").lower() for name, value in vars(GoalStatus).items() if name.startswith("STATUS_")}


def answered(what, future, deadline=DEADLINE):
    until(what, future.done, deadline)
    return future.result()



def now_ns():
    return time.time_ns()


def picture(number, width, height):
    size = 3 * width * height
    message = Image(height=height, width=width, encoding="rgb8", step=3 * width)
    message.header.frame_id = str(number)
    message.data = array.array("B", PATTERN[number % 256:number % 256 + size])
    stamp = now_ns()
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
    return message


def is_whole(message):
    data, start = message.data, int(message.header.frame_id) % 256
    return len(data) == message.step * message.height and data.tobytes() == PATTERN[start:start + len(data)]


def age_ms(message):
    stamp = message.header.stamp
    return (now_ns() - stamp.sec * 1_000_000_000 - stamp.nanosec) / 1e6


class Ros2Side(Node):
    """Everything the peer uses, below /interop/ros2, and clients of everything it offers."""

    def __init__(self):
        super().__init__("ros2", namespace="/interop")
        self.group = ReentrantCallbackGroup()
        self.declare_parameter("gain", 1.5)
        self.numbers = self.create_publisher(String, "/interop/ros2/numbers", QoSProfile(depth=1000))
        self.images = self.create_publisher(Image, "/interop/ros2/images", qos_profile_sensor_data)
        self.large = self.create_publisher(Image, "/interop/ros2/large", QoSProfile(depth=2))
        self.latched = self.create_publisher(String, "/interop/ros2/latched", LATCHED)
        for text in ("first", "second", "third"):
            self.latched.publish(String(data=text))
        self.create_service(SetBool, "/interop/ros2/switch", self.switch, callback_group=self.group)
        self.create_service(Trigger, "/interop/ros2/text", self.text, callback_group=self.group)
        self.gripper = ActionServer(
            self, GripperCommand, "/interop/ros2/gripper", self.close, callback_group=self.group,
            goal_callback=lambda goal: GoalResponse.REJECT if goal.command.position < 0 else GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT)
        client = lambda kind, name: self.create_client(kind, name, callback_group=self.group)
        self.peer_switch = client(SetBool, "/interop/peer/switch")
        self.peer_text = client(Trigger, "/interop/peer/text")
        self.peer_gripper = ActionClient(self, GripperCommand, "/interop/peer/gripper", callback_group=self.group)
        kinds = {"list": ListParameters, "get": GetParameters, "set": SetParameters}
        self.peer_parameters = {verb: client(kind, f"/interop/peer/{verb}_parameters") for verb, kind in kinds.items()}

    @staticmethod
    def switch(request, response):
        response.success, response.message = request.data, f"switched {str(request.data).lower()}"
        return response

    @staticmethod
    def text(_, response):
        response.success, response.message = True, "x" * LONG_TEXT
        return response

    @staticmethod
    def close(goal):
        result, position = GripperCommand.Result(), 0.0
        while position < goal.request.command.position:
            time.sleep(0.02)
            if goal.is_cancel_requested:
                result.position = position
                goal.canceled()
                return result
            position += 0.1
            if position > 1.05:
                result.position, result.stalled = position, True
                goal.abort()
                return result
            goal.publish_feedback(GripperCommand.Feedback(position=position))
        result.position, result.reached_goal = position, True
        goal.succeed()
        return result


def hear(ros, kind, topic, qos, action, count, silence=3.0):
    """The samples of `topic` that come once `action` is done or begun, in order, each with its age."""
    heard, last = [], [time.monotonic()]

    def take(message):
        heard.append((message, age_ms(message) if kind is Image else 0.0))
        last[0] = time.monotonic()

    subscription = ros.create_subscription(kind, topic, take, qos, callback_group=ros.group)
    try:
        until(f"a publisher of {topic}", lambda: ros.count_publishers(topic) > 0)
        # Both ends have to know: a sample sent before the publisher knows is nobody's.
        time.sleep(0.5)
        action()
        last[0] = time.monotonic() + DEADLINE - silence
        until(f"{count} samples of {topic}", lambda: len(heard) >= count or time.monotonic() - last[0] > silence, 300)
    finally:
        ros.destroy_subscription(subscription)
    return heard


def topic_from_peer(ros, peer, _):
    heard = hear(ros, String, "/interop/peer/numbers", QoSProfile(depth=1000), lambda: peer.tell("say 200"), 200)
    peer.seen()
    texts = [message.data for message, _ in heard]
    return need(texts == [str(n) for n in range(200)], f"{len(texts)} of 200, {'in order' if texts == sorted(texts, key=int) else 'not in order'}")


def topic_to_peer(ros, peer, _):
    peer.tell("hear numbers 200")
    until("the peer's subscription", lambda: ros.numbers.get_subscription_count() > 0)
    for number in range(200):
        ros.numbers.publish(String(data=str(number)))
    seen = peer.seen()
    return need(seen["received"] == 200 and seen["in_order"], f"{seen['received']} of 200, {'in order' if seen['in_order'] else 'not in order'}")


def latched_from_peer(ros, _, __):
    heard = hear(ros, String, "/interop/peer/latched", LATCHED, lambda: None, 1)
    return need(heard and heard[-1][0].data == "third", f"late joiner: {[m.data for m, _ in heard]}")


def latched_to_peer(_, peer, __):
    seen = peer.ask("hear latched")
    return need(seen["newest"] == "third", f"late joiner: {seen['all']}")


def images_from_peer(ros, peer, options, what="images", size=(640, 480), rate=15):
    count = int(rate * options.seconds) if what == "images" else 10
    qos = qos_profile_sensor_data if what == "images" else QoSProfile(depth=10)
    heard = hear(ros, Image, f"/interop/peer/{what}", qos, lambda: peer.tell(f"show {what} {count} {size[0]} {size[1]} {rate}"), count)
    peer.seen()
    seen = f"{len(heard)} of {count}, {spread([age for _, age in heard]) if heard else ''}"
    return need(len(heard) >= 0.99 * count and all(is_whole(message) for message, _ in heard[::7]), seen)


def images_to_peer(ros, peer, options, what="images", size=(640, 480), rate=15):
    count = int(rate * options.seconds) if what == "images" else 10
    publisher = ros.images if what == "images" else ros.large
    peer.tell(f"hear {what} {count}")
    until("the peer's subscription", lambda: publisher.get_subscription_count() > 0)
    begin = time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, begin + number / rate - time.monotonic()))
        publisher.publish(picture(number, *size))
    seen = peer.seen()
    said = f"{seen['received']} of {count}, {spread(seen['latencies_ms']) if seen['received'] else ''}"
    return need(seen["received"] >= 0.99 * count and seen["whole"], said)


def large_from_peer(ros, peer, options):
    return images_from_peer(ros, peer, options, "large", (1920, 1080), 2)


def large_to_peer(ros, peer, options):
    return images_to_peer(ros, peer, options, "large", (1920, 1080), 2)


def service_from_peer(ros, _, options):
    need(ros.peer_switch.wait_for_service(DEADLINE), "no server")
    trips, right = [], 0
    for number in range(options.calls):
        begin = time.perf_counter()
        done = threading.Event()
        future = ros.peer_switch.call_async(SetBool.Request(data=number % 2 == 0))
        future.add_done_callback(lambda _: done.set())
        need(done.wait(DEADLINE), f"call {number} was not answered")
        trips.append((time.perf_counter() - begin) * 1e3)
        right += future.result().success == (number % 2 == 0)
    return need(right == options.calls, f"{right} of {options.calls}, {spread(trips)}")


def service_to_peer(_, peer, options):
    seen = peer.ask(f"call {options.calls}")
    return need(seen["right"] == options.calls, f"{seen['right']} of {options.calls}, {spread(seen['trips_ms'])}")


def text_from_peer(ros, _, __):
    need(ros.peer_text.wait_for_service(DEADLINE), "no server")
    length = len(answered("the text", ros.peer_text.call_async(Trigger.Request())).message)
    return need(length == LONG_TEXT, f"{length} bytes")


def text_to_peer(_, peer, __):
    seen = peer.ask("text")
    return need(seen["length"] == LONG_TEXT, f"{seen['length']} bytes")


def follow(client, goal, cancel_after=None):
    """Sends a goal and follows it to its end: the handle's verdict, feedbacks, status and result."""
    feedbacks = []
    handle = answered("the goal's answer", client.send_goal_async(goal, feedback_callback=lambda m: feedbacks.append(m.feedback)))
    if not handle.accepted:
        return "rejected", feedbacks, None
    ended = handle.get_result_async()
    if cancel_after is not None:
        until("feedback", lambda: len(feedbacks) >= cancel_after)
        cancelling = answered("the cancel answer", handle.cancel_goal_async())
        need(len(cancelling.goals_canceling) == 1, f"cancel: {cancelling.return_code}")
    wrapped = answered("the result", ended, 300)
    # The last feedback may still be on its way.
    time.sleep(0.2)
    return STATUS[wrapped.status], feedbacks, wrapped.result


def gripper_goal(position):
    goal = GripperCommand.Goal()
    goal.command.position = position
    return goal


def action_from_peer(ros, _, __):
    need(ros.peer_gripper.wait_for_server(DEADLINE), "no server")
    status, feedbacks, result = follow(ros.peer_gripper, gripper_goal(0.95))
    aborted = follow(ros.peer_gripper, gripper_goal(5.0))[0]
    rejected = follow(ros.peer_gripper, gripper_goal(-1.0))[0]
    seen = f"{status} with {len(feedbacks)} feedbacks, {aborted}, {rejected}"
    return need(seen == "succeeded with 10 feedbacks, aborted, rejected" and result.reached_goal, seen)


def action_to_peer(_, peer, __):
    done, aborted = peer.ask("goal 0.95"), peer.ask("goal 5")
    try:
        rejected = peer.ask("goal -1")["status"]
    except Missing as refusal:
        rejected = "rejected" if "reject" in str(refusal) else str(refusal)
    seen = f"{done['status'].lower()} with {done['feedback']} feedbacks, {aborted['status'].lower()}, {rejected}"
    return need(seen == "succeeded with 10 feedbacks, aborted, rejected" and done["reached"], seen)


def cancel_from_peer(ros, _, __):
    need(ros.peer_gripper.wait_for_server(DEADLINE), "no server")
    status, feedbacks, result = follow(ros.peer_gripper, gripper_goal(1.0), cancel_after=3)
    return need(status == "canceled" and result.position < 0.95, f"{status} after {len(feedbacks)} feedbacks")


def cancel_to_peer(_, peer, __):
    seen = peer.ask("cancel 1 3")
    return need(seen["status"] == "Canceled" and seen["position"] < 0.95, f"{seen['status'].lower()} after {seen['feedback']} feedbacks")


def parameters_from_peer(ros, _, __):
    for verb, client in ros.peer_parameters.items():
        need(client.wait_for_service(5.0), f"no service to {verb} parameters")
    ask = lambda verb, request: answered(f"to {verb} parameters", ros.peer_parameters[verb].call_async(request))
    listed = ask("list", ListParameters.Request()).result.names
    value = ask("get", GetParameters.Request(names=["gain"])).values[0]
    need("gain" in listed and value.type == ParameterType.PARAMETER_DOUBLE and value.double_value == 1.5, f"{listed}, {value}")
    text = Parameter("gain", value="loud").to_parameter_msg()
    tried = ask("set", SetParameters.Request(parameters=[text])).results[0]
    return need(not tried.successful, f"listed, read, a text for a number refused ({tried.reason})")


def parameters_to_peer(_, peer, __):
    seen = peer.ask("parameters")
    right = "gain" in seen["listed"] and (seen["before"], seen["after"]) == (1.5, 2.5) and seen["set"] == [True] and seen["text"] == [False]
    return need(right, "listed, read, set, a text for a number refused" if right else seen)


def graph_from_peer(ros, _, __):
    nodes = until("the node", lambda: ("peer", "/interop") in ros.get_node_names_and_namespaces() and ros.get_node_names())
    services = dict(until("its services", lambda: ros.get_service_names_and_types_by_node("peer", "/interop")))
    return need("/interop/peer/switch" in services, f"{len(nodes)} nodes, {len(services)} services of the peer")


def graph_to_peer(_, peer, __):
    # What a node is called comes after its endpoints, by a topic of its own.
    until("the peer knows the node", lambda: "/interop/ros2" in peer.ask("nodes"), DEADLINE)
    nodes, topics = peer.ask("nodes"), peer.ask("topics")
    right = "sensor_msgs/msg/Image" in topics.get("/interop/ros2/images", [])
    return need(right, f"{len(nodes)} nodes, {len(topics)} topics" if right else f"{topics}")


CELLS = [
    ("nodes, topics, services", graph_from_peer, graph_to_peer),
    ("topic, reliable", topic_from_peer, topic_to_peer),
    ("latched topic", latched_from_peer, latched_to_peer),
    ("image 640 x 480 at 15 Hz, best effort", images_from_peer, images_to_peer),
    ("image 1920 x 1080 (6.2 MB) at 2 Hz, reliable", large_from_peer, large_to_peer),
    ("service", service_from_peer, service_to_peer),
    ("answer of 200 kB", text_from_peer, text_to_peer),
    ("action: feedback, abort, reject", action_from_peer, action_to_peer),
    ("action: cancel", cancel_from_peer, cancel_to_peer),
    ("parameters", parameters_from_peer, parameters_to_peer),
]


def between_processes(ros, options):
    """The cells of the peer, one row each: what ROS 2 sees of the peer, what the peer sees of ROS 2."""
    peer = Peer([options.peer], options.environment)
    rows = []
    try:
        for name, outward, inward in CELLS:
            if options.only and not any(word in name for word in options.only):
                continue
            rows.append((name, attempt(f"{name}: prehend -> rclpy", outward, ros, peer, options),
                         attempt(f"{name}: rclpy -> prehend", inward, ros, peer, options)))
        code = peer.close()
        rows.append(("end", (code == 0, f"the peer ended with {code}"), attempt("its node goes", node_goes, ros)))
    finally:
        peer.process.kill()
    return rows


def node_goes(ros):
    until("the node leaves", lambda: ("peer", "/interop") not in ros.get_node_names_and_namespaces(), 5)
    return "its node left the graph"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--prehend", type=pathlib.Path, help="binary of prehend, of either backend; without it no graph is started")
    parser.add_argument("--peer", type=pathlib.Path, help="binary of the example interop_peer; without it only the graph is looked at")
    parser.add_argument("--other", type=pathlib.Path, help="another binary of prehend, which is some of the nodes: a mixed graph")
    parser.add_argument("--nodes-of-other", default="verifier,object_map", help="which; separated by commas")
    parser.add_argument("--unarmed", action="store_true", help="no driver in front of the robot of a mixed graph, where xarm_msgs is not installed")
    parser.add_argument("--domain", type=int, default=87, help="ROS domain to use")
    parser.add_argument("--seconds", type=float, default=30, help="of images")
    parser.add_argument("--calls", type=int, default=1000, help="of a service")
    parser.add_argument("--only", action="append", help="only rows with this in their name; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, help="also write what was seen there")
    options = parser.parse_args()
    options.prehend = options.prehend and options.prehend.resolve()
    options.peer = options.peer and options.peer.resolve()
    options.other = options.other and options.other.resolve()
    options.nodes_of_other = options.nodes_of_other.split(",")
    options.root = ROOT
    options.environment = {**os.environ, "ROS_DOMAIN_ID": str(options.domain)}
    return options


def main():
    options = parse()
    rclpy.init(domain_id=options.domain)
    ros = Ros2Side()
    executor = MultiThreadedExecutor(4)
    executor.add_node(ros)

    def spin():
        try:
            executor.spin()
        except ExternalShutdownException:
            pass

    spinning = threading.Thread(target=spin, daemon=True)
    spinning.start()
    tables = {}
    if options.peer:
        tables["exchange"] = between_processes(ros, options)
        print("| | prehend to rclpy | rclpy to prehend |\n|---|---|---|")
        for name, (_, outward), (_, inward) in tables["exchange"]:
            print(f"| {name} | {outward} | {inward} |")
    if options.prehend:
        from ros2_graph import whole_graph
        tables["graph"] = whole_graph(ros, options)
        print("\n| the graph, seen from rclpy | |\n|---|---|")
        for name, (_, seen) in tables["graph"]:
            print(f"| {name} | {seen} |")
    if options.json:
        options.json.write_text(json.dumps(tables, indent=1))
    executor.shutdown()
    rclpy.shutdown()
    sys.exit(0 if all(cell[0] for table in tables.values() for _, *cells in table for cell in cells) else 1)


if __name__ == "__main__":
    main()
