import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { once, startCluster, stuckPod } from "../../binary/cluster/reaper.ts";
import { startAtTerminal } from "../../binary/run/at-terminal.ts";
import { childPath } from "../../harness/compiled.ts";
import { ebb, ebbPath, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { listenersOf } from "../../stand-in/envoy-answers.ts";

/** Sets a title, turns red, goes up a line, rings; C1 and DEL; turns text around, hides it; begins a line of ebb's own. */
const hostile = "\x1b]0;owned\x07\x1b[31m\x1b[1A\x9b31m\x7f\u202ecod\u2066\u200b\u2028\rfaked\nebb: faked";

/** What no terminal may get of it, but for tabs and the ends of lines. */
function actingIn(text: string): string | undefined {
  return /[\p{Cc}\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u.exec(text.replaceAll(/[\t\n]/g, ""))?.[0];
}

function expectTame(...texts: readonly string[]): void {
  for (const text of texts) {
    expect(JSON.stringify(actingIn(text))).toBeUndefined();
    expect(text).not.toMatch(/^ebb: faked/m);
  }
}

/** Lines of JSON say it as it was. */
const inJson = JSON.stringify(hostile).slice(1, -1).split("\\u001b")[1] as string;

describe("what a proxy answers is shown, and does nothing:", () => {
  test.each(["json", "text"])("in the log, as %s", async (format) => {
    await using admin = await startEnvoy();
    admin.answers["/ready"] = { status: 503, body: `no ${hostile}` };
    const flags = ["--log-format", format, "--log-level", "debug", "--wait-timeout", "1s"];
    const { stderr } = await ebb(["wait", "--sidecar", "envoy", "--admin", admin.url, ...flags]);
    expect(stderr).toContain("HTTP 503");
    expectTame(stderr);
  });

  test("in status, for people and as JSON, once and watching", async () => {
    await using admin = await startEnvoy();
    admin.state = `LIVE${hostile}`;
    admin.answers["/listeners"] = { body: listenersOf(hostile, hostile) };
    const args = ["status", "--sidecar", "envoy", "--admin", admin.url];
    const text = await ebb(args);
    expect(text.stdout).toContain("owned");
    const json = await ebb([...args, "--json"]);
    expect(json.stdout).toContain("owned");
    expect(JSON.stringify(JSON.parse(json.stdout))).toContain(inJson);
    await using watching = startEbb([...args, "--watch"]);
    await until("a snapshot", () => watching.stdout().includes("envoy: LIVE"));
    expectTame(text.stdout, json.stdout, watching.stdout(), text.stderr);
  });

  test("watching at a terminal", async () => {
    await using admin = await startEnvoy();
    admin.state = `LIVE${hostile}`;
    await using terminal = startAtTerminal(ebbPath, "status", "--watch", "--sidecar", "envoy", "--admin", admin.url);
    await terminal.shows("owned");
    expect(terminal.sent()).not.toContain("\x1b]0;");
    expect(terminal.sent()).not.toContain("\x1b[31m");
    expect(terminal.sent()).not.toMatch(/[\u009b\u202e\u2066]/);
  });

  test("as a redirect, as a status", async () => {
    await using admin = await startEnvoy();
    const location = Buffer.from("http://x/\x9b31m\x7f").toString("latin1").replace("\x7f", "");
    admin.answers["/a"] = { status: 302, reason: "go\x9b31m", location };
    const { stderr } = await ebb(["request", `${admin.url}/a`]);
    expect(stderr).toContain("which ebb does not follow");
    expectTame(stderr);
  });
});

describe("a body that was asked for", () => {
  test("is itself in a pipe", async () => {
    await using admin = await startEnvoy();
    admin.answers["/a"] = { body: hostile };
    expect((await ebb(["request", `${admin.url}/a`])).stdout).toBe(hostile);
  });

  test("does nothing at a terminal", async () => {
    await using admin = await startEnvoy();
    admin.answers["/a"] = { body: `${hostile}\nend` };
    await using terminal = startAtTerminal(ebbPath, "request", `${admin.url}/a`);
    await terminal.shows("end");
    expect(terminal.screen()).toContain("\\u001b[31m");
    expect(actingIn(terminal.screen())).toBeUndefined();
  });
});

describe("names in manifests", () => {
  const manifest = {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: { name: hostile, annotations: { "ebb.dev/inject": "true", "ebb.dev/drain": hostile } },
    spec: { containers: [{ name: "app", image: "x", command: ["/x"] }] },
  };

  test("do nothing in errors and remarks", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "pod.json");
    writeFileSync(file, JSON.stringify(manifest));
    const bad = await ebb(["inject", "--image", "ebb:1", file]);
    expect([bad.code, bad.stderr.includes("owned")]).toEqual([65, true]);
    writeFileSync(
      file,
      JSON.stringify({ ...manifest, metadata: { ...manifest.metadata, annotations: { "ebb.dev/inject": "true" } } }),
    );
    const good = await ebb(["inject", "--image", "ebb:1", file]);
    expect([good.code, good.stderr.includes("put ebb into")]).toEqual([0, true]);
    expectTame(bad.stderr, good.stderr);
  });

  test("do nothing at a terminal, and are themselves in a pipe", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "pod.yaml");
    // what YAML allows between quotes, C1 and DEL too
    const raw = "\x7f\u009b31m\u202ecod";
    writeFileSync(
      file,
      `apiVersion: v1\nkind: Pod\nmetadata:\n  name: "${raw}"\n  annotations: {ebb.dev/inject: "true"}\nspec:\n  containers: [{name: app, image: x, command: [/x]}]\n`,
    );
    const args = ["inject", "--quiet", "--image", "ebb:1", file];
    expect((await ebb(args)).stdout).toContain(raw);
    await using terminal = startAtTerminal(ebbPath, ...args);
    await terminal.exited;
    await terminal.shows("\\u202ecod");
    expect(terminal.sent()).not.toMatch(/[\u009b\u202e]/);
  });
});

test("names of pods do nothing in the reaper's table, its JSON and its log", async () => {
  await using cluster = startCluster();
  cluster.put(stuckPod("odd", { annotations: { "ebb.dev/reap": hostile } }));
  cluster.put(stuckPod(`a${hostile.replaceAll("/", "")}`, { annotations: { "ebb.dev/reap": "true" } }));
  const table = await once(cluster, "--dry-run", "--log-level", "debug");
  const json = await once(cluster, "--dry-run", "--json");
  const text = await once(cluster, "--dry-run", "--log-format", "text");
  for (const { stdout } of [table, json]) expect(stdout).toContain("owned");
  expectTame(table.stdout, table.stderr, json.stdout, json.stderr, text.stdout, text.stderr);
});

test("what ebb was called with does nothing in its errors, its log and its termination log", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "log");
  const calls = [
    ["run", "--grace", hostile, "--termination-log", path, "--", "true"],
    ["wait", "--termination-log", path, hostile],
    ["config", hostile],
    ["run", "--sidecar", "none", "--log-format", "text", "--", childPath(), hostile],
    ["run", "--sidecar", "none", "--termination-log", path, "--", `/nowhere/${hostile}`],
    [`--${hostile}`],
    ["completion", hostile],
    ["sleep", hostile],
    ["inject", "--image", "x", `/nowhere/${hostile}`],
    ["install", `/nowhere/${hostile}/x`],
  ];
  for (const args of calls) {
    const { stderr, stdout } = await ebb(args, { env: { [`EBB_${hostile}`]: "x" } });
    expectTame(stderr, stdout);
  }
  expectTame(readFileSync(path, "utf8"));
  expect(readFileSync(path, "utf8").split("\n")).toHaveLength(2);
});
