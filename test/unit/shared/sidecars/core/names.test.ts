import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const source = join(import.meta.dirname, "../../../../../src");

/** The names of sidecars and of their programs; Envoy is a word of the field, not a mesh's. */
const names = /istio|pilot-agent|linkerd|kuma|consul|dapr|vault|cloud.?sql|csql|alloydb/gi;

/** Names of other tools, and of their variables: they belong to the tools in whose place ebb stands. */
const otherTools: Readonly<Record<string, readonly string[]>> = {
  "shared/cli/core/names.ts": ["linkerd-await", "pilot-agent"],
  "cluster/inject/core/facts/command.ts": ["pilot-agent"],
  "cluster/inject/core/orchestrators/airflow.ts": ["with istio-proxy"],
  "cluster/inject/core/orchestrators/kubeflow-pipelines.ts": ["sidecar.istio.io/inject", "no Istio"],
  "cluster/inject/core/orchestrators/kubevirt.ts": ["an injected istio-proxy"],
  "cluster/core/containers.ts": ["opa-istio"],
  "shared/cli/core/options/shutdown.ts": ["NEVER_KILL_ISTIO", "NEVER_KILL_ISTIO_ON_FAILURE"],
  "shared/cli/core/options/sidecars.ts": [
    "ISTIO_QUIT_API",
    "CSQL_PROXY_QUIT_URLS",
    "ISTIO_FALLBACK_PKILL",
    "+pilot-agent",
    "such as pilot-agent",
    "dapr-api-token: abc",
  ],
  "commands/quit.ts": ["--sidecar istio"],
  "commands/request.ts": ["Istio's agent"],
};

/** Files of which sidecars are not the subject, but other tools or the sidecars themselves. */
function isExempt(path: string): boolean {
  return (
    path.startsWith("shared/sidecars/core/kinds/") ||
    path === "shared/sidecars/core/registry.ts" ||
    path.startsWith("compat/")
  );
}

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
const transpiler = new Bun.Transpiler({ loader: "ts" });

describe("a sidecar's name stands in its own file and in the registry alone:", () => {
  test.each(files.filter((path) => !isExempt(path)))("%s", (path) => {
    const typed = readFileSync(join(source, path), "utf8").replaceAll(' with { type: "macro" }', ""); // nothing is run
    const code = transpiler.transformSync(typed); // comments cite sources
    const rest = (otherTools[path] ?? []).toSorted((a, b) => b.length - a.length);
    const text = rest.reduce((left, each) => left.replaceAll(each, ""), code);
    expect([...text.matchAll(names)].map(([name]) => name)).toEqual([]);
  });

  test("each name that another tool's place allows is there", () => {
    for (const [path, allowed] of Object.entries(otherTools)) {
      const text = readFileSync(join(source, path), "utf8");
      expect(allowed.filter((each) => !text.includes(each))).toEqual([]);
    }
  });
});
