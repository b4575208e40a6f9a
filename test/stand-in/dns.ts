// bun dns.ts PLAN FIFO runs a DNS server on port 53 of a network namespace of its own. It writes each question to stderr,
// as `dns NAME`, and a line into FIFO once it listens.

import { writeFileSync } from "node:fs";
import { takes } from "../time.ts";

/** What the server answers: the names below `up.` have the address 127.0.0.1, no other has one. */
export interface DnsPlan {
  /** The time, in ms, that each answer takes; by default none. */
  readonly takesMs?: number;
  /** It answers nothing. */
  readonly isSilent?: true;
}

const HEAD_BYTES = 12;
const TYPE_A = 1;
/** The answer: the question's name, A, IN, 0 s, 127.0.0.1. */
const loopback = Buffer.from("c00c00010001000000000004" + "7f000001", "hex");

const plan: DnsPlan = JSON.parse(process.argv[2] ?? "{}");

await Bun.udpSocket({
  hostname: "127.0.0.1",
  port: 53,
  socket: {
    async data(socket, query, port, address) {
      const { name, end } = readName(query);
      process.stderr.write(`dns ${name}\n`);
      if (plan.isSilent) return;
      if (plan.takesMs !== undefined) await takes(plan.takesMs);
      const isUp = name.split(".")[1] === "up";
      const answers = isUp && query.readUInt16BE(end) === TYPE_A ? [loopback] : [];
      const head = Buffer.from(query.subarray(0, HEAD_BYTES));
      head.writeUInt16BE(isUp ? 0x8180 : 0x8183, 2); // NOERROR or NXDOMAIN
      head.writeUInt16BE(answers.length, 6);
      head.fill(0, 8);
      socket.send(Buffer.concat([head, query.subarray(HEAD_BYTES, end + 4), ...answers]), port, address);
    },
  },
});
writeFileSync(process.argv[3] as string, "listening\n");

/** Reads the name of the first question; `end` is the index after it. */
function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}
