"""Prehend on one robot: its driver, MoveIt, Nav2 and camera by the vendors' own launch files, or a simulation; and Prehend's nodes.

    ros2 launch prehend prehend.launch.py sim:=embedded
    ros2 launch prehend prehend.launch.py robot:=xarm6 robot_ip:=192.168.1.203 rviz:=true
    ros2 launch prehend prehend.launch.py robot:=ranger_xarm6 robot_ip:=192.168.1.203 map:=office.yaml nav2_params_file:=ranger.yaml
    ros2 launch prehend prehend.launch.py sim:=embedded namespace:=robot1

What vendors launch is asked for when it is needed; the error says which package is missing and where it is.
"""

import os
from pathlib import Path

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, LogInfo, OpaqueFunction, Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

YES_NO = ["true", "false"]
ARGUMENTS = [
    DeclareLaunchArgument(
        "robot", default_value="xarm6", choices=["xarm6", "stretch", "ranger_xarm6"],
        description="The robot"),
    DeclareLaunchArgument(
        "robot_file", default_value="",
        description="Robot file of your own instead of config/robots/ROBOT.yaml"),
    DeclareLaunchArgument(
        "sim", default_value="none", choices=["none", "gazebo", "embedded"],
        description="none: the real robot; gazebo: Gazebo's; embedded: Prehend's own, which needs nothing else"),
    DeclareLaunchArgument(
        "scene", default_value="",
        description="Scene file of a simulation; empty: a table, or a room for a robot that drives"),
    DeclareLaunchArgument("seed", default_value="1", description="Seed of what is random in a simulation"),
    DeclareLaunchArgument("gui", default_value="true", choices=YES_NO, description="Open Gazebo's window, for sim:=gazebo"),
    DeclareLaunchArgument("speed", default_value="1.0", description="Simulated seconds per second, for sim:=embedded"),
    DeclareLaunchArgument(
        "namespace", default_value="",
        description="Namespace of this robot among several: goals go to /NAMESPACE/prehend/goal, and every name of the robot file, "
        "/tf and /tf_static are taken below it"),
    DeclareLaunchArgument(
        "use_sim_time", default_value="auto", choices=["auto", *YES_NO],
        description="Take time from /clock; auto: when something is simulated"),
    DeclareLaunchArgument("params_file", default_value="", description="ROS parameter file for Prehend's nodes"),
    DeclareLaunchArgument(
        "memory", default_value="",
        description="Remember what is seen, over all sessions: a file, or postgres://USER@HOST/DATABASE; empty: no node memory"),
    DeclareLaunchArgument(
        "describer", default_value="",
        description="Learn how drawers and doors move while they are opened, and keep that in a folder; empty: no node describer"),
    DeclareLaunchArgument(
        "log_level", default_value="info", choices=["debug", "info", "warn", "error", "fatal"],
        description="Least severity that Prehend's nodes log"),
    DeclareLaunchArgument(
        "respawn", default_value="true", choices=YES_NO,
        description="Start a node of Prehend again when it ended; the simulated robot never is"),
    DeclareLaunchArgument("respawn_delay", default_value="2.0", description="Pause before a node is started again [s]"),
    DeclareLaunchArgument(
        "lifecycle_manager", default_value="false", choices=YES_NO,
        description="Let Nav2's lifecycle manager configure and activate Prehend's nodes, in their order, and all of them anew when one has died; "
        "false: each does so itself"),
    DeclareLaunchArgument(
        "rviz", default_value="false", choices=YES_NO,
        description="RViz with the robot, its camera and the object map"),
    DeclareLaunchArgument(
        "robot_ip", default_value="", description="Address of a real xArm's control box"),
    DeclareLaunchArgument(
        "moveit", default_value="true", choices=YES_NO,
        description="Bring up MoveIt and the arm's driver, or for Stretch Prehend's own planner in MoveIt's place; false: they run already"),
    DeclareLaunchArgument(
        "moveit_launch", default_value="",
        description="Launch file of your own for MoveIt instead of the vendor's, or of Prehend's planner; prehend: Prehend's planner in MoveIt's "
        "place, for an arm whose controller runs already, and in Gazebo; vendor: MoveIt with the vendor's settings beside the robot of "
        "sim:=embedded, too, which plans by itself else"),
    DeclareLaunchArgument(
        "nav2", default_value="true", choices=YES_NO,
        description="Bring up Nav2 and the base's driver, on a robot that drives; false: they run already"),
    DeclareLaunchArgument("map", default_value="", description="Map of the room for Nav2 (map_server's YAML)"),
    DeclareLaunchArgument(
        "nav2_params_file", default_value="",
        description="Nav2's parameters; empty: the vendor's, which only Stretch has"),
    DeclareLaunchArgument(
        "camera", default_value="true", choices=YES_NO,
        description="Bring up the RealSense camera; false: it runs already"),
    DeclareLaunchArgument(
        "arm_mount", default_value="0.28 0 0.70 0 0 0",
        description="Where ranger_xarm6 carries the arm: x y z [m] yaw pitch roll [rad] of its base in base_link"),
]

# In the order in which they need one another; each waits for the others.
NODES = ["verifier", "object_map", "affordance", "skills", "go_to", "agent"]

XARM_ROS2 = "github.com/xArm-Developer/xarm_ros2, the branch of your distribution, in your workspace"
STRETCH_ROS2 = "github.com/hello-robot/stretch_ros2, in your workspace"
WHERE = {
    "xarm_moveit_config": XARM_ROS2,
    "xarm_controller": XARM_ROS2,
    "uf_ros_lib": XARM_ROS2,
    "stretch_core": STRETCH_ROS2,
    "stretch_nav2": STRETCH_ROS2,
    "ranger_base": "github.com/agilexrobotics/ranger_ros2, in your workspace",
}


# How the pictures of a real robot's camera are turned to stand upright: where it is mounted on its side.
IMAGE_TURN = {"stretch": "clockwise"}

# Where Prehend's own planner stands in MoveIt's place: the vendor publishes no configuration of MoveIt.
WITHOUT_MOVEIT = ["stretch"]


def share(package):
    """The share folder of a package, or an error that says where the package is."""
    try:
        return Path(get_package_share_directory(package))
    except PackageNotFoundError:
        debian = f"ros-{os.environ.get('ROS_DISTRO', 'DISTRO')}-{package.replace('_', '-')}"
        where = WHERE.get(package, f"`sudo apt install {debian}`")
        raise RuntimeError(f"the package {package} is not there: {where}") from None


def include(package, file, **arguments):
    """A launch file of another package. It sees these arguments only, not those of ours that have the same names."""
    path = share(package) / "launch" / file
    if not path.is_file():
        raise RuntimeError(f"{package} has no launch/{file}: another version of it is needed")
    return include_file(path, **arguments)


def include_file(path, **arguments):
    source = PythonLaunchDescriptionSource(str(path))
    inner = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    return GroupAction([inner], scoped=True, forwarding=False)


def needed(said, name, why):
    if not said[name]:
        raise RuntimeError(f"{name}:=... is needed: {why}")
    return said[name]


def needed_file(said, name, why):
    if not Path(needed(said, name, why)).is_file():
        raise RuntimeError(f"{name}:={said[name]}: there is no such file")
    return said[name]


def xarm_moveit(said, context):
    """The vendor's MoveIt and driver of an xArm6 with gripper and wrist camera."""
    ip = needed(said, "robot_ip", "the address of the xArm; moveit:=false when MoveIt runs already, sim:=embedded without a robot")
    return [include(
        "xarm_moveit_config", "xarm6_moveit_realmove.launch.py",
        robot_ip=ip, add_gripper="true", add_realsense_d435i="true", add_d435i_links="true", show_rviz="false")]


def xarm_moveit_simulated(said, context):
    """The vendor's MoveIt alone: controllers and joint states are those of the simulation."""
    share("uf_ros_lib")
    from uf_ros_lib.moveit_configs_builder import MoveItConfigsBuilder
    moveit = MoveItConfigsBuilder(
        context=context, controllers_name="controllers", dof="6", robot_type="xarm", limited="true",
        add_gripper="true", add_realsense_d435i="true", add_d435i_links="true").to_moveit_configs()
    return [include(
        "xarm_moveit_config", "_robot_moveit_common2.launch.py",
        prefix="", attach_to="world", attach_xyz='"0 0 0"', attach_rpy='"0 0 0"', no_gui_ctrl="false", show_rviz="false",
        use_sim_time="true", moveit_config_dump=yaml.dump(moveit.to_dict()))]


def realsense():
    """The wrist camera, by the names of the robot file; its frames come from the arm's description."""
    return [include(
        "realsense2_camera", "rs_launch.py",
        camera_namespace="", camera_name="camera", publish_tf="false", enable_sync="true",
        **{"align_depth.enable": "true", "rgb_camera.color_profile": "640x480x15", "depth_module.depth_profile": "640x480x15"})]


def xarm6(said, context):
    arm = xarm_moveit(said, context) if said["moveit"] else []
    return arm + (realsense() if said["camera"] else [])


def ranger_xarm6(said, context):
    actions = xarm6(said, context)
    if said["moveit"]:
        # The arm's description begins with `world`: here that is where the arm is mounted, and it drives along.
        mount = said["arm_mount"].split()
        names = ["--x", "--y", "--z", "--yaw", "--pitch", "--roll"]
        if len(mount) != len(names):
            raise RuntimeError(f"arm_mount:=\"{said['arm_mount']}\" must be six numbers: x y z yaw pitch roll")
        place = [word for pair in zip(names, mount) for word in pair]
        actions.append(Node(
            package="tf2_ros", executable="static_transform_publisher", name="arm_mount",
            arguments=[*place, "--frame-id", "base_link", "--child-frame-id", "world"]))
    if said["nav2"]:
        params = needed_file(said, "nav2_params_file", "the vendor publishes none for this base with an arm; nav2:=false when Nav2 runs already")
        actions += [
            include("ranger_base", "ranger_mini_v2.launch.py", publish_odom_tf="true"),
            include(
                "nav2_bringup", "bringup_launch.py",
                map=needed_file(said, "map", "Nav2 drives on one"), params_file=params, use_sim_time="false", autostart="true",
                use_composition="False", use_respawn="True" if said["respawn"] else "False"),
        ]
    return actions


def stretch(said, context):
    actions = []
    if said["nav2"]:
        # It brings up the driver and the laser as well.
        params = {"params_file": said["nav2_params_file"]} if said["nav2_params_file"] else {}
        actions.append(include(
            "stretch_nav2", "navigation.launch.py",
            map=needed_file(said, "map", "Nav2 drives on one; nav2:=false when Nav2 runs already"),
            use_rviz="false", teleop_type="none", **params))
    if said["camera"]:
        actions.append(include("stretch_core", "d435i_high_resolution.launch.py"))
    return actions


def robot_side(said, robot_file, context):
    """Everything that is not Prehend's: the real robot, or what stands for it."""
    if said["sim"] == "none":
        if said["namespace"] and (said["moveit"] or said["nav2"] or said["camera"]):
            raise RuntimeError(
                "the vendors' launch files know no namespaces: start them as your robots need it, and this with moveit:=false "
                "nav2:=false camera:=false; or give each robot a ROS_DOMAIN_ID of its own")
        own = []
        if plans_itself(said):
            said = {**said, "moveit": False}
        elif said["moveit"] and said["moveit_launch"] not in ("", "vendor"):
            own, said = [include_file(said["moveit_launch"])], {**said, "moveit": False}
        return own + {"xarm6": xarm6, "ranger_xarm6": ranger_xarm6, "stretch": stretch}[said["robot"]](said, context)
    if said["sim"] == "gazebo":
        file = Path(__file__).resolve().parent / "gazebo.launch.py"
        if not file.is_file():
            raise RuntimeError("this version of Prehend has no launch/gazebo.launch.py; sim:=embedded needs nothing else")
        world = include_file(
            file, robot=said["robot"], robot_file=str(robot_file), scene=scene(said), seed=said["seed"], gui=said["gui"],
            namespace=said["namespace"])
        if not said["moveit"] or plans_itself(said):
            return [world]
        if said["moveit_launch"] not in ("", "vendor"):
            return [world, include_file(said["moveit_launch"], use_sim_time="true")]
        if said["robot"] in WITHOUT_MOVEIT:
            raise RuntimeError(f"{said['robot']} is not made for Gazebo; sim:=embedded needs nothing else")
        return [world, *xarm_moveit_simulated(said, context)]
    if has_moveit_beside(said):
        if said["namespace"]:
            raise RuntimeError("MoveIt's launch files know no namespaces: without moveit_launch:= the embedded robot plans by itself")
        if said["moveit_launch"] != "vendor":
            return [include_file(said["moveit_launch"], use_sim_time="true")]
        if said["robot"] != "xarm6":
            raise RuntimeError(f"moveit_launch:=vendor is for an xarm6 that does not drive; {said['robot']} needs a launch file of yours")
        return xarm_moveit_simulated(said, context)
    return []


def plans_itself(said):
    """Whether Prehend's node `move_group` plans, and its arm's controller moves; the embedded robot has a planner anyway."""
    usual = said["sim"] == "none" and said["robot"] in WITHOUT_MOVEIT and said["moveit_launch"] in ("", "vendor")
    return said["sim"] != "embedded" and said["moveit"] and (said["moveit_launch"] == "prehend" or usual)


def has_moveit_beside(said):
    """Whether MoveIt stands beside the embedded robot, which has its interfaces itself else."""
    return said["sim"] == "embedded" and said["moveit"] and said["moveit_launch"] not in ("", "prehend")


def scene(said):
    usual = "tabletop" if said["robot"] == "xarm6" else "room_two_tables"
    return said["scene"] or f"config/scenes/{usual}.yaml"


def names_of(part):
    """Every absolute name in a part of a robot file."""
    if isinstance(part, dict):
        return [name for key, value in part.items() if key != "urdf" for name in names_of(value)]
    if isinstance(part, list):
        return [name for value in part for name in names_of(value)]
    return [part] if isinstance(part, str) and part.startswith("/") else []


def names_below(robot):
    """Names of which the robot file has the beginning only: a remapping moves whole names (but arming.xarm.services, which Prehend moves)."""
    if "navigation" not in robot:
        return []
    return [robot["navigation"].get("navigator", "/bt_navigator") + "/get_state"]


def is_without_driver(said, robot):
    """Whether the simulation has no vendor's driver in front of it, so that there is nothing to arm."""
    if said["sim"] != "embedded":
        return said["sim"] == "gazebo"
    if "xarm" not in robot.get("arming", {}):
        return False
    try:
        get_package_share_directory("xarm_msgs")
        return False
    except PackageNotFoundError:
        return True


def between(said, robot):
    """Prehend's nodes between a robot's driver and the names of the robot file, where the other side has not all of them."""
    driven = said["sim"] == "none" and "driver" in robot
    return [*(["stretch"] if driven else []), *(["move_group"] if plans_itself(said) else [])]


def prehend_nodes(said, robot_file, robot):
    """Prehend's nodes, and the embedded robot when it is asked for."""
    namespace = said["namespace"].strip("/")
    below = f"/{namespace}" if namespace else ""
    # The embedded robot makes the time of its own graph; any other clock is everybody's.
    moved = [*names_of(robot), *names_below(robot), "/tf", "/tf_static", *(["/clock"] if said["sim"] == "embedded" else [])]
    common = {
        "package": "prehend",
        "namespace": f"{below}/prehend",
        "parameters": [said["params_file"]] * bool(said["params_file"]) + [{"use_sim_time": said["use_sim_time"]}],
        "remappings": [(name, below + name) for name in dict.fromkeys(moved)] if below else [],
        "ros_arguments": ["--log-level", said["log_level"]],
        "output": "screen",
    }
    unarmed = [{"arming": "off"}] if is_without_driver(said, robot) else []
    names = [name for name in NODES if name != "go_to" or "navigation" in robot]
    names += [name for name in ("memory", "describer") if said[name]]
    managed = [{"autostart": False}] if said["lifecycle_manager"] else []
    own = {"object_map": [{"image_turn": IMAGE_TURN[said["robot"]]}]} if said["sim"] == "none" and said["robot"] in IMAGE_TURN else {}
    own |= dict.fromkeys(("skills", "go_to"), unarmed)
    own |= {name: [{"store": said[name]}] for name in ("memory", "describer")}
    again = {"arguments": ["--robot", str(robot_file)], "respawn": said["respawn"], "respawn_delay": float(said["respawn_delay"])}
    nodes = [
        Node(
            executable=name, name=name, **again,
            **{**common, "parameters": common["parameters"] + managed + own.get(name, [])})
        for name in names
    ]
    nodes = [Node(executable=name, name=name, **again, **common) for name in between(said, robot)] + nodes
    if managed:
        share("nav2_lifecycle_manager")
        nodes.append(Node(
            package="nav2_lifecycle_manager", executable="lifecycle_manager", name="lifecycle_manager", namespace=common["namespace"],
            # A node that dies and is started again is configured and activated again, and with it all others.
            parameters=[{
                "autostart": True, "bond_timeout": 4.0, "attempt_respawn_reconnection": True, "node_names": names,
                "use_sim_time": said["use_sim_time"]}]))
    if said["sim"] == "embedded":
        nodes.insert(0, Node(
            executable="sim", name="sim",
            arguments=["--robot", str(robot_file), "--scene", scene(said), "--seed", said["seed"], "--speed", said["speed"]],
            # What stood on the table is lost with it.
            on_exit=Shutdown(reason="the simulated robot ended"),
            **{**common, "parameters": common["parameters"] + unarmed + [{"moveit": "off"}] * has_moveit_beside(said)}))
        if unarmed:
            nodes.insert(0, LogInfo(msg="Prehend: xarm_msgs is not installed, so the simulated robot has no driver that has to be armed"))
    return nodes


def views(said, robot):
    """RViz; and the embedded robot's description, which the drivers of other robots publish themselves."""
    namespace = said["namespace"].strip("/")
    below = f"/{namespace}" if namespace else ""
    time = {"use_sim_time": said["use_sim_time"]}
    clock = ["/clock"] if said["sim"] == "embedded" else []
    shown = ["/tf", "/tf_static", "/robot_description", *names_of(robot["camera"]), *clock]
    share("rviz2")
    config = share("prehend_description") / "rviz" / "prehend.rviz"
    rviz = Node(
        package="rviz2", executable="rviz2", name="rviz2", namespace=f"{below}/prehend",
        arguments=["-d", str(config), "-f", robot["frames"]["base"]], parameters=[time],
        remappings=[(name, below + name) for name in shown] if below else [])
    if said["sim"] != "embedded":
        return [rviz]
    urdf = share("prehend") / robot["urdf"]
    # The embedded robot publishes its own transforms; these would be the same once more.
    description = Node(
        package="robot_state_publisher", executable="robot_state_publisher", namespace=below,
        parameters=[{"robot_description": ParameterValue(urdf.read_text(), value_type=str)}, time],
        remappings=[
            ("/tf", "~/tf"), ("/tf_static", "~/tf_static"), ("joint_states", below + robot["joint_states"]),
            *((name, below + name) for name in clock if below)])
    return [description, rviz]


def setup(context):
    said = {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in ARGUMENTS}
    for name in ["respawn", "lifecycle_manager", "rviz", "moveit", "nav2", "camera"]:
        said[name] = said[name] == "true"
    simulated = said["sim"] != "none"
    said["use_sim_time"] = simulated if said["use_sim_time"] == "auto" else said["use_sim_time"] == "true"
    robot_file = Path(said["robot_file"] or share("prehend") / "config" / "robots" / f"{said['robot']}.yaml")
    if not robot_file.is_file():
        raise RuntimeError(f"robot_file:={robot_file}: there is no such file")
    if said["params_file"]:
        needed_file(said, "params_file", "it was named")
    robot = yaml.safe_load(robot_file.read_text())
    return [
        LogInfo(msg=f"Prehend: {robot_file}, sim:={said['sim']}, use_sim_time:={said['use_sim_time']}"),
        *robot_side(said, robot_file, context),
        *prehend_nodes(said, robot_file.resolve(), robot),
        *(views(said, robot) if said["rviz"] else []),
    ]


def generate_launch_description():
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=setup)])
