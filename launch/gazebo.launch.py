"""Gazebo with a scene of Prehend and its robot: the world, the robot, the bridge, and the controllers in their order.

    ros2 launch prehend prehend.launch.py sim:=gazebo robot:=xarm6        # includes this, with MoveIt and Prehend's nodes
    ros2 launch prehend gazebo.launch.py scene:=my.yaml seed:=3           # Gazebo alone

For ROS 2 Jazzy with Gazebo Harmonic. The world and the description are made by `prehend scene to-sdf` at every start.
"""

import subprocess
import tempfile
from pathlib import Path

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix, get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

ARGUMENTS = [
    DeclareLaunchArgument("robot", default_value="xarm6", description="The robot; only xarm6 is made for Gazebo"),
    DeclareLaunchArgument(
        "robot_file", default_value="", description="Robot file of your own instead of config/robots/ROBOT.yaml"),
    DeclareLaunchArgument(
        "scene", default_value="config/scenes/tabletop.yaml", description="Scene file, as the embedded robot has them"),
    DeclareLaunchArgument("seed", default_value="1", description="Seed of what is random in the scene"),
    DeclareLaunchArgument(
        "namespace", default_value="", description="Namespace of the robot: every name of the robot file is taken below it"),
    DeclareLaunchArgument("gui", default_value="true", choices=["true", "false"], description="Open Gazebo's window"),
    DeclareLaunchArgument(
        "world_folder", default_value="", description="Folder for the world and the description; empty: a new temporary one"),
]

# Each finger has a controller of its own.
FINGERS = ["left_finger_joint_controller", "right_finger_joint_controller"]


def share(package):
    """The share folder of a package, or an error that says how to get it."""
    try:
        return Path(get_package_share_directory(package))
    except PackageNotFoundError:
        debian = f"ros-jazzy-{package.replace('_', '-')}"
        raise RuntimeError(f"the package {package} is not there: `sudo apt install {debian}`") from None


def made(said, robot_file):
    """The world and the description, made by Prehend from the scene."""
    folder = Path(said["world_folder"] or tempfile.mkdtemp(prefix="prehend_gazebo_"))
    world, urdf = folder / "world.sdf", folder / "robot.urdf"
    program = Path(get_package_prefix("prehend")) / "lib" / "prehend" / "prehend"
    command = [
        str(program), "scene", "to-sdf", said["scene"], "--robot", str(robot_file), "--seed", said["seed"],
        "--out", str(world), "--robot-urdf", str(urdf),
        "--controllers", str(share("prehend") / "config" / "gazebo" / f"{said['robot']}_controllers.yaml"),
        *(["--namespace", said["namespace"]] if said["namespace"] else []),
    ]
    ended = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        raise RuntimeError(f"`{' '.join(command)}` failed: {ended.stderr.strip()}")
    return world, urdf, world.with_suffix(".labels.json")


def names_of(part):
    """Every absolute name in a part of a robot file."""
    if isinstance(part, dict):
        return [name for key, value in part.items() if key != "urdf" for name in names_of(value)]
    if isinstance(part, list):
        return [name for value in part for name in names_of(value)]
    return [part] if isinstance(part, str) and part.startswith("/") else []


def setup(context):
    said = {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in ARGUMENTS}
    if said["robot"] != "xarm6":
        raise RuntimeError(f"robot:={said['robot']} is not made for Gazebo, only xarm6 is; sim:=embedded has all robots")
    # Asked for before anything is made: what is missing is said at once.
    share("ros_gz_sim"), share("ros_gz_bridge"), share("gz_ros2_control"), share("controller_manager")
    share("joint_state_broadcaster"), share("joint_trajectory_controller"), share("gripper_controllers")
    robot_file = Path(said["robot_file"] or share("prehend") / "config" / "robots" / f"{said['robot']}.yaml")
    if not robot_file.is_file():
        raise RuntimeError(f"robot_file:={robot_file}: there is no such file")
    robot_file = robot_file.resolve()
    robot = yaml.safe_load(robot_file.read_text())
    world, urdf, labels = made(said, robot_file)

    namespace = said["namespace"].strip("/")
    below = f"/{namespace}" if namespace else ""
    gazebo = dict.fromkeys([
        *names_of(robot), "/gazebo/labels_map", "/joint_state_broadcaster/joint_states",
        *(f"/{finger}/gripper_cmd" for finger in FINGERS), "/tf", "/tf_static"])
    moved = [(name, below + name) for name in gazebo] if below else []
    time = {"use_sim_time": True}

    server = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(share("ros_gz_sim") / "launch" / "gz_sim.launch.py")),
        launch_arguments={
            # Without a window there may be no display either, and the cameras need one or EGL.
            "gz_args": f"-r {'' if said['gui'] == 'true' else '-s --headless-rendering '}{world}", "on_exit_shutdown": "true"}.items())
    bridge = Node(
        package="ros_gz_bridge", executable="parameter_bridge", name="gazebo_bridge", namespace=below, output="screen",
        parameters=[{"config_file": str(share("prehend") / "config" / "gazebo" / "ros_gz_bridge.yaml")}, time],
        remappings=moved)
    # gz_ros2_control reads the description from its topic as well.
    description = Node(
        package="robot_state_publisher", executable="robot_state_publisher", namespace=below,
        parameters=[{"robot_description": urdf.read_text()}, time],
        remappings=[*moved, ("joint_states", below + robot["joint_states"])])
    spawn = Node(
        package="ros_gz_sim", executable="create", output="screen", namespace=below,
        arguments=["-topic", f"{below}/robot_description", "-name", namespace or said["robot"]], parameters=[time])
    detector = Node(
        package="prehend", executable="gazebo", name="gazebo", namespace=f"{below}/prehend", output="screen",
        arguments=["--robot", str(robot_file)], parameters=[{"labels": str(labels)}, time], remappings=moved)

    def controllers(*names):
        return Node(
            package="controller_manager", executable="spawner", namespace=below, output="screen",
            arguments=[*names, "--controller-manager", f"{below}/controller_manager", "--controller-manager-timeout", "120"])

    states = controllers("joint_state_broadcaster")
    moving = controllers(robot["arm"]["controller"].strip("/").split("/")[0], *FINGERS)

    def next_one(before, *then):
        # A step that failed ends the launch: what comes after it could not work.
        def ended(event, context):
            failed = Shutdown(reason=f"{event.process_name} failed")
            return list(then) if event.returncode == 0 else [failed]
        return RegisterEventHandler(OnProcessExit(target_action=before, on_exit=ended))

    return [
        server, bridge, description, detector, spawn,
        next_one(spawn, states),
        next_one(states, moving),
        next_one(moving),
    ]


def generate_launch_description():
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=setup)])
