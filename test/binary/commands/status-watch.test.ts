import { describe, expect, test } from "bun:test";
import type { Snapshot } from "../../../src/pod/status/core/snapshot.ts";
import { ebb, ebbPath, startEbb, until } from "../../harness/ebb.ts";
import { catches } from "../../harness/processes.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { serving } from "../../stand-in/envoy-answers.ts";

describe("ebb status --watch, not at a terminal", () => {
  test("prints the time and the state again", async () => {
    await using admin = await startEnvoy();
    await using started = startEbb(["status", "--watch", "--admin", admin.url]);
    await until("the first snapshot", () => /^\S+Z\nenvoy: LIVE, ready\n/.test(started.stdout()));
    admin.state = "DRAINING";
    admin.stats = serving(3);
    await until("the change", () => /\n\n\S+Z\nenvoy: DRAINING, NOT READY\n/.test(started.stdout()));
    expect(started.stdout()).toContain("3 requests and 0 connections still in flight");
    expect(started.stdout()).not.toContain("\x1b");
  });

  test("--json is a snapshot a line", async () => {
    await using admin = await startEnvoy();
    await using started = startEbb(["status", "--watch", "--json", "--admin", admin.url]);
    const lines = await until("two snapshots", () => {
      const complete = started.stdout().split("\n").slice(0, -1);
      return complete.length >= 2 && complete;
    });
    const snapshots = lines.map((line) => JSON.parse(line) as Snapshot);
    for (const { version, sidecars } of snapshots) {
      expect({ version, state: sidecars[0]?.envoy?.state }).toEqual({ version: 1, state: "LIVE" });
    }
    const [first = 0, second = 0] = snapshots.map(({ time }) => Date.parse(time));
    expect(second - first).toBeGreaterThanOrEqual(900);
  });

  test("keeps its connections, so that watching leaves no trail of closed ones", async () => {
    await using admin = await startEnvoy();
    await using started = startEbb(["status", "--watch", "--json", "--admin", admin.url]);
    await until("three snapshots", () => admin.requests.filter((path) => path === "GET /server_info").length >= 3);
    const ended = await ebb(["status", "--json", "--admin", admin.url]);
    const { sockets } = JSON.parse(ended.stdout) as Snapshot;
    const own = sockets?.listening.find(({ port }) => port === admin.port);
    expect(own?.connections.established).toBeLessThanOrEqual(6);
    expect(own?.connections.time_wait ?? 0).toBeLessThanOrEqual(3);
    expect(started.stderr()).toBe("");
  });

  test("ends when nobody reads any more", async () => {
    await using admin = await startEnvoy();
    const through = ["bash", "-o", "pipefail", "-c", '"$0" "$@" | head -n 1'];
    const ended = await ebb(["status", "--watch", "--json", "--admin", admin.url], { through });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
  });

  test.each([2, 15])("stop signal %d ends it with 128+n", async (signal) => {
    const words = ["status", "--watch", "--sidecar", "none"];
    await using started = startEbb(words, { through: ["env"] });
    await until("it watches", () => started.stdout() !== "" && catches(started.pid, signal));
    started.kill(signal);
    expect(await started.ended).toMatchObject({ code: 128 + signal, signal: null });
  });
});

test("ebb status --watch at a terminal clears it before each snapshot, and ends at Ctrl-C: 130", async () => {
  await using admin = await startEnvoy();
  let text = "";
  const data = (_: unknown, bytes: Uint8Array) => {
    text += new TextDecoder().decode(bytes);
  };
  const env = { PATH: process.env.PATH ?? "", TERM: "xterm" };
  const words = ["status", "--watch", "--admin", admin.url];
  await using started = Bun.spawn([ebbPath, ...words], { env, terminal: { cols: 60, rows: 50, data } });
  await until("the second", () => text.split("\x1b[H\x1b[2J").length > 2);
  const [before, first] = text.split("\x1b[H\x1b[2J");
  expect(before).toBe("");
  expect(first).toMatch(/^\S+Z\r\nenvoy: LIVE, ready\r\n/);
  started.terminal?.write("\x03");
  expect(await started.exited).toBe(130);
});
