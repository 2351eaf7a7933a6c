"""One of the robots that Prehend simulates, in RViz, with sliders for its joints."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

SHARE = Path(__file__).resolve().parent.parent
# Root of each description.
ROOTS = {"xarm6": "link_base", "stretch": "base_origin", "ranger_xarm6": "base_link"}


def show(context):
    robot = LaunchConfiguration("robot").perform(context)
    # Installed, the descriptions are beside this folder in urdf/; in the repository this folder is in urdf/.
    folder = SHARE / "urdf" if (SHARE / "urdf").is_dir() else SHARE
    description = (folder / f"{robot}.urdf").read_text()
    sliders = LaunchConfiguration("sliders")
    return [
        Node(
            package="robot_state_publisher", executable="robot_state_publisher",
            parameters=[{"robot_description": ParameterValue(description, value_type=str)}]),
        Node(
            package="joint_state_publisher_gui", executable="joint_state_publisher_gui",
            condition=IfCondition(sliders)),
        Node(
            package="joint_state_publisher", executable="joint_state_publisher",
            condition=UnlessCondition(sliders)),
        Node(
            package="rviz2", executable="rviz2",
            arguments=["-d", str(SHARE / "rviz" / "description.rviz"), "-f", ROOTS[robot]]),
    ]


def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument(
            "robot", default_value="xarm6", choices=["xarm6", "stretch", "ranger_xarm6"],
            description="The robot to show"),
        DeclareLaunchArgument(
            "sliders", default_value="true", choices=["true", "false"],
            description="A window with a slider for each joint"),
        OpaqueFunction(function=show),
    ])
