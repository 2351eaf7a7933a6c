#!/usr/bin/env python3
"""Planning times side by side: our RRT-Connect and OMPL's, on the same collision world and the same problems.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install ompl==2.0.1 numpy
    /tmp/peers/bin/python tests/peers/ompl_rrt_connect.py --runs 100

The world (a table, six things as 1500 boxes, two walls) and its collision check are ours, called by both in one process. Each
problem goes from over one thing to over another. OMPL gets its default simplification after RRT-Connect, as MoveIt 2 does it;
ours shortens its paths as well. OMPL checks every 0.02 rad of joint distance, ours every 12 mm of the fastest point. What the
binding adds to a check of OMPL's is measured and printed.
"""
import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIX = ctypes.c_double * 6


def load():
    """The library, built when it must be."""
    command = ["cargo", "build", "-q", "-p", "prehend-motion", "--example", "planning_peer"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    library = ctypes.CDLL(str(target / "debug/examples/libplanning_peer.so"))
    library.peer_plan.restype = ctypes.c_double
    library.peer_plan.argtypes = [ctypes.c_uint64, SIX, SIX]
    library.peer_problem.argtypes = [ctypes.c_uint64, SIX, SIX]
    library.peer_is_free.argtypes = [SIX]
    return library


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def line(name, times, lengths, failed):
    if not times:
        print(f"{name:<22} no plan")
        return
    median, high = percentile(times, 0.5) * 1e3, percentile(times, 0.99) * 1e3
    print(f"{name:<22} median {median:8.1f} ms   p99 {high:8.1f} ms   path median {percentile(lengths, 0.5):5.2f} rad   failed {failed}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=100, help="problems, seeds 0 to N - 1")
    options.add_argument("--limit", type=float, default=10.0, help="longest time for a plan of OMPL, seconds")
    options = options.parse_args()
    try:
        from ompl import base, geometric, util
    except ImportError:
        sys.exit("OMPL's Python binding is missing: pip install ompl==2.0.1 numpy")
    util.setLogLevel(util.LogLevel.LOG_ERROR)
    util.setSeed(1) if hasattr(util, "setSeed") else None
    library = load()
    lower, upper = SIX(), SIX()
    library.peer_limits(lower, upper)

    space = base.RealVectorStateSpace(6)
    bounds = base.RealVectorBounds(6)
    for joint in range(6):
        bounds.setLow(joint, lower[joint])
        bounds.setHigh(joint, upper[joint])
    space.setBounds(bounds)
    checks = [0, 0.0]
    joints = SIX()

    def is_free(state):
        began = time.perf_counter()
        for joint in range(6):
            joints[joint] = state[joint]
        free = library.peer_is_free(joints)
        checks[0] += 1
        checks[1] += time.perf_counter() - began
        return bool(free)

    ours, theirs, our_lengths, their_lengths = [], [], [], []
    our_failures = their_failures = 0
    for seed in range(options.runs):
        start, goal = SIX(), SIX()
        library.peer_problem(seed, start, goal)
        began = time.perf_counter()
        length = library.peer_plan(seed, start, goal)
        spent = time.perf_counter() - began
        if length >= 0:
            ours.append(spent)
            our_lengths.append(length)
        else:
            our_failures += 1

        setup = geometric.SimpleSetup(space)
        setup.setStateValidityChecker(is_free)
        information = setup.getSpaceInformation()
        information.setStateValidityCheckingResolution(0.02 / space.getMaximumExtent())
        ends = []
        for values in (start, goal):
            state = space.allocState()
            for joint in range(6):
                state[joint] = values[joint]
            ends.append(state)
        setup.setStartAndGoalStates(ends[0], ends[1])
        setup.setPlanner(geometric.RRTConnect(information))
        began = time.perf_counter()
        solved = setup.solve(options.limit)
        if solved and setup.haveExactSolutionPath():
            setup.simplifySolution()
            theirs.append(time.perf_counter() - began)
            their_lengths.append(setup.getSolutionPath().length())
        else:
            their_failures += 1
        print(f"\r{seed + 1} of {options.runs}", end="", file=sys.stderr)
    print(file=sys.stderr)

    repeats = 20000
    began = time.perf_counter()
    for _ in range(repeats):
        library.peer_is_free(start)
    alone = (time.perf_counter() - began) / repeats
    within = checks[1] / max(checks[0], 1)
    print(f"{options.runs} problems, seeds 0 to {options.runs - 1}")
    line("ours", ours, our_lengths, our_failures)
    line("OMPL RRTConnect", theirs, their_lengths, their_failures)
    print(f"checks by OMPL: {checks[0]} ({checks[0] / options.runs:.0f} a problem), {within * 1e6:.0f} us each from Python; "
          f"{alone * 1e6:.0f} us for one that is free, called alone")


if __name__ == "__main__":
    main()
