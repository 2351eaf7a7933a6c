"""The second part of ros2_interop.py: the whole graph, of one backend or of both, used as a person with the ros2 tools would."""
import signal
import subprocess
import tempfile
import threading
import time

from prehend_interfaces.action import ExecuteGoal
from prehend_interfaces.msg import SymbolicState
from prehend_interfaces.srv import Stop, SubmitGoal
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import ListParameters
from rclpy.action import ActionClient
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import Image
from tf2_msgs.msg import TFMessage

from peer_process import Missing, attempt, need, until
from ros2_interop import LATCHED, answered, follow

ROBOT_NODES = {"sim", "object_map", "affordance", "verifier", "skills", "agent"}
GOAL = "put the red mug in the bowl"
MANY = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)


def commands(options, folder):
    """`prehend up`; or each node by itself, when some are another program's."""
    if not options.other:
        return [[options.prehend, "up", "--perfect-detector", "--speed", "3", "--out", folder]]
    extra = {"sim": ["--speed", "3", "--param", "detector:=perfect"]}
    if options.unarmed:
        for node in ("sim", "skills"):
            extra.setdefault(node, []).extend(["--param", "arming:=off"])
    program = lambda node: options.other if node in options.nodes_of_other else options.prehend
    return [[program(node), "node", node, *extra.get(node, [])] for node in sorted(ROBOT_NODES)]


class Graph:
    """A running graph, and the clients that use it; the clients are there before it starts."""

    def __init__(self, ros, options, folder):
        self.ros = ros
        self.goal = ros.create_client(SubmitGoal, "/prehend/goal", callback_group=ros.group)
        self.stop = ros.create_client(Stop, "/prehend/stop", callback_group=ros.group)
        self.execute = ActionClient(ros, ExecuteGoal, "/prehend/execute_goal", callback_group=ros.group)
        self.begun = time.monotonic()
        self.lines, self.ready = [], threading.Event()
        self.ready_after = None
        self.processes = [self.start(command, options) for command in commands(options, folder)]

    def start(self, command, options):
        process = subprocess.Popen(
            command, cwd=options.root, env=options.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self._read, args=[process.stdout], daemon=True).start()
        return process

    def _read(self, lines):
        for line in lines:
            self.lines.append(line.rstrip())
            if line.startswith("ready in"):
                self.ready_after = time.monotonic() - self.begun
                self.ready.set()

    def missing(self):
        here = {name for name, namespace in self.ros.get_node_names_and_namespaces() if namespace == "/prehend"}
        return ROBOT_NODES - here


def samples(graph, kind, topic, qos, seconds, enough=None):
    """What comes on `topic` within `seconds`, or until there are `enough`."""
    heard = []
    subscription = graph.ros.create_subscription(kind, topic, heard.append, qos, callback_group=graph.ros.group)
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end and (enough is None or len(heard) < enough):
            time.sleep(0.01)
    finally:
        graph.ros.destroy_subscription(subscription)
    return heard


def starts(graph):
    until("all nodes in rclpy's graph", lambda: not graph.missing(), 90)
    need(graph.goal.wait_for_service(60), "no goal service")
    usable = time.monotonic() - graph.begun
    if len(graph.processes) > 1:
        return f"rclpy sees every node and the goal service after {usable:.2f} s"
    need(graph.ready.wait(60), "it never said that it is ready")
    return f"it says ready after {graph.ready_after:.2f} s; rclpy sees every node and the goal service after {usable:.2f} s"


def state(graph):
    heard = samples(graph, SymbolicState, "/prehend/state", LATCHED, 10, 1)
    return need(len(heard) == 1 and not heard[0].stopped, f"{len(heard)} sample, stopped {heard and heard[0].stopped}")


def images(graph):
    heard = samples(graph, Image, "/camera/color/image_raw", qos_profile_sensor_data, 5)
    sizes = {(image.width, image.height, image.encoding, len(image.data)) for image in heard}
    return need(len(heard) > 10 and len(sizes) == 1, f"{len(heard) / 5:.1f} a second, {sizes}")


def frames(graph):
    fixed = samples(graph, TFMessage, "/tf_static", MANY, 2)
    moving = samples(graph, TFMessage, "/tf", QoSProfile(depth=100), 2)
    count = lambda messages: len({t.child_frame_id for message in messages for t in message.transforms})
    return need(count(moving) > 0, f"{count(moving)} moving and {count(fixed)} fixed frames")


def rosout(graph):
    heard = samples(graph, Log, "/rosout", MANY, 3)
    ours = [line for line in heard if "prehend" in line.name]
    return need(ours, f"a late joiner has {len(ours)} lines of {len({line.name for line in ours})} nodes")


def question(graph):
    response = answered("the answer", graph.goal.call_async(SubmitGoal.Request(text="where is the apple?")))
    need(response.goal_id or response.reason, response)
    until("the agent is free again", lambda: is_idle(graph), 60)
    return f"accepted {response.accepted}, {response.message!r}"


def is_idle(graph):
    heard = samples(graph, SymbolicState, "/prehend/state", LATCHED, 5, 1)
    return heard and not heard[-1].goal_id


def refusal(graph):
    response = answered("the answer", graph.goal.call_async(SubmitGoal.Request(text="put the elephant on the moon")))
    if response.accepted:
        until("the agent is free again", lambda: is_idle(graph), 60)
    return f"accepted {response.accepted}, reason {response.reason!r}, {response.message!r}"


def cancel(graph):
    until("the agent is free", lambda: is_idle(graph), 60)
    need(graph.execute.wait_for_server(20), "no server")
    status, feedbacks, result = follow(graph.execute, ExecuteGoal.Goal(text=GOAL), cancel_after=2)
    return need(status == "canceled", f"{status} after {len(feedbacks)} feedbacks: {result and result.message}")


def execute(graph):
    until("the agent is free", lambda: is_idle(graph), 60)
    begun = time.monotonic()
    status, feedbacks, result = follow(graph.execute, ExecuteGoal.Goal(text=GOAL))
    seen = f"{status} after {time.monotonic() - begun:.1f} s with {len(feedbacks)} feedbacks: {result and result.outcome}"
    return need(status == "succeeded" and result.outcome == "done", f"{seen} {result and result.message}")


def stopped(graph):
    tell = lambda engage: answered("the stop's answer", graph.stop.call_async(Stop.Request(engage=engage, reason="interop")))
    need(tell(True).success, "not stopped")
    until("the state says so", lambda: any(state.stopped for state in samples(graph, SymbolicState, "/prehend/state", LATCHED, 2, 1)))
    refused = answered("a goal's answer", graph.goal.call_async(SubmitGoal.Request(text=GOAL)))
    need(tell(False).success, "not cleared")
    return need(not refused.accepted, f"latched, a goal is refused ({refused.reason}), cleared")


def parameters(graph):
    client = graph.ros.create_client(ListParameters, "/prehend/verifier/list_parameters", callback_group=graph.ros.group)
    need(client.wait_for_service(5.0), "no parameter services")
    listed = answered("the list", client.call_async(ListParameters.Request())).result.names
    return need("use_sim_time" in listed, f"{len(listed)} of the verifier: {', '.join(sorted(listed)[:6])}")


def ends(graph):
    for process in graph.processes:
        process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    until("the nodes leave", lambda: graph.missing() == ROBOT_NODES, 30)
    gone = time.monotonic() - begun
    codes = {process.wait(30) for process in graph.processes}
    return need(codes <= {0, 130}, f"code {', '.join(map(str, codes))}, all nodes gone after {gone:.1f} s")


ROWS = [
    ("start", starts), ("state, latched", state), ("camera image", images), ("tf", frames), ("/rosout", rosout), ("parameters", parameters),
    ("service: a question", question), ("service: what it cannot do", refusal), ("action: cancel", cancel), ("action: to its end", execute),
    ("stop service", stopped), ("Ctrl-C", ends),
]


def whole_graph(ros, options):
    with tempfile.TemporaryDirectory() as folder:
        graph = Graph(ros, options, folder + "/run")
        try:
            rows = []
            for name, row in ROWS:
                if not options.only or name in ("start", "Ctrl-C") or any(word in name for word in options.only):
                    rows.append((name, attempt(name, row, graph)))
            return rows
        except Missing as missing:
            return [("start", (False, f"**fails**: {missing}; it said {graph.lines[-5:]}"))]
        finally:
            for process in graph.processes:
                process.kill()
                process.wait()
