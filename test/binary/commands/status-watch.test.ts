import { describe, expect, test } from "bun:test";
import type { Snapshot } from "../../../src/core/status/snapshot.ts";
import { ebb, ebbPath, startEbb, until } from "../../harness.ts";
import { catches } from "../../processes.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { serving } from "../../stand-in/envoy-answers.ts";

describe("ebb status --watch, not at a terminal", () => {
  test("says each change once, in a line of its own", async () => {
    await using admin = await startEnvoy();
    await using started = startEbb(["status", "--watch", "--admin", admin.url]);
    await until("the first snapshot", () => started.stdout().includes("envoy state: LIVE\n"));
    admin.state = "DRAINING";
    admin.stats = serving(3);
    await until("the change", () => started.stdout().includes("envoy state: LIVE -> DRAINING\n"));
    admin.stats = serving(0);
    await until("the next", () => /still in flight -> nothing in flight$/m.test(started.stdout()));
    const about = started
      .stdout()
      .match(/^\S+Z envoy (state|ready): .*$/gm)
      ?.map((line) => line.slice(25));
    expect(about).toEqual([
      "envoy ready: yes",
      "envoy state: LIVE",
      "envoy ready: yes -> no",
      "envoy state: LIVE -> DRAINING",
    ]);
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

describe("ebb status --watch at a terminal", () => {
  const CURSOR_BACK = "\x1b[?7h\x1b[?25h";

  function startAtTerminal(words: readonly string[], rows: number) {
    let text = "";
    const decoder = new TextDecoder();
    const data = (_: unknown, bytes: Uint8Array) => {
      text += decoder.decode(bytes, { stream: true });
    };
    const env = { PATH: process.env.PATH ?? "", TERM: "xterm" };
    const started = Bun.spawn([ebbPath, ...words], { env, terminal: { cols: 60, rows, data } });
    return {
      text: () => text,
      type: (typed: string) => void started.terminal?.write(typed),
      exited: started.exited,
      async [Symbol.asyncDispose]() {
        started.kill("SIGKILL");
        await started.exited;
        started.terminal?.close();
      },
    };
  }

  /** The views that were drawn one over the other, without their escape sequences. */
  const viewsOf = (text: string): readonly string[] =>
    text
      .split("\x1b[J")
      .slice(0, -1)
      .map((view) => Bun.stripANSI(view).replaceAll("\r", ""));

  test("draws the view again in its place, and gives the cursor back at Ctrl-C: 130", async () => {
    await using admin = await startEnvoy();
    await using at = startAtTerminal(["status", "--watch", "--admin", admin.url], 50);
    await until("the first view", () => viewsOf(at.text()).length === 1);
    admin.state = "DRAINING";
    const views = await until("a changed one", () => {
      const seen = viewsOf(at.text());
      return seen.at(-1)?.includes("envoy: DRAINING, NOT READY\n") && seen;
    });
    expect(views[0]).toMatch(/^\S+Z\nenvoy: LIVE, ready\n/);
    const height = views.at(-2)?.split("\n").length ?? 0;
    expect(at.text()).toContain(`\x1b[${height - 1}A\r`);
    at.type("\x03");
    expect(await at.exited).toBe(130);
    await until("the cursor", () => at.text().endsWith(CURSOR_BACK));
  });

  test("is never higher than the terminal, and says what it leaves out", async () => {
    await using admin = await startEnvoy();
    await using at = startAtTerminal(["status", "--watch", "--admin", admin.url], 8);
    const [view = ""] = await until("a view", () => viewsOf(at.text()).length >= 1 && viewsOf(at.text()));
    expect(view.trimEnd().split("\n")).toHaveLength(7);
    expect(view).toMatch(/\n\.\.\. \d+ more lines\n$/);
  });
});
