#!/usr/bin/env python3
"""The object map and the core of ConceptGraphs side by side: the same frames, masks and features, in turns in one run.

    cargo build --release -p prehend-cli
    /tmp/peers/bin/python tests/peers/conceptgraphs_race.py --objects 10 30 100 300 1000 --out /tmp/race.json

(What to install for the peer stands in conceptgraphs_core.py.) Halls of tables with about thirty things each, drawn by `prehend scene
frames` with a detector without errors and feature vectors of 512 numbers; three keyframes around each table. Timed is what happens
between decoded pictures, masks and features in memory and the map that has taken them in; both print the same JSON, and both maps are judged
by the same code against the same truth. Figures are the middle ones of the repetitions. Prehend's map also cuts each frame by geometry, looks
for what is gone, keeps crops and finds the support. "CG rule" merges as ConceptGraphs does, with the peer's voxels; "masks as drawn" does
not cut by geometry and looks for no support, as the peer. Both sides have as many threads as they like; "few indexed" is the peer's --index touched.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def called(command):
    done = subprocess.run([str(part) for part in command], capture_output=True)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return json.loads(done.stdout)


def make_frames(options, count):
    folder = options.frames / f"objects_{count}"
    if not (folder / "truth.json").is_file():
        command = [options.prehend, "scene", "frames", "--objects", count, "--views", options.views, "--masks", "truth",
                   "--features", 512, "--seed", options.seed, "--out", folder]
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    return folder


def ours(options, folder, *rule):
    return called([options.prehend, "eval", "map", "--race", folder, "--json", *rule])


def peers(options, folder, index):
    boxes = options.frames / "objects.json"
    lap = called([sys.executable, HERE / "conceptgraphs_core.py", folder, "--voxel", options.voxel, "--index", index, "--objects", boxes])
    lap["counts"] = called([options.prehend, "eval", "map", "--race", folder, "--boxes", boxes, "--json"])
    return lap


SIDES = {
    "prehend": ours,
    "prehend, CG rule": lambda o, f: ours(o, f, "--merge", "conceptgraphs", "--voxel", o.voxel, "--merge-distance", o.voxel),
    "prehend, CG rule, masks as drawn": lambda o, f: ours(
        o, f, "--merge", "conceptgraphs", "--voxel", o.voxel, "--merge-distance", o.voxel, "--masks-as-drawn"
    ),
    "peer": lambda o, f: peers(o, f, "all"),
    "peer, few indexed": lambda o, f: peers(o, f, "touched"),
}


def best(laps, key):
    """Of repetitions on a machine with other work the middle one."""
    return statistics.median(lap[key] for lap in laps)


def growth(sizes, values):
    """Exponent by least squares of logarithms."""
    pairs = [(math.log(size), math.log(value)) for size, value in zip(sizes, values) if size >= 30]
    if len(pairs) < 2:
        return float("nan")
    x, y = statistics.fmean(p[0] for p in pairs), statistics.fmean(p[1] for p in pairs)
    return sum((a - x) * (b - y) for a, b in pairs) / sum((a - x) ** 2 for a, _ in pairs)


def found(lap):
    counts = lap["counts"]
    return f"{counts['found'][0]}/{counts['things']} of {counts['objects'][0]}, {counts['found'][1]}"


def row(count, name, laps, base):
    """A line of the table; the ratios are to the first side, by the clock and by processor time."""
    wall, cpu = best(laps, "total_s"), best(laps, "cpu_s")
    ratios = f"{wall / base[0]:5.1f} {cpu / base[1]:5.1f}" if base else " " * 11
    most = max(lap["memory_mib"][1] for lap in laps)
    grown = max(lap["memory_mib"][1] - lap["memory_mib"][0] for lap in laps)
    print(f"{count:>7} {laps[0]['keyframes']:>9}  {name:<34}{best(laps, 'median_ms'):>8.0f}{best(laps, 'max_ms'):>8.0f}{best(laps, 'last_ms'):>8.0f}"
          f"{wall:>9.2f}{cpu:>8.2f}  {ratios}  {most:>6.0f} +{grown:<5.0f} {found(laps[0])}", flush=True)
    return wall, cpu


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    options.add_argument("--prehend", type=pathlib.Path, default=target / "release/prehend")
    options.add_argument("--objects", type=int, nargs="+", default=[10, 30, 100, 300, 1000])
    options.add_argument("--views", type=int, default=3, help="keyframes around each table")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--once-from", type=int, default=300, help="so many objects or more are run once")
    options.add_argument("--sides", nargs="+", choices=list(SIDES), default=list(SIDES))
    options.add_argument("--voxel", type=float, default=0.01, help="voxel edge of the peer, and of the CG rule of prehend, metres")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--frames", type=pathlib.Path, help="folder in which frames are kept [default: a temporary one]")
    options.add_argument("--out", type=pathlib.Path, help="file for everything that was measured")
    options = options.parse_args()
    if not options.prehend.is_file():
        sys.exit(f"{options.prehend} is missing: cargo build --release -p prehend-cli, or --prehend FILE")
    with tempfile.TemporaryDirectory() as temporary:
        options.frames = options.frames or pathlib.Path(temporary)
        options.frames.mkdir(parents=True, exist_ok=True)
        race(options)


def race(options):
    print("                                             ms a keyframe                 seconds in all   times first     MiB        things found")
    print("objects keyframes  map                        median    most  at end    clock     cpu  clock   cpu    most +map   at IoU 0.25 of objects, at 0.5")
    measured, sums = {}, {name: [] for name in options.sides}
    for count in options.objects:
        folder = make_frames(options, count)
        laps, loads, base = {name: [] for name in options.sides}, [], None
        for _ in range(1 if count >= options.once_from else options.repeats):
            for name in options.sides:
                laps[name].append(SIDES[name](options, folder))
                loads.append(os.getloadavg()[0])
        for name in options.sides:
            spent = row(count, name, laps[name], base)
            base = base or spent
            sums[name].append(spent[1] / laps[name][0]["keyframes"])
        print(f"{'':>18} load {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} processors", flush=True)
        measured[count] = {"laps": laps, "loads": loads}
    for name in options.sides:
        print(f"{name}: processor time of a keyframe grows with objects^{growth(options.objects, sums[name]):.2f} (from 30 objects on)")
    for lap in measured[options.objects[0]]["laps"].get("peer", []):
        print("peer:", ", ".join(f"{name} {version}" for name, version in lap["versions"].items()), "in", lap["threads"], "threads")
        break
    if options.out:
        options.out.write_text(json.dumps(measured))


if __name__ == "__main__":
    main()
