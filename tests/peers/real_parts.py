"""What the checks beside real parts of ROS 2 share: what is installed, a graph of Prehend's nodes, goals and how they ended."""
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

try:
    from ament_index_python.packages import PackageNotFoundError, get_package_prefix
except ModuleNotFoundError:
    get_package_prefix = None

from peer_process import until

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(args, needed):
    """Ends the script, with a sentence, when the program or one of these packages is not there."""
    args.prehend = str(pathlib.Path(args.prehend).resolve())
    if not pathlib.Path(args.prehend).is_file():
        sys.exit(f"{args.prehend} is not there: cargo build -p prehend-cli, or --prehend FILE")
    if lacking := [package for package in needed if not is_installed(package)]:
        sys.exit(f"not installed, or not sourced: {', '.join(lacking)}")


def is_installed(package):
    if get_package_prefix is None:
        return False
    try:
        get_package_prefix(package)
        return True
    except PackageNotFoundError:
        return False


def program(package, name):
    """The path of a program of an installed package."""
    return str(pathlib.Path(get_package_prefix(package)) / "lib" / package / name)


def in_domain(args):
    return {**os.environ, "ROS_DOMAIN_ID": str(args.domain)}


def end(process, patience=10):
    """Ends a process, by force when it does not end by itself."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Graph:
    """`prehend up` in the domain."""

    def __init__(self, args, folder, *more):
        folder.mkdir(parents=True, exist_ok=True)
        self.log, self.folder = folder / "up.log", folder / "up"
        command = [args.prehend, "up", "--out", str(self.folder), *more]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=in_domain(args), stdout=log, stderr=subprocess.STDOUT)

    def until_ready(self, patience=90):
        until(f"`prehend up` ready; see {self.log}", lambda: "ready in" in self.log.read_text(errors="replace"), patience)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def moved(self):
        """How the robot moved, as physics has it; known when the graph has ended."""
        return json.loads((self.folder / "result.json").read_text())


def goal(args, sentence):
    """A goal that is under way."""
    command = [args.prehend, "goal", sentence, "--json"]
    return subprocess.Popen(command, cwd=ROOT, env=in_domain(args), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def answered(process):
    """Whether a goal has been answered. Its process leaves the domain after that, which takes half a second where a node was killed."""
    return process.poll() is not None or bool(select.select([process.stdout], [], [], 0)[0])


def until_answered(process, patience=240):
    """Waits until a goal has been answered."""
    end = time.monotonic() + patience
    while not answered(process) and time.monotonic() < end:
        time.sleep(0.01)


def unpermitted(moved):
    """How many of all motions had no permit, in words."""
    return f"{len(moved['ungated_motions'])} of {moved['arm_motions'] + moved['base_motions']}"


def ending(process, patience=240):
    """How a goal ended, in words, and what was said of it."""
    try:
        out, _ = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        return "nothing", ""
    told = json.loads(out) if out.strip() else {"outcome": "nothing"}
    return told["outcome"] + (f" ({told['reason']})" if told.get("reason") else ""), told.get("message", "")


def outcome(process, patience=240):
    """How a goal ended, in words."""
    return ending(process, patience)[0]


def stop(args, *more):
    """`prehend stop`, under way."""
    return subprocess.Popen(
        [args.prehend, "stop", *more], cwd=ROOT, env=in_domain(args), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def listed(counts):
    return ", ".join(f"{name}: {count}" for name, count in counts.most_common()) or "none"
