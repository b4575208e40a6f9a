import { describe, expect, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { issueAuthority, issueServing } from "../../../src/cluster/certificates/issue.ts";
import { namesToAsk, parseResolvConf } from "../../../src/shared/http/core/resolv-conf.ts";
import { type Ended, lineOf, quitLineOf, temporaryFolder, until } from "../../harness/ebb.ts";
import type { DnsPlan, Zone } from "../../stand-in/dns.ts";
import { type BesideDns, ofPod, questionsIn, startBesideDns } from "./beside-dns.ts";
import { canHaveNetwork } from "./own-network.ts";

const UNRESOLVED = "the host name is not resolved yet";
const [SERVFAIL, NXDOMAIN, NOTIMP, REFUSED] = [2, 3, 4, 5];

async function besideDns(args: readonly string[], options: BesideDns): Promise<Ended> {
  await using started = startBesideDns(args, options);
  return await started.ended;
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

describe.skipIf(!canHaveNetwork)("a target by a name", () => {
  const up: DnsPlan = { zones: { "*.up": { ips: ["127.0.0.1"] } } };

  test.each(["tcp://db.up:1", "http://db.up:1/", "tcp://db:1", "http://db:1/"])(
    "is looked up four times a second at first: %s",
    async (target) => {
      const ended = await besideDns(wait(target, 1000), { plan: up });
      expect(ended.code).toBe(69);
      // a look-up is eight questions: two types, three search domains and the name itself
      expect(questionsIn(ended.stderr).length).toBeGreaterThanOrEqual(2 * 8);
      expect(questionsIn(ended.stderr).length).toBeLessThanOrEqual(7 * 8);
    },
  );

  test("is asked as often as any other once it is found", async () => {
    const ended = await besideDns([...wait("tcp://db.up:1", 1000), "--log-level", "debug"], { plan: up });
    const attempts = ended.log.filter(({ reason }) => reason === "connection refused");
    expect(attempts.length).toBeGreaterThan(30);
  });

  test.each(["tcp://db:1", "http://db:1/", "https://db:1/"])(
    "that does not exist is no such host: %s",
    async (target) => {
      const ended = await besideDns(wait(target, 3000), { plan: {} });
      expect(reasons(ended).at(-1)).toBe("no such host");
      expect(lineOf(ended, "cannot go on").reason).toEndWith(`${target}: no such host`);
    },
  );

  test.each(["tcp://db:1", "http://db:1/", "https://db:1/"])(
    "that no DNS server answers for is not resolved yet: %s",
    async (target) => {
      const ended = await besideDns(wait(target, 3000), { plan: { isSilent: true } });
      expect(reasons(ended)).toEqual([UNRESOLVED]);
      expect(lineOf(ended, "cannot go on").reason).toEndWith(`${target}: ${UNRESOLVED}`);
    },
  );

  test("has one reason while a slow DNS server repeats that it does not exist", async () => {
    const ended = await besideDns(wait("tcp://db:1", 3000), { plan: { takesMs: 100 } });
    expect(reasons(ended)).toEqual([UNRESOLVED, "no such host"]);
  });
});

const validity = { fromMs: Date.now(), untilMs: Date.now() + 86_400_000 };
const authority = issueAuthority(validity);
const ips = ["127.0.0.2"];
const db: Zone = { ips };
const others = Array.from({ length: 8 }, (_, at) => `127.0.0.${at + 3}`);
const far = Array.from({ length: 12 }, (_, at) => `a-long-domain-of-the-node-${at}.example`).join(" ");

/** What glibc resolves. `conf` is the resolv.conf, by default a pod's. */
const found: readonly [title: string, name: string, zones: Record<string, Zone>, conf?: string][] = [
  ["an AAAA with NXDOMAIN", "db.test", { "db.test": { ips, aaaa: NXDOMAIN } }],
  ["an AAAA with SERVFAIL", "db.test", { "db.test": { ips, aaaa: SERVFAIL } }],
  ["an AAAA with NOTIMP", "db.test", { "db.test": { ips, aaaa: NOTIMP } }],
  ["an A with NXDOMAIN", "db.test", { "db.test": { ips: ["::1"], a: NXDOMAIN } }],
  ["an A with SERVFAIL", "db.test", { "db.test": { ips: ["::1"], a: SERVFAIL } }],
  [
    "a whole name of the cluster, whose AAAA has NXDOMAIN",
    "db.default.svc.cluster.local",
    { "db.default.svc.cluster.local": { ips, aaaa: NXDOMAIN } },
  ],
  [
    "a first search domain with SERVFAIL",
    "db",
    { "db.corp.example": { code: SERVFAIL }, "db.default.svc.cluster.local": db },
    "search corp.example default.svc.cluster.local\noptions ndots:5\n",
  ],
  [
    "a last search domain with SERVFAIL",
    "db.test",
    { "db.test.corp.example": { code: SERVFAIL }, "db.test": db },
    `search default.svc.cluster.local corp.example\noptions ndots:5\n`,
  ],
  [
    "a search domain with REFUSED",
    "db.test",
    { "db.test.corp.example": { code: REFUSED }, "db.test": db },
    "search corp.example\noptions ndots:5\n",
  ],
  [
    "a search domain that has the name without an address",
    "db",
    { "db.corp.example": {}, "db.cluster.local": db },
    "search corp.example cluster.local\n",
  ],
  ["search .", "db.test", { "db.test": db }, "search default.svc.cluster.local .\noptions ndots:5\n"],
  [
    "a search line of more than 255 characters",
    "db",
    { "db.cluster.local": db },
    `search ${far} cluster.local\noptions ndots:5\n`,
  ],
  [
    "a name with enough dots that is found in a search domain",
    "db.default",
    { "db.default.svc.cluster.local": db },
    "search svc.cluster.local\noptions ndots:1\n",
  ],
  ["a truncated answer", "db.test", { "db.test": { ips, isTruncated: true } }],
  ["the last of two addresses", "db.test", { "db.test": { ips: ["127.0.0.3", ...ips], aaaa: NXDOMAIN } }],
  ["the last of nine addresses", "db.test", { "db.test": { ips: [...others, ...ips], aaaa: NXDOMAIN } }],
];

describe.skipIf(!canHaveNetwork || Bun.which("getent") === null)("as glibc does, ebb resolves", () => {
  const web = issueServing([...new Set(found.map(([, name]) => name))], validity, authority);

  describe.each(found)("%s", (_, name, zones, conf = ofPod) => {
    const options = { plan: { zones, web }, conf };

    test("for a wait", async () => {
      const glibc = await besideDns(["ahosts", name], { ...options, program: "getent" });
      expect(glibc.stdout).toContain(zones[name]?.ips?.at(-1) ?? "127.0.0.2");
      const ended = await besideDns(wait(`http://${name}:8080/`, 4000), options);
      expect(ended.code).toBe(0);
    });

    test("for a request, which goes to the name's Host and certificate", async () => {
      using folder = temporaryFolder();
      const ca = join(folder.path, "ca.pem");
      writeFileSync(ca, authority.cert);
      const env = { NODE_EXTRA_CA_CERTS: ca };
      for (const url of [`http://${name}:8080`, `https://${name}:8443`]) {
        const ended = await besideDns(["request", `${url}/`], { ...options, env });
        expect(ended.stdout).toBe(`${new URL(url).host}\n`);
      }
    });
  });

  test("nothing else: a search domain that refuses ends the search", async () => {
    const zones = { "db.corp.example": { code: REFUSED }, "db.cluster.local": db };
    const options = { plan: { zones }, conf: "search corp.example cluster.local\n" };
    const glibc = await besideDns(["ahosts", "db"], { ...options, program: "getent" });
    expect(glibc.stdout).toBe("");
    expect((await besideDns(wait("tcp://db:8080", 2000), options)).code).toBe(69);
  });

  test.each([
    ["db", ofPod],
    ["db.default", ofPod],
    ["db.default.", ofPod],
    ["a.b.c", "search one two.\noptions ndots:2\n"],
    ["a.b", "search one\tsearch\noptions ndots:3 ndots:2 timeout:9\n"],
    ["a.b", "search x . y\noptions ndots:5\n"],
    ["a", "domain corp.test more\nsearch .one two\n"],
    ["a", "search one two\ndomain corp.test\n"],
    ["a", "search one ;two\nsearch\n search three\n; search four\n"],
    ["a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q", "search one\noptions ndots:99\n"],
  ])("asking for the same names in the same order: %s", async (name, conf) => {
    const { stderr } = await besideDns(["ahosts", name], { plan: {}, conf, program: "getent" });
    const asked = questionsIn(stderr).filter(({ type }) => type === "A");
    expect(asked.map((question) => question.name)).toEqual([...namesToAsk(name, parseResolvConf(conf))]);
  });
});

test.skipIf(!canHaveNetwork)("a quit at a name is watched at the address that took it, without the DNS", async () => {
  const plan: DnsPlan = { zones: { "db.test": { ips } }, web: issueServing(["db.test"], validity, authority) };
  const quit = ["quit", "--sidecar", "envoy", "--admin", "http://db.test:8080", "--quit-timeout", "2s"];
  const ended = await besideDns(quit, { plan });
  expect(quitLineOf(ended).outcome).toBe("answered, but still runs");
  expect(questionsIn(ended.stderr).length).toBeLessThanOrEqual(2 * 8);
});

test.skipIf(!canHaveNetwork)("a name that comes to /etc/hosts while ebb waits is found", async () => {
  await using started = startBesideDns(wait("tcp://db:8080", 30_000), { plan: {} });
  await until("it was not found", () => started.stderr().includes("no such host"));
  appendFileSync(started.hosts, "127.0.0.2\tother DB # its address\n");
  await until("it was found", () => started.stderr().includes("connection refused"));
});
