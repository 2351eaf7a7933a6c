#!/usr/bin/env python3
"""The core of ConceptGraphs on posed frames with given masks and features: what it costs and what comes out.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy==2.4.6 open3d==0.20.0 faiss-cpu==1.15.1 pillow==13.0.0
    apt install libusb-1.0-0 libgl1 libgomp1 libx11-6       # what Open3D wants of a small Debian
    prehend scene frames --objects 30 --masks truth --features 512 --out /tmp/frames
    /tmp/peers/bin/python tests/peers/conceptgraphs_core.py /tmp/frames --objects /tmp/objects.json
    prehend eval map --race /tmp/frames --boxes /tmp/objects.json       # held against /tmp/frames/truth.json

Written anew from the paper (Gu et al. 2023, arXiv 2309.16650, section III-A and III-B) and the parameters that its authors publish. A
keyframe: the pixels of each mask are back-projected, down-sampled to voxels and cleaned by DBSCAN, of which the largest cluster stays;
each gets an oriented box. Similarity to an object of the map is geometric (the share of the new points that have a point of the object
within a voxel's edge, by a faiss IndexFlatL2 of each object, where the boxes meet) plus visual (the cosine of the features). Each
detection joins the object it is most similar to when the sum is 1.1 or more, else it is a new object. What is joined: points, down-sampled
again; the features, averaged by the number of views; the box. Every twentieth keyframe all objects are cleaned by DBSCAN.

In its favour: boxes are held against each other as axis-parallel ones in numpy instead of by exact volumes of oriented boxes in torch; only the pixels of
a mask are back-projected; no captions, no crops, no network. Open3D and faiss use as many threads as they like (OMP_NUM_THREADS).
The authors' code indexes every object of the map in every keyframe; --index touched indexes only those whose boxes meet a new one.

Decoded pictures and masks are in memory when the clock starts. Prints one JSON object; --objects writes what each object covers of the ground.
"""
import argparse
import json
import pathlib
import resource
import sys
import time

try:
    import faiss
    import numpy as np
    import open3d as o3d
    from PIL import Image
except ImportError as error:
    sys.exit(f"{error}; see the head of this file for what to install")

LEAST_POINTS = 16  # of a mask, and 5 of what DBSCAN leaves: the authors' configuration


def rotation(x, y, z, w):
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])


def read_frame(folder):
    """One frame of a folder as `prehend scene frames` writes it."""
    camera = json.loads((folder / "intrinsics.json").read_text())
    pose = json.loads((folder / "pose.json").read_text())
    listed = json.loads((folder / "instances.json").read_text())
    return {
        "color": np.asarray(Image.open(folder / "color.png").convert("RGB")),
        "depth": np.asarray(Image.open(folder / "depth.png")).astype(np.float32) / 1000.0,
        "labels": np.asarray(Image.open(folder / "instances.png")).astype(np.uint16),
        "values": [one["label"] for one in listed],
        "features": np.array([one["feature"] for one in listed], dtype=np.float32),
        "camera": camera,
        "turn": rotation(*pose["quaternion"]),
        "place": np.array(pose["position"]),
    }


def cleaned(cloud, options):
    """The largest cluster of DBSCAN; the cloud as it is when nearly nothing is left of it."""
    labels = np.asarray(cloud.cluster_dbscan(eps=options.eps, min_points=options.min_points))
    kept = labels[labels >= 0]
    if kept.size == 0:
        return cloud
    largest = np.flatnonzero(labels == np.bincount(kept).argmax())
    return cloud.select_by_index(largest) if largest.size >= 5 else cloud


def box_of(cloud):
    """The oriented box, or the axis-parallel one of points that lie in a plane."""
    if len(cloud.points) >= 4:
        try:
            return cloud.get_oriented_bounding_box(robust=True)
        except RuntimeError:
            pass
    return cloud.get_axis_aligned_bounding_box()


def described(cloud, feature, views):
    points = np.asarray(cloud.points, dtype=np.float32)
    return {
        "cloud": cloud, "points": points, "feature": feature, "views": views, "box": box_of(cloud),
        "low": points.min(axis=0), "high": points.max(axis=0),
    }


def detections(frame, masks, options):
    """The objects of one frame."""
    camera, found = frame["camera"], []
    for mask, feature in zip(masks, frame["features"]):
        rows, columns = np.nonzero(mask & (frame["depth"] > 0))
        if rows.size < LEAST_POINTS:
            continue
        z = frame["depth"][rows, columns]
        points = np.stack([(columns - camera["cx"]) * z / camera["fx"], (rows - camera["cy"]) * z / camera["fy"], z], axis=1)
        cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points @ frame["turn"].T + frame["place"]))
        cloud.colors = o3d.utility.Vector3dVector(frame["color"][rows, columns] / 255.0)
        cloud = cleaned(cloud.voxel_down_sample(options.voxel), options)
        one = described(cloud, feature, 1)
        if one["box"].volume() >= 1e-6:
            found.append(one)
    return found


def index_of(thing):
    index = faiss.IndexFlatL2(3)
    index.add(thing["points"])
    return index


def similarities(known, new, options):
    """The sum of both similarities, a row for each new detection."""
    low, high = np.stack([one["low"] for one in known]), np.stack([one["high"] for one in known])
    indices = [index_of(one) for one in known] if options.index == "all" else [None] * len(known)
    geometric = np.zeros((len(new), len(known)))
    for row, one in enumerate(new):
        meets = np.all((low <= one["high"]) & (high >= one["low"]), axis=1)
        for column in np.flatnonzero(meets):
            if indices[column] is None:
                indices[column] = index_of(known[column])
            distances, _ = indices[column].search(one["points"], 1)
            geometric[row, column] = np.mean(distances < options.voxel**2)
    visual = np.stack([one["feature"] for one in new]) @ np.stack([one["feature"] for one in known]).T
    return geometric + visual


def joined(known, new, options):
    cloud = (known["cloud"] + new["cloud"]).voxel_down_sample(options.voxel)
    views = known["views"] + new["views"]
    feature = (known["feature"] * known["views"] + new["feature"] * new["views"]) / views
    return described(cloud, feature / np.linalg.norm(feature), views)


def take_in(objects, frame, masks, number, options):
    """One keyframe into the map."""
    new = detections(frame, masks, options)
    if new:
        sums = similarities(objects, new, options) if objects else np.full((len(new), 1), -np.inf)
        for row, one in enumerate(new):
            best = int(sums[row].argmax())
            if sums[row, best] >= options.threshold:
                objects[best] = joined(objects[best], one, options)
            else:
                objects.append(one)
    if options.denoise and (number + 1) % options.denoise == 0:
        for place, one in enumerate(objects):
            objects[place] = described(cleaned(one["cloud"], options), one["feature"], one["views"])


def memory_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("frames", type=pathlib.Path, help="folder of frames with instances.png and instances.json")
    options.add_argument("--voxel", type=float, default=0.01, help="edge of voxels and distance of overlap, metres")
    options.add_argument("--eps", type=float, default=0.1, help="radius of DBSCAN, metres")
    options.add_argument("--min-points", type=int, default=10, help="neighbours of a core point of DBSCAN")
    options.add_argument("--threshold", type=float, default=1.1, help="least sum of similarities of one object")
    options.add_argument("--denoise", type=int, default=20, help="keyframes between two cleanings of all objects; 0 = never")
    options.add_argument("--index", choices=["all", "touched"], default="all", help="which objects are indexed in a keyframe")
    options.add_argument("--objects", type=pathlib.Path, help="file for the footprints and heights of the objects")
    options = options.parse_args()
    folders = sorted(path for path in options.frames.iterdir() if (path / "color.png").is_file())
    if not folders:
        sys.exit(f"no frames in {options.frames}")
    frames = [read_frame(folder) for folder in folders]
    loaded = memory_mib()
    objects, milliseconds, processor = [], [], 0.0
    for number, frame in enumerate(frames):
        masks = [frame["labels"] == value for value in frame["values"]]
        began, busy = time.perf_counter(), time.process_time()
        take_in(objects, frame, masks, number, options)
        milliseconds.append((time.perf_counter() - began) * 1e3)
        processor += time.process_time() - busy
    if options.objects:
        listed = [{"footprint": one["points"][:, :2].tolist(), "z": [float(one["low"][2]), float(one["high"][2])]} for one in objects]
        options.objects.write_text(json.dumps(listed))
    last = milliseconds[len(milliseconds) - -(-len(milliseconds) // 10):]
    print(json.dumps({
        "keyframes": len(frames),
        "masks": sum(len(frame["values"]) for frame in frames),
        "objects": len(objects),
        "points": sum(len(one["points"]) for one in objects),
        "milliseconds": milliseconds,
        "median_ms": float(np.median(milliseconds)),
        "max_ms": max(milliseconds),
        "last_ms": float(np.median(last)),
        "total_s": sum(milliseconds) / 1e3,
        "cpu_s": processor,
        "memory_mib": [loaded, memory_mib()],
        "versions": {"python": sys.version.split()[0], "numpy": np.__version__, "open3d": o3d.__version__, "faiss": faiss.__version__},
        "threads": faiss.omp_get_max_threads(),
    }))


if __name__ == "__main__":
    main()
