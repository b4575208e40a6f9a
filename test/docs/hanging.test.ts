import { expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contentOf } from "../../build/markdown.ts";
import { hangingAlerts, hangingPath } from "../../build/monitoring/monitoring.ts";
import { kindOf, type SidecarName, sidecarNames } from "../../src/shared/sidecars/core/registry.ts";
import { temporaryFolder } from "../harness/ebb.ts";
import { endings } from "./hanging.ts";

const page = readFileSync(join(import.meta.dirname, "../../src/manual/hanging.md"), "utf8");

function endingOf(name: SidecarName) {
  return endings.find(({ container }) => kindOf(name).containers().name.test(container));
}

test("each row is of a sidecar that ebb knows", () => {
  const known = (container: string) => sidecarNames.some((name) => kindOf(name).containers().name.test(container));
  expect(endings.filter(({ container }) => !known(container))).toEqual([]);
  expect(endings.length).toBe(sidecarNames.length);
});

test.each(sidecarNames)("the manual says how to end %s by hand, at its port and path", (name) => {
  const { port, pathname } = new URL(kindOf(name).quit);
  expect(endingOf(name)).toMatchObject({ post: `${port}${pathname}` });
});

const commands = sidecarNames.flatMap((name) => {
  const command = kindOf(name).reaping?.().command?.(9091);
  return command === undefined ? [] : [[name, command.join(" ")] as const];
});

test.each(commands)("the command for %s is the one that the reaper runs, with its usual port: %s", (name, command) => {
  expect([command, command.replace(" --admin-port 9091", "")]).toContain(endingOf(name)?.command as string);
});

test.each(endings.map((ending) => [ending.container, ending] as const))(
  "it says of %s what was run, and what was read where",
  (_, { known }) => {
    expect(known).toMatch(/\brun\b.*\d|^read: .*`/);
  },
);

test("the alert names the containers of each sidecar that ebb knows, at both places", () => {
  const patterns = sidecarNames.flatMap((name) => {
    const { name: own, shared } = kindOf(name).containers();
    return [own, shared?.name].flatMap((pattern) => (pattern === undefined ? [] : pattern.source.slice(1, -1)));
  });
  const named = hangingAlerts.flatMap(({ expr }) => [...expr.matchAll(/container[!=]~"([^"]*)"/g)]);
  expect(named.map(([, names = ""]) => names.split(/\|(?![^(]*\))/).toSorted())).toEqual([
    patterns.toSorted(),
    patterns.toSorted(),
  ]);
});

test("the PrometheusRule of the manual has the rule file below its spec", () => {
  const shown = (contentOf(page, "hanging alert") ?? "").replaceAll(/^ {4}/gm, "");
  expect(Bun.YAML.parse(shown)).toMatchObject({
    kind: "PrometheusRule",
    spec: Bun.YAML.parse(readFileSync(hangingPath, "utf8")) as object,
  });
});

const runbook = hangingAlerts[0]?.annotations.runbook ?? "";

test("the runbook of the alert needs no ebb: it has Istio's command", () => {
  expect(runbook).toContain(`-c istio-proxy -- ${endingOf("istio")?.command}\n`);
  expect(runbook).not.toContain("ebb");
});

test.each(sidecarNames.filter((name) => name !== "istio"))("the runbook of the alert has the request to %s", (name) => {
  expect(runbook).toContain(` ${endingOf(name)?.post}`);
});

const runs = { running: {} };
const ended = (exitCode: number) => ({ terminated: { exitCode } });

/** A pod of the policy, with these states of its containers. */
const podOf = (name: string, restartPolicy: string, states: object, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { restartPolicy },
  status: { containerStatuses: Object.entries(states).map(([container, state]) => ({ name: container, state })) },
});

test.skipIf(Bun.which("jq") === null)("the loop ends the sidecars of pods that hang, and of no others", () => {
  const [, loop = ""] = /\n\n( {4}stuck\(\)[\s\S]*?)\n\n/.exec(page) ?? [];
  const items = [
    podOf("done", "OnFailure", { app: ended(0), "istio-proxy": runs }),
    podOf("failed", "Never", { app: ended(1), "istio-proxy": runs }),
    podOf("again", "OnFailure", { app: ended(1), "istio-proxy": runs }),
    podOf("server", "Always", { app: ended(0), "istio-proxy": runs }),
    podOf("busy", "Never", { app: ended(0), other: runs, "istio-proxy": runs }),
    podOf("waits", "Never", { app: { waiting: {} }, "istio-proxy": runs }),
    podOf("deleted", "Never", { app: ended(0), "istio-proxy": runs }, { deletionTimestamp: "2026-11-29T00:00:00Z" }),
    podOf("gone", "Never", { app: ended(0), "istio-proxy": ended(0) }),
    podOf("native", "Never", { app: ended(0) }),
    { metadata: { name: "new" }, spec: { restartPolicy: "Never" }, status: {} },
  ];
  using folder = temporaryFolder();
  const kubectl = join(folder.path, "kubectl");
  writeFileSync(join(folder.path, "pods.json"), JSON.stringify({ items }));
  writeFileSync(kubectl, `#!/bin/sh\nif [ "$1" = get ]; then cat ${folder.path}/pods.json; else echo "$@"; fi\n`);
  chmodSync(kubectl, 0o755);
  const env = { PATH: `${folder.path}:${process.env.PATH}` };
  const { stdout, stderr } = Bun.spawnSync(["bash", "-c", loop], { env });
  expect(`${stderr}`).toBe("");
  const end = (pod: string) => `exec -n NAMESPACE ${pod} -c istio-proxy -- pilot-agent request POST quitquitquit\n`;
  expect(`${stdout}`).toBe(`${end("done")}${end("failed")}`);
});
