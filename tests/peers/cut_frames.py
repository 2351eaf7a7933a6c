#!/usr/bin/env python3
"""Things on a table, cut out of single RGB-D frames: prehend, Open3D's usual recipe and LCCP, side by side in one run.

    python3.11 -m venv /tmp/peers
    /tmp/peers/bin/pip install open3d==0.20.0 numpy==2.4.6 scipy==1.17.1 pillow==13.0.0
    apt install libusb-1.0-0 libgl1 libgomp1 libx11-6       # what Open3D wants of a small Debian
    for kind in structured-light stereo time-of-flight overhead; do
        prehend scene frames --cameras $kind --seeds 30 --seed 401 --out /tmp/cut/$kind; done
    /tmp/peers/bin/python tests/peers/cut_frames.py /tmp/cut/* --prehend target/release/prehend

"open3d": segment_plane, what lies above it, one point a voxel, cluster_dbscan; a cluster is a thing.

"lccp" is written anew from three papers. Supervoxels are those of Papon et al. 2013 (Voxel cloud connectivity
segmentation): voxels, seeds on a coarser grid, growth over neighbouring voxels by a distance of place, colour and
normal. Stein et al. 2014 join them (Object partitioning using local convexity, CVPR; Convexity based object
partitioning for robot applications, ICRA). An edge is convex by the normals at its ends, or when they differ by less
than 10 degrees. The sanity criterion takes away edges of surfaces that only touch in a point. The extended criterion
wants a third supervoxel that is joined convexly to both. What is joined over such edges is a thing; a few supervoxels
alone go to their largest neighbour. The support plane is taken away first, by the same code as for Open3D. Not done:
seeds of thinly filled places are not dropped, and supervoxels grow once, without a second round from their middles.

All are scored as `prehend eval map --frames` does. Each number in instances.png is a label, whatever its size (the
simulator leaves out what has fewer than 100 pixels). Pairs of label and object are taken by falling intersection over
union (IoU), each once; a label is found at IoU 0.5. Extra is an object that is the best of no label; one that touches
its label only a little is neither found nor extra. A frame without a plane has nothing found.

In the peers' favour: one set of settings for all kinds of cameras was chosen for each by the frames of seeds 601 to
608 of these kinds (32 frames, the best harmonic mean of recall and precision; about 100 sets for Open3D, 60 for LCCP).
They know how small a label may be. LCCP leaves the extended criterion out, which made it worse on those frames; its
voxels grow with the distance. "As published" is --set lccp.voxel=0.0075 --set lccp.seed=0.03 --set lccp.extended=true
--set lccp.smallest=3 --set lccp.least=100.
Against them: the frames are drawn by prehend's own simulator, and what prehend has learned, it learned from frames of
it (structured light, stereo and time of flight from aside). Peers use shape alone; prehend uses the colours too. On
overhead frames stands a robot's base, which is extra. LCCP here is numpy and much slower than its authors' C++.
The peers' times are of this one process, without the reading of files; prehend's figures have none.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable

try:
    import numpy as np
    import open3d as o3d
    from PIL import Image
    from scipy import sparse
    from scipy.sparse import csgraph
except ImportError as error:
    sys.exit(f"{error}; see the head of this file for what to install")

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOUND = 0.5


@dataclasses.dataclass(frozen=True)
class Open3dSettings:
    """Plane removal and DBSCAN; lengths in metres."""

    plane: float = 0.008  # distance from the plane up to which a point is the table's
    voxel: float = 0.002
    eps: float = 0.004
    min_points: int = 6
    least: int = 200  # pixels of a thing


@dataclasses.dataclass(frozen=True)
class LccpSettings:
    """Supervoxels and their convexity; a voxel is that large 1 m away and grows with the distance."""

    plane: float = 0.01
    voxel: float = 0.005
    seed: float = 0.04
    color: float = 0.0  # weights of the distance, as in the example program of PCL
    spatial: float = 1.0
    normal: float = 4.0
    concavity: float = 10.0  # degrees
    extended: bool = False
    sanity: bool = True
    smallest: int = 5  # supervoxels of a segment that stays alone
    least: int = 300  # pixels of a thing


@dataclasses.dataclass(frozen=True)
class Frame:
    name: str
    color: np.ndarray
    depth: np.ndarray  # metres, 0 where there is none
    labels: np.ndarray
    camera: dict


def read_frame(folder: pathlib.Path) -> Frame:
    camera = json.loads((folder / "intrinsics.json").read_text())
    metres = camera.get("depth_scale_m_per_unit", 0.001)
    return Frame(
        folder.name,
        np.asarray(Image.open(folder / "color.png").convert("RGB")),
        np.asarray(Image.open(folder / "depth.png")).astype(np.float64) * metres,
        np.asarray(Image.open(folder / "instances.png")).astype(np.int64),
        camera,
    )


def points_of(frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """The points in the camera's frame, and the pixel that each comes from."""
    pixels = np.flatnonzero(frame.depth)
    rows, columns = np.divmod(pixels, frame.depth.shape[1])
    z, camera = frame.depth.ravel()[pixels], frame.camera
    x, y = (columns - camera["cx"]) * z / camera["fx"], (rows - camera["cy"]) * z / camera["fy"]
    return np.stack([x, y, z], axis=1), pixels


def above_table(points: np.ndarray, distance: float) -> np.ndarray:
    """Which points lie above the plane with the most points, on the camera's side of it; none without a plane."""
    if len(points) < 100:
        return np.zeros(len(points), dtype=bool)
    cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points))
    (a, b, c, d), _ = cloud.segment_plane(distance_threshold=distance, ransac_n=3, num_iterations=1000)
    heights = points @ np.array([a, b, c]) + d
    return (heights if d > 0 else -heights) > distance


def standing(frame: Frame, distance: float) -> tuple[np.ndarray, np.ndarray]:
    """As points_of, but only what lies above the table."""
    points, pixels = points_of(frame)
    above = above_table(points, distance)
    return points[above], pixels[above]


def grouped(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal rows of whole numbers, each once and in order, and which of them each row is."""
    low = keys.min(axis=0)
    spans = keys.max(axis=0) - low + 3
    codes = np.ravel_multi_index((keys - low + 1).T, spans)
    unique, group = np.unique(codes, return_inverse=True)
    return np.stack(np.unravel_index(unique, spans), axis=1), group


def means(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    counts = np.bincount(group)
    return np.stack([np.bincount(group, column) / counts for column in values.T], axis=1)


def picture(frame: Frame, pixels: np.ndarray, things: np.ndarray, least: int) -> np.ndarray:
    """The number of a thing at each pixel, from 1; `things` has one for each of `pixels`, below 0 for none."""
    kept = things >= 0
    pixels, things = pixels[kept], things[kept]
    large = np.bincount(things, minlength=1) >= least
    numbers = np.where(large, np.cumsum(large), 0)
    cut = np.zeros(frame.depth.size, dtype=np.int64)
    cut[pixels] = numbers[things]
    return cut


def cut_open3d(frame: Frame, settings: Open3dSettings) -> np.ndarray:
    points, pixels = standing(frame, settings.plane)
    if pixels.size == 0:
        return np.zeros(frame.depth.size, dtype=np.int64)
    _, voxel = grouped(np.floor(points / settings.voxel).astype(np.int64))
    cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(means(points, voxel)))
    clusters = np.asarray(cloud.cluster_dbscan(eps=settings.eps, min_points=settings.min_points))
    return picture(frame, pixels, clusters[voxel], settings.least)


@dataclasses.dataclass(frozen=True)
class Voxels:
    places: np.ndarray
    colors: np.ndarray
    normals: np.ndarray
    neighbours: sparse.csr_matrix  # of the 26 around each, those that are there
    of_point: np.ndarray


def half_of_26() -> list[tuple[int, int, int]]:
    every = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
    return [offset for offset in every if offset > (0, 0, 0)]


def neighbours_of(cells: np.ndarray) -> sparse.csr_matrix:
    spans = cells.max(axis=0) + 2
    codes = np.ravel_multi_index(cells.T, spans)
    starts, ends = [], []
    for offset in half_of_26():
        wanted = np.ravel_multi_index((cells + offset).T, spans)
        place = np.minimum(np.searchsorted(codes, wanted), codes.size - 1)
        there = np.flatnonzero(codes[place] == wanted)
        starts.append(there)
        ends.append(place[there])
    return linked(len(cells), np.concatenate(starts), np.concatenate(ends))


def normals_of(places: np.ndarray, neighbours: sparse.csr_matrix) -> np.ndarray:
    """Where a voxel, its neighbours and theirs (by the number of ways to each) spread least; to the camera."""
    around = neighbours + sparse.identity(len(places), format="csr")
    products = (places[:, :, None] * places[:, None, :]).reshape(-1, 9)
    sums = around @ (around @ np.hstack([np.ones((len(places), 1)), places, products]))
    middle, spread = sums[:, 1:4] / sums[:, :1], sums[:, 4:] / sums[:, :1]
    spread = spread.reshape(-1, 3, 3) - middle[:, :, None] * middle[:, None, :]
    normals = np.linalg.eigh(spread)[1][:, :, 0]
    return np.where(np.sum(normals * places, axis=1, keepdims=True) > 0, -normals, normals)


def voxels_of(points: np.ndarray, colors: np.ndarray, edge: float) -> Voxels:
    z = points[:, 2]
    seen = np.stack([points[:, 0] / z, points[:, 1] / z, np.log(z)], axis=1)
    cells, voxel = grouped(np.floor(seen / edge).astype(np.int64))
    places, neighbours = means(points, voxel), neighbours_of(cells)
    return Voxels(places, means(colors, voxel), normals_of(places, neighbours), neighbours, voxel)


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def seeds_of(places: np.ndarray, edge: float) -> np.ndarray:
    """Of each cell of the coarse grid the voxel next to its middle."""
    cells = np.floor(places / edge)
    _, cell = grouped(cells.astype(np.int64))
    away = np.sum((places - (cells + 0.5) * edge) ** 2, axis=1)
    order = np.lexsort((away, cell))
    return order[np.r_[True, np.diff(cell[order]) > 0]]


def supervoxels(voxels: Voxels, settings: LccpSettings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which supervoxel each voxel is of, below 0 for none, and the middle and normal of each supervoxel."""
    seeds = seeds_of(voxels.places, settings.seed)
    edges = voxels.neighbours.tocoo()
    owner = np.full(len(voxels.places), -1)
    owner[seeds] = np.arange(seeds.size)
    best = np.full(owner.size, np.inf)
    best[seeds] = 0.0
    middles, colors, normals = voxels.places[seeds], voxels.colors[seeds], voxels.normals[seeds]
    spacing = settings.voxel * np.median(voxels.places[:, 2])
    for _ in range(int(1.8 * settings.seed / spacing) + 1):
        reached = (owner[edges.row] >= 0) & (owner[edges.row] != owner[edges.col])
        if not reached.any():
            break
        by, voxel = owner[edges.row[reached]], edges.col[reached]
        apart = np.linalg.norm(voxels.places[voxel] - middles[by], axis=1) / settings.seed
        tint = np.linalg.norm(voxels.colors[voxel] - colors[by], axis=1)
        turned = 1.0 - np.abs(np.sum(voxels.normals[voxel] * normals[by], axis=1))
        distance = settings.spatial * apart + settings.color * tint + settings.normal * turned
        order = np.lexsort((distance, voxel))
        first = order[np.r_[True, np.diff(voxel[order]) > 0]]
        first = first[distance[first] < best[voxel[first]]]
        owner[voxel[first]], best[voxel[first]] = by[first], distance[first]
        kept, group = np.unique(owner[owner >= 0], return_inverse=True)
        owned = np.flatnonzero(owner >= 0)
        owner[owned] = group
        middles, colors = means(voxels.places[owned], group), means(voxels.colors[owned], group)
        normals = unit(means(voxels.normals[owned], group))
    return owner, middles, normals


def opens(middles: np.ndarray, normals: np.ndarray, a: np.ndarray, b: np.ndarray, concavity: float) -> np.ndarray:
    """Whether the edges between the supervoxels `a` and `b` are convex, or nearly flat."""
    along = unit(middles[a] - middles[b])
    out = np.sum((normals[a] - normals[b]) * along, axis=1)
    return (out >= 0) | (turns(normals[a], normals[b]) < concavity)


def touches(middles: np.ndarray, normals: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether the surfaces meet in a line: the fold lies across the way from one to the other."""
    fold, along = unit(np.cross(normals[a], normals[b])), unit(middles[a] - middles[b])
    between = np.degrees(np.arccos(np.clip(np.abs(np.sum(fold * along, axis=1)), 0.0, 1.0)))
    return between > 60.0 / (1.0 + np.exp(-0.25 * (turns(normals[a], normals[b]) - 25.0)))


def turns(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.degrees(np.arccos(np.clip(np.sum(one * other, axis=1), -1.0, 1.0)))


def joined(
    middles: np.ndarray, normals: np.ndarray, a: np.ndarray, b: np.ndarray, settings: LccpSettings
) -> np.ndarray:
    """The segment of each supervoxel."""
    good = opens(middles, normals, a, b, settings.concavity)
    if settings.extended:
        link = linked(len(middles), a[good], b[good])
        good &= np.asarray((link @ link)[a, b]).ravel() > 0
    if settings.sanity:
        good &= touches(middles, normals, a, b)
    segment = csgraph.connected_components(linked(len(middles), a[good], b[good]), directed=False)[1]
    return without_small(segment, a, b, settings.smallest)


def linked(count: int, a: np.ndarray, b: np.ndarray) -> sparse.csr_matrix:
    return sparse.csr_matrix((np.ones(2 * a.size), (np.r_[a, b], np.r_[b, a])), shape=(count, count))


def without_small(segment: np.ndarray, a: np.ndarray, b: np.ndarray, smallest: int) -> np.ndarray:
    """Each segment of fewer supervoxels goes to its largest neighbour, the smallest first."""
    while True:
        sizes = np.bincount(segment)
        start, end = np.r_[segment[a], segment[b]], np.r_[segment[b], segment[a]]
        wants = (start != end) & (sizes[start] < smallest)
        if not wants.any():
            return segment
        start, end = start[wants], end[wants]
        pick = np.lexsort((-sizes[end], start, sizes[start]))[0]
        segment = np.where(segment == start[pick], end[pick], segment)


def cut_lccp(frame: Frame, settings: LccpSettings) -> np.ndarray:
    points, pixels = standing(frame, settings.plane)
    if pixels.size == 0:
        return np.zeros(frame.depth.size, dtype=np.int64)
    voxels = voxels_of(points, frame.color.reshape(-1, 3)[pixels] / 255.0, settings.voxel)
    owner, middles, normals = supervoxels(voxels, settings)
    edges = sparse.triu(voxels.neighbours).tocoo()
    a, b = owner[edges.row], owner[edges.col]
    apart = (a != b) & (a >= 0) & (b >= 0)
    pairs = np.unique(np.sort(np.stack([a[apart], b[apart]], axis=1), axis=1), axis=0)
    a, b = pairs[:, 0], pairs[:, 1]
    segment = joined(middles, normals, a, b, settings)
    things = np.where(owner >= 0, segment[owner], -1)
    return picture(frame, pixels, things[voxels.of_point], settings.least)


METHODS: dict[str, tuple[Callable, type]] = {"open3d": (cut_open3d, Open3dSettings), "lccp": (cut_lccp, LccpSettings)}


def judged(labels: np.ndarray, cut: np.ndarray) -> dict:
    """Counts of one frame, by the rule of `prehend eval map --frames`."""
    numbers, label = np.unique(labels.ravel(), return_inverse=True)
    objects = int(cut.max())
    both = np.bincount(label * (objects + 1) + cut, minlength=numbers.size * (objects + 1)).reshape(numbers.size, -1)
    area = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
    iou = (both / area)[numbers > 0, 1:]
    best = np.zeros(len(iou))
    taken = np.zeros(objects, dtype=bool)
    for place in np.argsort(-iou, axis=None, kind="stable"):
        row, column = divmod(int(place), objects)
        if iou[row, column] > 0 and best[row] == 0 and not taken[column]:
            best[row], taken[column] = iou[row, column], True
    return {
        "labels": len(iou), "found": int((best >= FOUND).sum()), "objects": objects, "extra": int((~taken).sum()),
        "iou": best.tolist(),
    }


def of_peer(method: str, settings: object, folders: list[pathlib.Path]) -> list[dict]:
    cut_frame, frames = METHODS[method][0], []
    for number, folder in enumerate(folders, 1):
        told = f"\r{method}, {folder.parent.name}: frame {number} of {len(folders)} "
        print(told, end="", file=sys.stderr, flush=True)
        frame = read_frame(folder)
        if not frame.labels.any():
            continue
        o3d.utility.random.seed(0)
        began = time.perf_counter()
        cut = cut_frame(frame, settings)
        milliseconds = (time.perf_counter() - began) * 1e3
        frames.append({"frame": frame.name, **judged(frame.labels, cut), "milliseconds": milliseconds})
    print(file=sys.stderr)
    return frames


def of_prehend(program: pathlib.Path, folder: pathlib.Path) -> list[dict]:
    print(f"prehend, {folder.name}", file=sys.stderr, flush=True)
    environment = {"PREHEND_SHARE": str(ROOT), **os.environ}
    command = [program.absolute(), "eval", "map", "--frames", folder, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stderr)
    frames = []
    for frame in json.loads(done.stdout)["frames"]:
        iou = [label["iou"] for label in frame["labels"]]
        frames.append({
            "frame": frame["frame"], "labels": len(iou), "found": sum(value >= FOUND for value in iou),
            "objects": frame["objects"], "extra": frame["extra"], "iou": iou,
        })
    return frames


def summed(frames: list[dict]) -> dict:
    counts = {key: sum(frame[key] for frame in frames) for key in ("labels", "found", "objects", "extra")}
    times = [frame["milliseconds"] for frame in frames if "milliseconds" in frame]
    return {
        **counts,
        "recall": counts["found"] / max(counts["labels"], 1),
        "precision": counts["found"] / max(counts["found"] + counts["extra"], 1),
        "median_ms": float(np.median(times)) if times else None,
        "p90_ms": float(np.percentile(times, 90)) if times else None,
        "frames": len(frames),
    }


def row(name: str, method: str, told: dict) -> str:
    times = "".join(f"{told[key]:8.0f}" if told[key] is not None else f"{'-':>8}" for key in ("median_ms", "p90_ms"))
    found = f"{told['found']}/{told['labels']}"
    return (f"{name:<18}{method:<9}{found:>13}{told['extra']:>7}{told['recall']:>8.3f}{told['precision']:>11.3f}"
            f"{times}{told['frames']:>8}")


def settings_of(method: str, changes: list[str]) -> object:
    """The settings with what --set changes in them."""
    settings = METHODS[method][1]()
    for change in changes:
        name, _, value = change.partition("=")
        peer, _, field = name.partition(".")
        if peer == method:
            if not hasattr(settings, field):
                sys.exit(f"--set {change}: {method} has {', '.join(vars(settings))}")
            settings = dataclasses.replace(settings, **{field: type(getattr(settings, field))(json.loads(value))})
    return settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("frames", type=pathlib.Path, nargs="+",
                        help="folders of frames, a row of the table each; a frame is a folder with color.png, "
                             "depth.png (16 bit, millimetres), intrinsics.json and instances.png (16 bit, a number "
                             "for each thing, 0 for none)")
    parser.add_argument("--prehend", type=pathlib.Path,
                        help="program to hold the peers against [default: only the peers]")
    parser.add_argument("--peers", default="open3d,lccp", metavar="NAMES",
                        help="of open3d and lccp, by commas [default: both]")
    parser.add_argument("--set", action="append", default=[], metavar="PEER.NAME=VALUE",
                        help="another value of a setting, as in lccp.seed=0.02 or lccp.extended=false; a wrong name "
                             "prints the list")
    parser.add_argument("--json", action="store_true",
                        help="print one JSON object with every frame on stdout, the table on stderr")
    options = parser.parse_args()
    peers = [name for name in options.peers.split(",") if name]
    if unknown := set(peers) - set(METHODS):
        parser.error(f"--peers: there is no {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}")
    settings = {name: settings_of(name, options.set) for name in peers}
    results: dict[str, dict[str, list[dict]]] = {}
    for place in options.frames:
        folders = sorted(path for path in place.iterdir() if (path / "color.png").is_file())
        if not folders:
            sys.exit(f"no frames in {place}")
        of_place = results[place.name] = {}
        if options.prehend:
            of_place["prehend"] = of_prehend(options.prehend, place)
        for name in peers:
            of_place[name] = of_peer(name, settings[name], folders)
    show(results, settings, options.json)


def show(results: dict[str, dict[str, list[dict]]], settings: dict[str, object], as_json: bool) -> None:
    totals: dict[str, list[dict]] = {}
    lines = [f"{'frames of':<18}{'method':<9}{'found/labels':>13}{'extra':>7}{'recall':>8}{'precision':>11}"
             f"{'ms, mid':>8}{'90 %':>8}{'frames':>8}"]
    for place, of_place in results.items():
        for method, frames in of_place.items():
            lines.append(row(place, method, summed(frames)))
            totals.setdefault(method, []).extend(frames)
    if len(results) > 1:
        lines += [row("all", method, summed(frames)) for method, frames in totals.items()]
    print("\n".join(lines), file=sys.stderr if as_json else sys.stdout, flush=True)
    if as_json:
        print(json.dumps({
            "settings": {method: dataclasses.asdict(of_method) for method, of_method in settings.items()},
            "summary": {
                place: {method: summed(frames) for method, frames in of_place.items()}
                for place, of_place in results.items()
            },
            "all": {method: summed(frames) for method, frames in totals.items()},
            "frames": results,
            "versions": {"python": sys.version.split()[0], "numpy": np.__version__, "open3d": o3d.__version__},
        }))


if __name__ == "__main__":
    main()
