#!/usr/bin/env python3
"""Other indexes of likeness on the vectors of `prehend eval memory --scale N --vectors DIR`: build, questions, recall, memory, start.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy faiss-cpu hnswlib usearch
    prehend eval memory --scale 100000 --vectors /tmp/vectors
    /tmp/peers/bin/python tests/peers/memory_index.py /tmp/vectors

Each runs in a process of its own with two threads for building and one for questions, asked one after the other. HNSW has 16 links and
looks at 128 nodes for a place; how many a question looks at is raised until recall at 10 is 0.95, and then 0.98. Truth is a comparison
with each vector. A start is reading the saved index and answering one question; the page cache is warm. What these do not do, and
Prehend's figures hold, is reading the answers' vectors and things from a database.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import tempfile
import time

import numpy

LINKS, PLACED_BY, BEST, THREADS = 16, 128, 10, 2
GOALS = (0.95, 0.98)


def memory():
    """Resident memory of this process, MiB."""
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024


def read(folder):
    shape = json.loads((folder / "shape.json").read_text())
    rows = lambda name: numpy.fromfile(folder / name, numpy.float32).reshape(-1, shape["dimensions"])
    return rows("base.f32"), rows("questions.f32")


def truth(base, questions):
    """Similarity of the tenth best of each question."""
    tenth = []
    for question in questions:
        alike = base @ question
        tenth.append(numpy.partition(alike, -BEST)[-BEST])
    return numpy.array(tenth)


class Faiss:
    def build(self, base):
        import faiss

        faiss.omp_set_num_threads(THREADS)
        self.index = self.made(faiss, base.shape[1])
        self.index.add(base)

    def save(self, path):
        import faiss

        faiss.write_index(self.index, path)

    def load(self, path, dimensions):
        import faiss

        faiss.omp_set_num_threads(1)
        self.index = faiss.read_index(path)

    def ask(self, question):
        return self.index.search(question[None], BEST)[1][0]


class FaissFlat(Faiss):
    looks = None

    def made(self, faiss, dimensions):
        return faiss.IndexFlatIP(dimensions)


class FaissHnsw(Faiss):
    def made(self, faiss, dimensions):
        index = faiss.IndexHNSWFlat(dimensions, LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = PLACED_BY
        return index

    def looks(self, count):
        self.index.hnsw.efSearch = count


class Hnswlib:
    def build(self, base):
        import hnswlib

        self.index = hnswlib.Index("ip", base.shape[1])
        self.index.init_index(len(base), ef_construction=PLACED_BY, M=LINKS)
        self.index.add_items(base, num_threads=THREADS)

    def save(self, path):
        self.index.save_index(path)

    def load(self, path, dimensions):
        import hnswlib

        self.index = hnswlib.Index("ip", dimensions)
        self.index.load_index(path)

    def looks(self, count):
        self.index.set_ef(count)

    def ask(self, question):
        return self.index.knn_query(question, BEST, num_threads=1)[0][0]


class Usearch:
    kind = "f32"

    def empty(self, dimensions):
        from usearch.index import Index

        return Index(ndim=dimensions, metric="ip", dtype=self.kind, connectivity=LINKS, expansion_add=PLACED_BY)

    def build(self, base):
        self.index = self.empty(base.shape[1])
        self.index.add(numpy.arange(len(base)), base, threads=THREADS)

    def save(self, path):
        self.index.save(path)

    def load(self, path, dimensions):
        self.index = self.empty(dimensions)
        self.index.load(path)

    def looks(self, count):
        self.index.expansion_search = count

    def ask(self, question):
        return self.index.search(question, BEST, threads=1).keys


class UsearchI8(Usearch):
    kind = "i8"


PEERS = {
    "faiss flat": FaissFlat,
    "faiss HNSW": FaissHnsw,
    "hnswlib": Hnswlib,
    "usearch f32": Usearch,
    "usearch i8": UsearchI8,
}


def questions_of(peer, base, questions, tenth):
    """Recall at 10, and the times of questions."""
    right, times = 0, []
    for question, least in zip(questions, tenth):
        begun = time.perf_counter()
        found = peer.ask(question)
        times.append(1e3 * (time.perf_counter() - begun))
        found = numpy.asarray(found, numpy.int64)
        found = found[(found >= 0) & (found < len(base))]
        right += int((base[found] @ question >= least - 1e-5).sum())
    return right / (BEST * len(questions)), times


def run(name, folder, tenth, out):
    base, questions = read(folder)
    peer = PEERS[name]()
    begun = time.perf_counter()
    peer.build(base)
    result = {"build_s": time.perf_counter() - begun}
    with tempfile.TemporaryDirectory() as kept:
        path = os.path.join(kept, "index")
        peer.save(path)
        result["file_mib"] = os.path.getsize(path) / 2**20
        del peer
        peer, before = PEERS[name](), memory()
        begun = time.perf_counter()
        peer.load(path, base.shape[1])
        peer.ask(questions[0])
        result["start_ms"] = 1e3 * (time.perf_counter() - begun)
        result["memory_mib"] = memory() - before
        result["at"] = []
        looks = 10
        for goal in GOALS:
            while True:
                if peer.looks:
                    peer.looks(looks)
                recall, times = questions_of(peer, base, questions, tenth)
                if recall >= goal or not peer.looks or looks > 4000:
                    break
                looks = int(looks * 1.3) + 1
            p50, p99 = numpy.percentile(times, [50, 99])
            result["at"].append({"goal": goal, "looks": looks, "recall": recall, "p50": p50, "p99": p99})
    out.put(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where the vectors are")
    parser.add_argument("--only", action="append", choices=PEERS, help="only this one; may be repeated")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    base, questions = read(args.folder)
    tenth = truth(base, questions)
    results = {}
    for name in args.only or PEERS:
        out = multiprocessing.get_context("spawn").Queue()
        process = multiprocessing.get_context("spawn").Process(target=run, args=(name, args.folder, tenth, out))
        process.start()
        while process.is_alive() and out.empty():
            time.sleep(0.2)
        results[name] = out.get() if not out.empty() else {"failed": process.exitcode}
        process.join()
        if not args.json:
            show(name, results[name])
    if args.json:
        print(json.dumps({"n": len(base), "questions": len(questions), "peers": results}))


def show(name, result):
    if "failed" in result:
        print(f"{name}: failed with {result['failed']}")
        return
    print(
        f"{name:12} build {result['build_s']:7.1f} s  file {result['file_mib']:6.0f} MiB  "
        f"start {result['start_ms']:6.0f} ms  memory {result['memory_mib']:6.0f} MiB",
        flush=True,
    )
    for at in result["at"]:
        print(
            f"{'':12} recall {at['recall']:.3f} (goal {at['goal']}): {at['p50']:.2f} ms (median), "
            f"{at['p99']:.2f} ms (p99), looks at {at['looks']}",
            flush=True,
        )


if __name__ == "__main__":
    main()
