#!/usr/bin/env python3
"""Loads described models in MuJoCo, Pinocchio and ROS's own rules, and compares where their links are.

`prehend eval articulated --out DIR` writes NUMBER.urdf and NUMBER.json: for joints at four shares of their ways, the pose of each link
(x, y, z, then the quaternion w, x, y, z) against the root. Each loader must put them there, to 0.1 mm and 0.1 mrad.

    pip install mujoco pin && tests/peers/articulated_urdf.py DIR
"""

import json
import sys
import xml.etree.ElementTree
from pathlib import Path

import mujoco
import numpy
import pinocchio

NEAR = (1e-4, 1e-3)


def rotation(quaternion):
    w, x, y, z = quaternion
    return numpy.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def off(place, turn, wanted):
    """Metres and radians between a pose and what was written."""
    wanted_turn = rotation(wanted[3:])
    cosine = (numpy.trace(turn.T @ wanted_turn) - 1) / 2
    return numpy.linalg.norm(place - numpy.array(wanted[:3])), float(numpy.arccos(numpy.clip(cosine, -1, 1)))


def in_mujoco(text, sample):
    # MuJoCo joins links that do not move unless it is told not to.
    told = text.replace("</robot>", '<mujoco><compiler fusestatic="false" discardvisual="true"/></mujoco></robot>')
    model = mujoco.MjModel.from_xml_string(told)
    data = mujoco.MjData(model)
    for name, position in sample["positions"].items():
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint >= 0:
            data.qpos[model.jnt_qposadr[joint]] = position
    mujoco.mj_forward(model, data)
    for name, wanted in sample["links"].items():
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        if body >= 0:
            yield name, off(data.xpos[body], data.xmat[body].reshape(3, 3), wanted)


def in_pinocchio(text, sample):
    model = pinocchio.buildModelFromXML(text)
    data = model.createData()
    q = pinocchio.neutral(model)
    for name, position in sample["positions"].items():
        if model.existJointName(name):
            joint = model.joints[model.getJointId(name)]
            q[joint.idx_q] = position
    pinocchio.framesForwardKinematics(model, data, q)
    for name, wanted in sample["links"].items():
        pose = data.oMf[model.getFrameId(name)]
        yield name, off(pose.translation, pose.rotation, wanted)


def by_the_rules(text):
    """What ROS's check_urdf asks for: one root, a parent for each other link, unit axes, limits in order."""
    robot = xml.etree.ElementTree.fromstring(text)
    links = [link.get("name") for link in robot.findall("link")]
    children = [joint.find("child").get("link") for joint in robot.findall("joint")]
    assert len(set(links)) == len(links) and len(set(children)) == len(children)
    assert len(set(links) - set(children)) == 1, "one root"
    for joint in robot.findall("joint"):
        axis, limit = joint.find("axis"), joint.find("limit")
        if axis is not None:
            assert abs(numpy.linalg.norm([float(v) for v in axis.get("xyz").split()]) - 1) < 1e-4
        if limit is not None:
            assert float(limit.get("lower")) < float(limit.get("upper"))


def main():
    files = sorted(Path(sys.argv[1]).glob("*.urdf"))
    if not files:
        sys.exit(f"{sys.argv[1]} has no *.urdf: write some with `prehend eval articulated --out {sys.argv[1]}`")
    worst = {"mujoco": [0.0, 0.0], "pinocchio": [0.0, 0.0]}
    compared = 0
    for file in files:
        text = file.read_text()
        by_the_rules(text)
        for sample in json.loads(file.with_suffix(".json").read_text()):
            for loader, poses in (("mujoco", in_mujoco(text, sample)), ("pinocchio", in_pinocchio(text, sample))):
                for name, apart in poses:
                    compared += 1
                    worst[loader] = [max(a, b) for a, b in zip(worst[loader], apart)]
                    assert all(a < b for a, b in zip(apart, NEAR)), f"{file} {loader} {name}: {apart}"
    print(f"{len(files)} models, {compared} poses of links; farthest off:")
    for loader, (metres, radians) in worst.items():
        print(f"  {loader:10} {1e3 * metres:.4f} mm  {1e3 * radians:.4f} mrad")


if __name__ == "__main__":
    main()
