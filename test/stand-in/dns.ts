// bun dns.ts PLAN FIFO runs a DNS server on port 53 of a network namespace of its own, by UDP and TCP. It writes each
// question to stderr, as `dns A db.svc 1234`: the type, the name and how many ms after the first it came. It writes a line
// into FIFO once it listens.

import { writeFileSync } from "node:fs";
import { takes } from "../harness/time.ts";

export interface DnsPlan {
  /** What it says of a name, or of all names below a domain (`*.up`); no other name exists. */
  readonly zones?: Readonly<Record<string, Zone>>;
  /** The time, in ms, that each answer takes; by default none. */
  readonly takesMs?: number;
  /** It answers nothing. */
  readonly isSilent?: true;
  /** It serves HTTP on 8080 of 127.0.0.2 and ::1, and HTTPS, with this certificate, on 8443. It answers with the Host. */
  readonly web?: { readonly cert: string; readonly key: string };
}

/** What it says of a name, which exists. */
export interface Zone {
  /** The name's addresses, IPv4 or `::1`; by default none. */
  readonly ips?: readonly string[];
  /** The code of its answers (RFC 1035, RCODE); by default 0. */
  readonly code?: number;
  /** The codes of its answers for A and for AAAA; by default `code`. */
  readonly a?: number;
  readonly aaaa?: number;
  /** By UDP it tells only that the answer is too long for that. */
  readonly isTruncated?: true;
}

const HEAD_BYTES = 12;
const NXDOMAIN = 3;
const types: Readonly<Record<number, string>> = { 1: "A", 28: "AAAA" };

const plan: DnsPlan = JSON.parse(process.argv[2] ?? "{}");
let start: number | undefined;

await Bun.udpSocket({
  hostname: "127.0.0.1",
  port: 53,
  socket: {
    async data(socket, query, port, address) {
      const answer = await answerTo(query, "udp");
      if (answer !== undefined) socket.send(answer, port, address);
    },
    error: () => undefined, // the client no longer wants the answer
  },
});
Bun.listen<Buffer>({
  hostname: "127.0.0.1",
  port: 53,
  socket: {
    open(socket) {
      socket.data = Buffer.alloc(0);
    },
    async data(socket, bytes) {
      socket.data = Buffer.concat([socket.data, bytes]);
      for (let query = next(socket); query !== undefined; query = next(socket)) {
        const answer = await answerTo(query, "tcp");
        if (answer !== undefined)
          socket.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length]), answer]));
      }
    },
  },
});
if (plan.web !== undefined) {
  const fetch = ({ headers }: Request): Response => new Response(`${headers.get("host")}\n`);
  for (const hostname of ["127.0.0.2", "::1"]) {
    Bun.serve({ hostname, port: 8080, fetch });
    Bun.serve({ hostname, port: 8443, tls: plan.web, fetch });
  }
}
writeFileSync(process.argv[3] as string, "listening\n");

/** Takes the next question that has come by TCP, if it is whole. */
function next(socket: { data: Buffer }): Buffer | undefined {
  const { data } = socket;
  const end = 2 + (data.length < 2 ? data.length : data.readUInt16BE());
  if (data.length < end) return undefined;
  socket.data = data.subarray(end);
  return data.subarray(2, end);
}

async function answerTo(query: Buffer, by: "udp" | "tcp"): Promise<Buffer | undefined> {
  const { name, end } = readName(query);
  // musl asks so for a name in the domain `.`
  if (end + 4 > query.length) return Buffer.concat([query.subarray(0, 2), Buffer.from("81810000000000000000", "hex")]);
  const type = types[query.readUInt16BE(end)];
  start ??= performance.now();
  process.stderr.write(`dns ${type} ${name} ${Math.round(performance.now() - start)}\n`);
  if (plan.isSilent) return undefined;
  if (plan.takesMs !== undefined) await takes(plan.takesMs);
  const zone = plan.zones?.[name] ?? plan.zones?.[name.replace(/^[^.]+/, "*")];
  const isTruncated = zone?.isTruncated === true && by === "udp";
  const code = zone === undefined ? NXDOMAIN : ((type === "A" ? zone.a : zone.aaaa) ?? zone.code ?? 0);
  const own = zone?.ips?.filter((ip) => ip.includes(":") === (type === "AAAA")) ?? [];
  const ips = code === 0 && !isTruncated ? own : [];
  const head = Buffer.from(query.subarray(0, HEAD_BYTES));
  head.writeUInt16BE(0x8180 | (isTruncated ? 0x0200 : 0) | code, 2);
  head.writeUInt16BE(ips.length, 6);
  head.fill(0, 8);
  return Buffer.concat([head, query.subarray(HEAD_BYTES, end + 4), ...ips.map(record)]);
}

/** A record of an answer: the question's name, A or AAAA, IN, 0 s, the address. */
function record(ip: string): Buffer {
  if (ip === "::1") return Buffer.from(`c00c001c0001000000000010${"1".padStart(32, "0")}`, "hex");
  return Buffer.concat([Buffer.from("c00c00010001000000000004", "hex"), Buffer.from(ip.split(".").map(Number))]);
}

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
