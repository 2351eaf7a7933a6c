#!/usr/bin/env python3
"""Opens recordings of `prehend record` with readers that others wrote, and fails when one of them sees something else.

    pip install mcap mcap-ros2-support rosbags && tests/peers/read_recording.py FOLDER [FOLDER ...]

Each message of each topic is decoded three times, by the definitions that stand in the file: by `mcap` with its index, by `mcap` from the
first byte to the last (as a stream, and as a file that was cut off must be read), each with `mcap-ros2-support`, and by `rosbags`. What they
count is compared with each other and with metadata.yaml; the bytes are compared one by one, the decoded values at one leaf in every
message (the stamp of the header where there is one).

With --killed the folders are recordings whose writer was killed: there is no index and no metadata.yaml, and the stream alone is read, up
to where it was cut off.
"""

import argparse
import hashlib
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from mcap.exceptions import EndOfFile, McapError
from mcap.reader import NonSeekingReader, SeekingReader
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore
from ruamel.yaml import YAML


def stamp(message):
    """The stamp of a header, of a clock, or of an event."""
    for holder in (getattr(message, "header", None), message):
        for name in ("stamp", "clock"):
            time = getattr(holder, name, None)
            if time is not None and hasattr(time, "sec"):
                return time.sec, time.nanosec
    return None


def digest(data):
    """What stands for the bytes of a message: a recording may be larger than the memory."""
    return hashlib.blake2b(data, digest_size=16).hexdigest(), len(data)


def with_mcap(files, make_reader):
    """Topic, time, digest and stamp of every message."""
    seen = []
    for file in files:
        with open(file, "rb") as stream:
            reader = make_reader(stream)
            for _, channel, message, decoded in reader.iter_decoded_messages(log_time_order=False):
                seen.append((channel.topic, message.log_time, digest(message.data), stamp(decoded)))
    return seen


def with_rosbags(folder):
    seen = []
    with AnyReader([folder], default_typestore=get_typestore(Stores.EMPTY)) as reader:
        for connection, time, data in reader.messages():
            decoded = reader.deserialize(data, connection.msgtype)
            seen.append((connection.topic, time, digest(bytes(data)), stamp(decoded)))
        announced = {c.topic: (c.msgtype, c.msgcount) for c in reader.connections}
    return seen, announced


def until_the_cut(file):
    """Messages of a file whose writer was killed: every whole chunk, by the stream reader of `mcap`."""
    seen, schemas, channels, decoders = [], {}, {}, {}
    factory = DecoderFactory()
    with open(file, "rb") as stream:
        try:
            for record in StreamReader(stream, validate_crcs=True).records:
                match type(record).__name__:
                    case "Schema":
                        schemas[record.id] = record
                    case "Channel":
                        channels[record.id] = record
                    case "Message":
                        channel = channels[record.channel_id]
                        if channel.id not in decoders:
                            decoders[channel.id] = factory.decoder_for("cdr", schemas[channel.schema_id])
                        decoded = decoders[channel.id](record.data)
                        seen.append((channel.topic, record.log_time, digest(record.data), stamp(decoded)))
        except (EndOfFile, McapError) as error:
            return seen, repr(error)
    return seen, "nothing: the file is whole"


def check(ok, words):
    if not ok:
        raise SystemExit(f"FAILED: {words}")


def whole(folder):
    files_of = YAML(typ="safe").load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    files = [folder / name for name in files_of["relative_file_paths"]]
    announced = {t["topic_metadata"]["name"]: t["message_count"] for t in files_of["topics_with_message_count"]}
    types = {t["topic_metadata"]["name"]: t["topic_metadata"]["type"] for t in files_of["topics_with_message_count"]}
    factories = [DecoderFactory()]
    indexed = with_mcap(files, lambda stream: SeekingReader(stream, validate_crcs=True, decoder_factories=factories))
    streamed = with_mcap(files, lambda stream: NonSeekingReader(stream, validate_crcs=True, decoder_factories=factories))
    other, connections = with_rosbags(folder)
    check(sorted(indexed, key=str) == sorted(streamed, key=str), "mcap sees something else without the index")
    check(sorted(indexed, key=str) == sorted(other, key=str), "rosbags sees something else than mcap")
    counts = {reader: Counter(topic for topic, *_ in seen) for reader, seen in
              {"mcap": indexed, "stream": streamed, "rosbags": other}.items()}
    rows = [("topic", "type", "metadata.yaml", "mcap", "mcap, no index", "rosbags", "MB")]
    for topic in sorted(announced):
        row = [announced[topic], *(count[topic] for count in counts.values())]
        check(len(set(row)) == 1, f"{topic}: {row}")
        check(connections[topic] == (types[topic], row[0]), f"{topic}: rosbags says {connections[topic]}")
        size = sum(data[1] for name, _, data, _ in indexed if name == topic)
        rows.append((topic, types[topic], *map(str, row), f"{size / 1e6:.1f}"))
    check(files_of["message_count"] == len(indexed), f"{files_of['message_count']} messages in metadata.yaml")
    check(set(counts["mcap"]) <= set(announced), "topics that metadata.yaml does not have")
    per_file = sum(file["message_count"] for file in files_of["files"])
    check(per_file == len(indexed), "the files of metadata.yaml have another number of messages")
    times = [time for _, time, *_ in indexed]
    begin = files_of["starting_time"]["nanoseconds_since_epoch"]
    check(not times or begin == min(times), "starting_time")
    check(not times or files_of["duration"]["nanoseconds"] == max(times) - min(times), "duration")
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    packed = sum(file.stat().st_size for file in files)
    print(f"{folder}: {len(files)} file(s), {packed / 1e6:.1f} MB, {len(indexed)} messages: all readers agree")


def killed(folder):
    for file in sorted(folder.glob("*.mcap")):
        seen, end = until_the_cut(file)
        check(seen, f"{file}: nothing can be read")
        counts = Counter(topic for topic, *_ in seen)
        print(f"{file}: {len(seen)} messages of {len(counts)} topics, then {end}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--killed", action="store_true", help="their writers were killed")
    args = parser.parse_args()
    print(", ".join(f"{name} {version(name)}" for name in ("mcap", "mcap-ros2-support", "rosbags")))
    for folder in args.folders:
        killed(folder) if args.killed else whole(folder)


if __name__ == "__main__":
    sys.exit(main())
