#!/usr/bin/env python3
"""Writes the golden bytes of `crates/prehend-msgs/tests/golden/` with an independent implementation of ROS 2 CDR.

The peer is `rosbags` (PyPI, 0.11): its own reader of interface files and its own CDR writer. For every interface of
`prehend-msgs` two values are written, one with every field filled and one with every sequence and string empty, each as
JSON and as little-endian CDR without the encapsulation header. The Rust test compares its bytes with these.

It also compares the layouts in `standard/` with those rosbags ships for ROS 2 Jazzy and fails on a difference.

    pip install rosbags && tests/peers/make_cdr_golden.py
"""

import json
import sys
from pathlib import Path

import numpy
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

ROOT = Path(__file__).resolve().parents[2] / "crates" / "prehend-msgs"
PARTS = {"msg": [""], "srv": ["Request", "Response"], "action": ["Goal", "Result", "Feedback"]}
EMPTY = "uint8 structure_needs_at_least_one_member\n"
WORDS = ["", "a", "link_tcp", "größe", "xyz", "12 kg"]


def interfaces():
    """Each interface section as (Rust path, ROS type name, text)."""
    folders = [ROOT.parent / "prehend_interfaces", *sorted((ROOT / "standard").iterdir())]
    for folder in folders:
        for kind, parts in PARTS.items():
            for path in sorted((folder / kind).glob(f"*.{kind}")):
                sections = [[]]
                for line in path.read_text().splitlines():
                    if line.strip() == "---":
                        sections.append([])
                    else:
                        sections[-1].append(line)
                if len(sections) != len(parts):
                    sys.exit(f"{path}: {len(sections)} sections")
                for part, lines in zip(parts, sections):
                    name = f"{path.stem}_{part}" if part else path.stem
                    rust = "::".join(filter(None, [folder.name, kind, path.stem, part]))
                    yield rust, f"{folder.name}/msg/{name}", "\n".join(lines) + "\n"


def load():
    """A type store with nothing but our interface files, and the type name for each Rust path."""
    types, names = {}, {}
    for rust, name, text in interfaces():
        parsed = get_types_from_msg(text, name)
        if not parsed[name][1]:
            parsed = get_types_from_msg(text + EMPTY, name)
        types.update(parsed)
        names[rust] = name
    store = get_typestore(Stores.EMPTY)
    store.register(types)
    return store, names


class Filler:
    """Makes values, each different from the last; `full` fills sequences and strings."""

    def __init__(self, store, full):
        self.store, self.full, self.count = store, full, 0

    def base(self, word):
        self.count += 1
        n = self.count
        if word == "bool":
            return n % 2 == 1
        if word in ("string", "wstring"):
            return WORDS[n % len(WORDS)] if self.full else ""
        if word in ("float32", "float64"):
            return (-1.0) ** n * (n + 0.125)
        if word in ("byte", "char", "octet"):
            return n % 128  # rosbags packs these as signed
        if word == "uint8":
            return n % 256
        bits = int(word.lstrip("uint"))
        if word.startswith("u"):
            return (2**bits - n) if n % 2 else n % 2**bits
        return max(-(2 ** (bits - 1)), -n) if n % 2 else n % 2 ** (bits - 1)

    def value(self, definition, depth):
        """The value as rosbags wants it and as JSON."""
        node, rest = definition
        if node == Nodetype.BASE:
            value = self.base(rest[0])
            return value, value
        if node == Nodetype.NAME:
            return self.message(rest, depth + 1)
        element, length = rest
        if node == Nodetype.SEQUENCE:
            simple = element[0] == Nodetype.BASE
            length = (2 + self.count % 3 if simple or depth < 2 else 1) if self.full else 0
            if rest[1]:
                length = min(length, rest[1])
        pairs = [self.value(element, depth) for _ in range(length)]
        values, plain = [p[0] for p in pairs], [p[1] for p in pairs]
        if element[0] == Nodetype.BASE and element[1][0] not in ("string", "wstring"):
            word = {"byte": "uint8", "octet": "uint8", "char": "uint8", "bool": "bool"}.get(element[1][0], element[1][0])
            values = numpy.array(values, dtype=word)
        return values, plain

    def message(self, name, depth=0):
        arguments, plain = {}, {}
        for field, definition in self.store.fielddefs[name][1]:
            arguments[field], plain[field] = self.value(definition, depth)
        kind = self.store.types[name]
        # rosbags gives a Python keyword a trailing underscore in the constructor, not in the definition.
        known = kind.__dataclass_fields__
        return kind(**{(k if k in known else k + "_"): v for k, v in arguments.items()}), plain


def differences(store):
    """Layouts of ours that are not those rosbags ships for Jazzy."""
    shipped = get_typestore(Stores.ROS2_JAZZY)
    compared, found = 0, []
    for name in sorted(set(store.fielddefs) & set(shipped.fielddefs)):
        compared += 1
        ours, theirs = store.fielddefs[name], shipped.fielddefs[name]
        if ours[1] != theirs[1] or sorted(map(str, ours[0])) != sorted(map(str, theirs[0])):
            found.append(f"{name}\n  ours   {ours}\n  jazzy  {theirs}")
        elif store.hash_rihs01(name) != shipped.hash_rihs01(name):
            found.append(f"{name}: type hash differs")
    return compared, found


def main():
    store, names = load()
    golden = {}
    for rust, name in names.items():
        cases = []
        for full in (True, False):
            value, plain = Filler(store, full).message(name)
            cases.append({"cdr": store.serialize_cdr(value, name)[4:].hex(), "value": plain})
        if cases[0]["cdr"] == cases[1]["cdr"]:
            cases.pop()
        golden.setdefault(rust.split("::")[0], {})[rust] = cases
    folder = ROOT / "tests" / "golden"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for package, types in golden.items():
        lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, separators=(',', ':'))}" for k, v in sorted(types.items())]
        (folder / f"{package}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    compared, found = differences(store)
    print(f"{len(names)} types written; {compared} layouts compared with Jazzy's, {len(found)} differ")
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
