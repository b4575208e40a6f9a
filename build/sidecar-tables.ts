import { type Fact, readFacts } from "../src/shared/sidecars/core/kinds/fact.ts";
import type { SidecarKind } from "../src/shared/sidecars/core/kinds/kind.ts";
import { kindOf, type SidecarName, sidecarNames } from "../src/shared/sidecars/core/registry.ts";
import { code, list, table } from "./markdown.ts";

/** The facts that each sidecar's file states for the manual and the tests, in addition to what ebb itself uses. */
export const facts: ReadonlyMap<SidecarName, readonly Fact[]> = new Map(
  await Promise.all(
    sidecarNames.map(async (name) => {
      const { facts } = (await import(`../src/shared/sidecars/core/kinds/${name}.ts`)) as { readonly facts: string };
      return [name, readFacts(facts)] as const;
    }),
  ),
);

function factsOf(name: SidecarName): readonly Fact[] {
  return facts.get(name) ?? [];
}

/** Returns where ebb finds and asks the sidecars, as a table of the manual: a row for each. */
export function sidecarTable(): string {
  const head = [code("--sidecar"), `found by ${code("auto")}`, "waits for", `shut down by ${code("POST")}`, "drains"];
  const rows = sidecarNames.map((name) => {
    const kind = kindOf(name);
    return [
      code(name),
      signsOf(kind)
        .map(([, sign]) => sign)
        .join(", ") || "nothing",
      [kind.ready ?? [], kind.orReady ?? []].flat().map(placeOf).join(", ") || "nothing",
      placeOf(kind.quit),
      kind.drainPath === undefined ? "no" : "yes",
    ];
  });
  return table(head, rows);
}

/** Names an address on the pod's loopback by its port and path: `:15021/healthz/ready`. */
function placeOf(url: string): string {
  return code(url.replace(/^\w+:\/\/localhost/, ""));
}

/** The names of the sidecars as their projects write them. */
const titles: Readonly<Record<SidecarName, string>> = {
  istio: "Istio",
  envoy: "Envoy",
  linkerd: "Linkerd",
  kuma: "Kuma",
  consul: "Consul",
  dapr: "Dapr",
  "vault-agent": "Vault Agent",
  "cloud-sql-proxy": "Cloud SQL Auth Proxy",
  "alloydb-auth-proxy": "AlloyDB Auth Proxy",
};

/** Returns the facts of each sidecar: first what each test shows, then what was read. */
export function factLists(): string {
  return sidecarNames
    .map((name) => {
      const kind = kindOf(name);
      const groups = Object.entries(Object.groupBy(factsOf(name), evidenceOf)).toSorted(
        ([one], [other]) => Number(one === READ) - Number(other === READ),
      );
      const lists = groups.map(
        ([evidence, facts = []]) => `${evidence}:\n\n${list(facts.map((fact) => factOf(fact, kind)))}`,
      );
      return `\n### ${titles[name]}\n\n${lists.join("\n")}`;
    })
    .join("");
}

const READ = "Read in the source";

function evidenceOf(fact: Fact): string {
  return "ran" in fact ? `${fact.ran}, run by ${code(fact.by)}` : READ;
}

function factOf(fact: Fact, kind: SidecarKind): string {
  const [label, value] = stated(fact.about, kind);
  const place = "read" in fact ? ` (${fact.read})` : "";
  return `**${label}**: ${[value, fact.says].filter(Boolean).join("; ")}${place}`;
}

/** Names a subject, and says what the declaration of a sidecar's kind states about it; undefined if it states nothing. */
function stated(about: Fact["about"], kind: SidecarKind): readonly [label: string, value: string | undefined] {
  const { name, image } = kind.containers();
  const patterns = [name, image].flatMap((pattern) => (pattern === undefined ? [] : code(pattern.source)));
  const texts: Readonly<Record<Fact["about"], readonly [label: string, value: string | undefined]>> = {
    admin: ["admin interface", code(kind.admin)],
    ready: ["readiness", readyOf(kind)],
    quit: ["shutdown", quitOf(kind)],
    exitsWhen: ["exits", kind.exitsWhen],
    alwaysOpen: [
      "open while it runs",
      kind.alwaysOpen === undefined ? undefined : `the port of ${code(kind[kind.alwaysOpen])}`,
    ],
    stop: ["at SIGTERM", undefined],
    refusals: ["refuses the shutdown with", Object.keys(kind.refusals()).join(", ")],
    drain: ["drain", kind.drainPath === undefined ? undefined : drainOf(kind.drainPath)],
    count: [
      "counted in a drain",
      kind.inbound === undefined
        ? undefined
        : `clusters ${code(kind.inbound.clusters)}, ports ${kind.inbound.ports.join(", ")}`,
    ],
    found: ["found by", foundBy(kind)],
    identity: ["shown to be this sidecar by", identityOf(kind)],
    native: ["native", undefined],
    moved: ["other endpoints", undefined],
    container: [
      "container",
      `named ${patterns[0]}${patterns[1] === undefined ? "" : `, or an image named ${patterns[1]}`}; processes ${kind.programs.map(code).join(", ")}`,
    ],
    reaper: ["ended by the reaper with", reapedBy(kind)],
  };
  return texts[about];
}

function reapedBy(kind: SidecarKind): string {
  const command = kind.reaping?.().command?.(9091);
  return command === undefined
    ? "its shutdown endpoint, through a port-forward or an ephemeral container"
    : code(command.join(" "));
}

function identityOf({ identity, drainPath }: SidecarKind): string | undefined {
  const path = identity?.path ?? (drainPath === undefined ? undefined : "/server_info");
  return path === undefined ? undefined : code(`GET ${path}`);
}

/** Names the targets of which any counts; undefined if it is not waited for. */
function readyOf({ ready, orReady = [] }: SidecarKind): string | undefined {
  if (ready === undefined) return undefined;
  return [ready, ...orReady].map((url) => code(url.startsWith("http") ? `GET ${url}` : url)).join(" or ");
}

function drainOf(path: string): string {
  return code(`POST ${path}`);
}

function quitOf({ quit, quitPath, adminSocket }: SidecarKind): string {
  const own = code(`POST ${quit}`);
  return adminSocket === undefined ? own : `${own}, or ${code(`${quitPath}`)} at ${code(`unix:${adminSocket}`)}`;
}

function foundBy(kind: SidecarKind): string {
  const labels = { variable: "the variable ", annotation: "the annotation ", ports: "" };
  return (
    signsOf(kind)
      .map(([of, sign]) => `${labels[of]}${sign}`)
      .join("; ") || "nothing; you must name it"
  );
}

/** Returns the signs by which `auto` finds it. */
function signsOf({
  variable,
  annotation,
  ports,
}: SidecarKind): (readonly ["variable" | "annotation" | "ports", string])[] {
  return [
    ...(variable === undefined ? [] : [["variable", code(variable)] as const]),
    ...(annotation === undefined ? [] : [["annotation", code(annotation)] as const]),
    ...(ports.length === 0 ? [] : [["ports", `port ${ports.join(", ")}`] as const]),
  ];
}
