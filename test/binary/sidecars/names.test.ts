import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../../compiled.ts";
import { type Ended, ebb, temporaryFolder } from "../../harness.ts";
import type { DnsPlan } from "../../stand-in/dns.ts";
import { canHaveNetwork, namespaces } from "./own-network.ts";

const UNRESOLVED = "the host name is not resolved yet";

/** Runs ebb beside a DNS server, with a resolv.conf as the kubelet writes it. Needs root. */
async function ebbBesideDns(plan: DnsPlan, args: readonly string[]): Promise<Ended> {
  using folder = temporaryFolder();
  const [fifo, conf] = [join(folder.path, "listening"), join(folder.path, "resolv.conf")];
  const domains = "default.svc.cluster.local svc.cluster.local cluster.local";
  writeFileSync(conf, `search ${domains}\nnameserver 127.0.0.1\noptions ndots:5\n`);
  const mount = `mount --bind ${conf} /etc/resolv.conf || exit 99`;
  const script = `${mount}; mkfifo ${fifo}; "$0" "$1" "$2" ${fifo} & read -r _ < ${fifo}; shift 2; exec "$@"`;
  const dns = [process.execPath, join(import.meta.dirname, "../../stand-in/dns.ts"), JSON.stringify(plan)];
  return await ebb(args, { through: [...namespaces, childPath(), "loopback", "/bin/sh", "-c", script, ...dns] });
}

const wait = (target: string, withinMs: number) => [
  "wait",
  "--sidecar",
  "none",
  "--wait-timeout",
  `${withinMs}ms`,
  target,
];

/** The reasons that the log has, one for each line. */
function reasons({ log }: Ended): readonly unknown[] {
  return log.filter(({ msg }) => msg === "ebb: waiting until ready").map(({ reason }) => reason);
}

const questions = ({ stderr }: Ended) => stderr.match(/^dns /gm)?.length;

describe.skipIf(!canHaveNetwork)("a target by a name", () => {
  // up to 16 questions for each attempt: two types, three search domains and the name itself, twice
  test.each(["tcp://db.up:1", "http://db.up:1/", "tcp://db:1", "http://db:1/"])(
    "is asked four times a second: %s",
    async (target) => {
      const ended = await ebbBesideDns({}, wait(target, 1000));
      expect(ended.code).toBe(69);
      expect(questions(ended)).toBeGreaterThanOrEqual(8);
      expect(questions(ended)).toBeLessThanOrEqual(5 * 16);
    },
  );

  test.each(["tcp://db:1", "http://db:1/", "https://db:1/"])(
    "that does not exist is no such host: %s",
    async (target) => {
      const ended = await ebbBesideDns({}, wait(target, 600));
      expect(reasons(ended)).toEqual(["no such host"]);
      expect(ended.stderr).toEndWith(`${target}: no such host\n`);
    },
  );

  test.each(["tcp://db:1", "http://db:1/", "https://db:1/"])(
    "that no DNS server answers for is not resolved yet: %s",
    async (target) => {
      const ended = await ebbBesideDns({ isSilent: true }, wait(target, 3000));
      expect(reasons(ended)).toEqual([UNRESOLVED]);
      expect(ended.stderr).toEndWith(`${target}: ${UNRESOLVED}\n`);
    },
  );

  test("has one reason while a slow DNS server repeats that it does not exist", async () => {
    const ended = await ebbBesideDns({ takesMs: 100 }, wait("tcp://db:1", 3000));
    expect(reasons(ended)).toEqual([UNRESOLVED, "no such host"]);
  });
});
