#!/usr/bin/env node
// Reads a recording with Foxglove's own packages: the index of the file, the message definitions in it, and every message; as a Markdown table.
//
//     npm install --prefix /tmp/foxglove @mcap/core @mcap/support @foxglove/rosmsg @foxglove/rosmsg2-serialization
//     NODE_PATH=/tmp/foxglove/node_modules node tests/peers/foxglove_read.mjs RECORDING.mcap
//
// Exits with 1 when a message is not read, or when the file's index is missing or counts other messages than there are.
import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";

const file = process.argv[2];
if (!file) {
  console.error("usage: foxglove_read.mjs RECORDING.mcap");
  process.exit(2);
}
let McapIndexedReader, loadDecompressHandlers, parse, MessageReader, MessageWriter;
try {
  const require = createRequire(import.meta.url);
  ({ McapIndexedReader } = require("@mcap/core"));
  ({ loadDecompressHandlers } = require("@mcap/support"));
  ({ parse } = require("@foxglove/rosmsg"));
  ({ MessageReader, MessageWriter } = require("@foxglove/rosmsg2-serialization"));
} catch (error) {
  console.error(`not installed, or NODE_PATH does not name it: ${error.message.split("\n")[0]}`);
  process.exit(2);
}

const handle = await open(file);
const { size } = await handle.stat();
const readable = {
  size: async () => BigInt(size),
  read: async (offset, length) => {
    const bytes = new Uint8Array(Number(length));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, Number(offset));
    if (bytesRead !== bytes.length) throw new Error(`the file ends at ${size}`);
    return bytes;
  },
};

// Without an index Foxglove refuses the file: this throws.
const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers: await loadDecompressHandlers() });
const topics = new Map();
for await (const message of reader.readMessages()) {
  const channel = reader.channelsById.get(message.channelId);
  const schema = reader.schemasById.get(channel.schemaId);
  let topic = topics.get(channel.topic);
  if (!topic) {
    const found = { type: schema.name, encoding: `${channel.messageEncoding} / ${schema.encoding}`, messages: 0, read: 0, again: 0, why: "" };
    try {
      const definitions = parse(new TextDecoder().decode(schema.data), { ros2: true });
      found.reader = new MessageReader(definitions);
      found.writer = new MessageWriter(definitions);
    } catch (error) {
      found.why = error.message;
    }
    topic = found;
    topics.set(channel.topic, topic);
  }
  topic.messages += 1;
  if (!topic.reader) continue;
  try {
    const value = topic.reader.readMessage(message.data);
    topic.read += 1;
    // Written by Foxglove and read again it is the same message: nothing was read past its end or taken for another field.
    topic.again += isDeepStrictEqual(topic.reader.readMessage(topic.writer.writeMessage(value)), value) ? 1 : 0;
  } catch (error) {
    topic.why ||= error.message;
  }
}
await handle.close();

console.log("| topic | type | message / definition | messages | read | written and read again |\n|---|---|---|---|---|---|");
const total = { messages: 0, read: 0, again: 0 };
for (const [name, topic] of [...topics].sort()) {
  for (const key of Object.keys(total)) total[key] += topic[key];
  const why = topic.why && ` (${topic.why})`;
  console.log(`| ${name} | ${topic.type} | ${topic.encoding} | ${topic.messages} | ${topic.read}${why} | ${topic.again} |`);
}
const counted = Number(reader.statistics?.messageCount ?? -1);
console.log(`| ${topics.size} topics | | | ${total.messages} (the index says ${counted}) | ${total.read} | ${total.again} |`);
process.exit(total.read === total.messages && total.again === total.messages && counted === total.messages && counted > 0 ? 0 : 1);
