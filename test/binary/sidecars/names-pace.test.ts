import { expect, test } from "bun:test";
import { questionsIn, startBesideDns } from "./beside-dns.ts";
import { canHaveNetwork } from "./own-network.ts";

const conf = "search default.svc.cluster.local svc.cluster.local cluster.local corp.example\noptions ndots:5\n";
const plan = { zones: { "*.up": { ips: ["127.0.0.1"] } } };
const waitMs = 80_000;

test.skipIf(!canHaveNetwork).concurrent.each(["db", "db.up"])(
  "a pod with four search domains that waits for %s asks fewer than 3 questions a second after a minute",
  async (name) => {
    const wait = ["wait", "--sidecar", "none", "--wait-timeout", `${waitMs}ms`, `tcp://${name}:1`];
    await using started = startBesideDns(wait, { plan, conf });
    const ended = await started.ended;
    expect(ended.code).toBe(69);
    const perSecond = (fromMs: number, toMs: number): number =>
      questionsIn(ended.stderr).filter(({ atMs }) => atMs >= fromMs && atMs < toMs).length / ((toMs - fromMs) / 1000);
    expect(perSecond(61_000, waitMs - 1000)).toBeLessThan(3);
    expect(perSecond(61_000, waitMs - 1000)).toBeGreaterThan(0);
    expect(perSecond(6000, 60_000)).toBeLessThan(13);
  },
  120_000,
);
