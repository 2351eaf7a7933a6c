#!/usr/bin/env python3
"""Writes LIBERO's tasks, public BDDL files, as the JSON lines that `prehend eval libero` reads.

    git clone https://github.com/Lifelong-Robot-Learning/LIBERO /tmp/LIBERO
    tests/peers/libero_from_bddl.py /tmp/LIBERO/libero/libero/bddl_files/libero_10 --out libero_10.jsonl
    tests/peers/libero_from_bddl.py /tmp/LIBERO/libero/libero/bddl_files/libero_90 --half second --out libero_90_second.jsonl
    prehend eval libero libero_10.jsonl --language file

One file is one task is one line; lines are in the order of file names, compared by code point (SCENE10 before SCENE1_).
A line has, in this order:

    suite, file, problem     where the task comes from
    language                 the sentence in the file
    benchmark_language       the sentence LIBERO shows to a policy: the file name without its scene, with blanks
    fixtures, objects        name to category
    objects_of_interest      as in the file
    regions                  TARGET_REGION to target, region, ranges ([x_min, y_min, x_max, y_max] on the target, metres)
                             and yaw ([least, greatest], radians); neither for a part of a fixture
    init, goal               predicates, such as ["On", "plate_1", "main_table_plate_region"]; a goal is all of its list

Nothing is left out but the name of the domain. A file that is malformed, has a part this form has no place for, or a predicate
about a name that it does not define is refused by name, and then nothing is written.
"""

import argparse
import json
import math
import os
import re
import sys
from pathlib import Path

SECTIONS = [":domain", ":language", ":regions", ":fixtures", ":objects", ":obj_of_interest", ":init", ":goal"]


class Malformed(Exception):
    """What is wrong with a file, in words."""


def read(text):
    """The only s-expression of `text` as nested lists of words; `;` begins a comment."""
    stack = [[]]
    for number, line in enumerate(text.splitlines(), 1):
        for word in re.findall(r"[()]|[^\s()]+", line.split(";")[0]):
            if word == "(":
                stack.append([])
            elif word != ")":
                stack[-1].append(word)
            elif len(stack) > 1:
                stack[-2].append(stack.pop())
            else:
                raise Malformed(f"line {number}: a ')' that closes nothing")
    if len(stack) > 1:
        raise Malformed(f"the file ends with {len(stack) - 1} '(' open")
    if len(stack[0]) != 1:
        raise Malformed(f"{len(stack[0])} expressions instead of one (define ...)")
    return stack[0][0]


def words(items, where):
    """`items`, none of which is a list."""
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise Malformed(f"{where}: words expected, and no further lists")
    return items


def headed(item, where):
    """A list `(name ...)` as its name and the rest."""
    if not isinstance(item, list) or not item or not isinstance(item[0], str):
        raise Malformed(f"{where}: a list expected that begins with a name")
    return item[0], item[1:]


def fields(items, known, where):
    """Lists `(name ...)` as name to rest: names among `known`, each at most once."""
    found = {}
    for name, rest in (headed(item, where) for item in items):
        if name not in known:
            raise Malformed(f"{where}: {name} is none of {' '.join(known)}")
        if name in found:
            raise Malformed(f"{where}: {name} stands there twice")
        found[name] = rest
    return found


def categories(items, where):
    """`a b - kind c - kind` as name to kind."""
    found, waiting, items = {}, [], iter(words(items, where))
    for word in items:
        if word != "-":
            waiting.append(word)
            continue
        kind = next(items, "-")
        if not waiting or kind == "-":
            raise Malformed(f"{where}: a '-' without a name before it or a category after it")
        for name in waiting:
            if name in found:
                raise Malformed(f"{where}: {name} stands there twice")
            found[name] = kind
        waiting = []
    if waiting:
        raise Malformed(f"{where}: {waiting[0]} has no category")
    return found


def tuples(items, length, where):
    """`((1 2) (3 4))` as lists of `length` finite numbers."""
    if len(items) != 1 or not isinstance(items[0], list):
        raise Malformed(f"{where}: one list of lists expected")
    found = []
    for item in items[0]:
        try:
            numbers = [float(word) for word in words(item, where)]
        except ValueError as error:
            raise Malformed(f"{where}: {error}") from error
        if len(numbers) != length or not all(map(math.isfinite, numbers)):
            raise Malformed(f"{where}: ({' '.join(item)}) is not {length} finite numbers")
        found.append(numbers)
    return found


def regions(items):
    """Full name to region. A region's own name may occur again on another target."""
    found = {}
    for name, rest in (headed(item, ":regions") for item in items):
        where = f":regions {name}"
        parts = fields(rest, [":target", ":ranges", ":yaw_rotation"], where)
        target = words(parts.get(":target", []), where)
        if len(target) != 1:
            raise Malformed(f"{where}: one :target expected")
        region = {"target": target[0], "region": name}
        if ":ranges" in parts:
            region["ranges"] = tuples(parts[":ranges"], 4, f"{where} :ranges")
        if ":yaw_rotation" in parts:
            region["yaw"] = tuples(parts[":yaw_rotation"], 2, f"{where} :yaw_rotation")
        full = f"{target[0]}_{name}"
        if full in found:
            raise Malformed(f"{where}: stands there twice for {target[0]}")
        found[full] = region
    return found


def predicates(items, names, where):
    """Predicates as lists of words; what they are about is among `names`."""
    for item in items:
        predicate, arguments = headed(item, where)
        for argument in words(arguments, f"{where} {predicate}"):
            if argument not in names:
                raise Malformed(f"{where}: {predicate} is about {argument}, which is no fixture, object or region")
    return items


def task(text, suite, file):
    """One task as a JSON object. Raises `Malformed`."""
    name, parts = headed(read(text), "the file")
    problem = words(parts[0] if parts else [], "(define")
    if name != "define" or len(problem) != 2 or problem[0] != "problem":
        raise Malformed("does not begin with (define (problem NAME)")
    parts = fields(parts[1:], SECTIONS, "(define")
    for section in SECTIONS[1:]:
        if section not in parts:
            raise Malformed(f"has no ({section} ...)")
    fixtures, objects = (categories(parts[section], section) for section in (":fixtures", ":objects"))
    places = regions(parts[":regions"])
    names = fixtures.keys() | objects.keys() | places.keys()
    goal = parts[":goal"]
    if len(goal) != 1:
        raise Malformed(f":goal: {len(goal)} expressions instead of one")
    operator, operands = headed(goal[0], ":goal")
    return {
        "suite": suite,
        "file": file,
        "problem": problem[1],
        "language": " ".join(words(parts[":language"], ":language")),
        "benchmark_language": benchmark_language(file),
        "fixtures": fixtures,
        "objects": objects,
        "objects_of_interest": words(parts[":obj_of_interest"], ":obj_of_interest"),
        "regions": places,
        "init": predicates(parts[":init"], names, ":init"),
        "goal": predicates(operands if operator == "And" else goal, names, ":goal"),
    }


def benchmark_language(file):
    """`KITCHEN_SCENE3_turn_on_the_stove.bddl` as "turn on the stove", as LIBERO's benchmark makes it.

    Only a name that begins with a capital has a scene.
    """
    return re.sub(r"^[A-Z].*?SCENE\d+_", "", file.removesuffix(".bddl")).replace("_", " ")


def bddl_files(paths):
    """The files named and those in the folders named, each once, in the order of file names."""
    found = set()
    for path in (Path(os.path.abspath(path)) for path in paths):
        inside = set(path.glob("*.bddl")) if path.is_dir() else {path}
        if not inside:
            sys.exit(f"{path}: no .bddl file in this folder")
        found |= inside
    return sorted(found, key=lambda path: (path.name, path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH",
                        help="a .bddl file, or a folder of them (not its subfolders)")
    parser.add_argument("--suite", metavar="NAME", help="name of the suite (default: that of the file's folder)")
    parser.add_argument("--half", choices=["first", "second"],
                        help="every second line only: the first, third, ... or the second, fourth, ... of the sorted files, "
                             "so that a half can be kept back while developing (default: all)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file to write (default: standard output)")
    options = parser.parse_args()

    lines = []
    for path in bddl_files(options.paths):
        try:
            found = task(path.read_text(encoding="utf-8"), options.suite or path.parent.name, path.name)
        except OSError as error:
            sys.exit(f"{path}: {error.strerror}")
        except (Malformed, UnicodeDecodeError) as error:
            sys.exit(f"{path}: {error}")
        lines.append(json.dumps(found) + "\n")
    chosen = lines[{None: slice(None), "first": slice(0, None, 2), "second": slice(1, None, 2)}[options.half]]
    try:
        if options.out:
            options.out.write_text("".join(chosen), encoding="utf-8")
        else:
            print("".join(chosen), end="", flush=True)
    except OSError as error:
        sys.exit(f"{options.out or 'standard output'}: {error.strerror}")
    print(f"{len(chosen)} of {len(lines)} tasks", file=sys.stderr)


if __name__ == "__main__":
    main()
