import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { contentOf } from "../../build/markdown.ts";
import { hangingAlerts, hangingPath } from "../../build/monitoring/monitoring.ts";
import { kindOf, type SidecarName, sidecarNames } from "../../src/shared/sidecars/core/registry.ts";
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

test("the runbook of the alert ends with a section of the manual", () => {
  const [, name = "", section = ""] =
    / ebb help ([a-z-]+): (.+)$/.exec(hangingAlerts[0]?.annotations.runbook ?? "") ?? [];
  expect(name).toBe("hanging");
  expect(page).toContain(`\n## ${section}\n`);
});
