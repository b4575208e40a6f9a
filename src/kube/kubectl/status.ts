import { parseObject } from "../../core/base/json.ts";
import { type FarSidecar, farSidecarsOf, throughTunnel } from "../../core/kubectl/forwarded.ts";
import { type PodRow, rowOf, summaryOf } from "../../core/kubectl/pod-status.ts";
import { podTable, summaryLines } from "../../core/kubectl/text.ts";
import { methodKinds } from "../../core/reap/methods.ts";
import { viewOf } from "../../core/reap/pod-view.ts";
import type { ReapPolicy } from "../../core/reap/policy.ts";
import { EXIT } from "../../core/run/exit.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import type { findingsOf } from "../../core/status/findings.ts";
import type { SidecarStatus, Snapshot } from "../../core/status/snapshot.ts";
import type { statusLines } from "../../core/status/text.ts";
import { writeOutput } from "../../system/output/output.ts";
import type { KubeObject } from "../api/client.ts";
import { pagesAt } from "../api/list.ts";
import { podRefOf } from "../reaper/act/acting.ts";
import { available } from "../reaper/reap-once.ts";
import { runInEphemeral } from "./ephemeral.ts";
import { execEbb } from "./exec.ts";
import { type Around, type ClusterSettings, type Format, openSession, print, readPod, refuseWords } from "./session.ts";
import { openTunnel } from "./tunnel.ts";
import { findWay, type Way } from "./way.ts";

/** The flags of `kubectl ebb status`. */
export interface StatusSettings extends ClusterSettings {
  readonly allNamespaces: boolean;
  readonly selector: string | undefined;
  readonly container: string | undefined;
  readonly image: string | undefined;
  readonly imagePullPolicy: string | undefined;
  readonly output: Format;
}

/** A pod and its state, as `kubectl ebb status POD -o json` prints it. */
interface PodStatus extends ReturnType<typeof summaryOf> {
  /** The way on which the pod was asked; `none`: only the API server was. */
  readonly by: Way["kind"];
  /** As `ebb status --json` prints it. */
  readonly status: Snapshot | null;
}

/** What asks sidecars for their state, and formats it: the caller's, because it would be in the executable twice. */
export interface Asker {
  readonly statusOf: (sidecar: Sidecar, withinMs: number, shown: Sidecar) => Promise<SidecarStatus>;
  readonly findingsOf: typeof findingsOf;
  readonly statusLines: typeof statusLines;
}

/** Prints the state of one pod, by the ebb in it if there is one. Resolves with the exit code, which may be that ebb's. */
export async function showPod(
  name: string,
  words: readonly string[],
  { settings, asker, ...around }: Around & { readonly settings: StatusSettings; readonly asker: Asker },
): Promise<number> {
  const { signal, log } = around;
  const session = await openSession(settings, around);
  const pod = await readPod(session, name, signal);
  const way = await findWay(pod, { ...settings, isMeant: () => true }, session, around);
  const { output } = settings;
  const isData = output === "json" || output === "yaml";
  const own = ["status", ...(isData ? ["--json"] : []), ...words];
  const context = { api: session.api, pod: podRefOf(pod), signal };
  const show = (status: Snapshot | null, lines: readonly string[]) =>
    print({ ...summaryOf(pod), by: way.kind, status } satisfies PodStatus, lines, output);
  if (way.kind === "exec") return await showByExec(way, own, { ...context, show, isData });
  refuseWords(words);
  if (way.kind === "ephemeral") {
    const { text, code } = await runInEphemeral(own, { ...context, ...settings, image: way.image });
    await show(isData ? snapshotIn(text) : null, [text.trimEnd()]);
    return code;
  }
  const status = way.kind === "none" ? null : await askThrough(way.far, { ...context, ...asker });
  if (way.kind === "none" && farSidecarsOf(viewOf(pod)).length > 0)
    log.warn({ pod: name, reason: way.why }, "cannot reach the pod's sidecars: --image allows an ephemeral container");
  await show(status, [...summaryLines(summaryOf(pod)), ...(status === null ? [] : ["", ...asker.statusLines(status)])]);
  return EXIT.ok;
}

type Context = Parameters<typeof openTunnel>[1];
type Showing = Context & {
  readonly isData: boolean;
  readonly show: (status: Snapshot | null, lines: readonly string[]) => Promise<void>;
};

async function showByExec(
  way: Extract<Way, { kind: "exec" }>,
  words: readonly string[],
  { isData, show, ...context }: Showing,
): Promise<number> {
  if (!isData) return await execEbb(way, words, context);
  const pieces: Uint8Array[] = [];
  const code = await execEbb(way, words, { ...context, take: (bytes) => pieces.push(bytes) });
  await show(snapshotIn(Buffer.concat(pieces).toString()), []);
  return code;
}

function snapshotIn(text: string): Snapshot | null {
  return (parseObject(text) as Snapshot | undefined) ?? null;
}

/** The time for each request. All are sent at the same time. */
const REQUEST_MS = 5000;

/** Asks sidecars through a tunnel. What only an ebb in the pod sees, sockets and processes, is null. */
async function askThrough(
  all: readonly FarSidecar[],
  { statusOf, findingsOf, ...context }: Context & Asker,
): Promise<Snapshot> {
  using tunnel = await openTunnel([...new Set(all.flatMap(({ ports }) => ports))], context);
  const time = new Date().toISOString();
  const sidecars = await Promise.all(
    all.map(({ sidecar }) => statusOf(throughTunnel(sidecar, tunnel.via), REQUEST_MS, sidecar)),
  );
  const seen = { foundBy: null, sidecars, sockets: null, processes: null };
  const findings = findingsOf(seen, { doubts: [], elsewhere: [], isByInit: false });
  return { version: 1, time, ...seen, findings: findings.filter(({ kind }) => !/^no-(sockets|processes)$/.test(kind)) };
}

/** Prints a table of pods, as `kubectl get` does. */
export async function listPods({
  settings,
  ...around
}: Around & { readonly settings: StatusSettings }): Promise<number> {
  const { allNamespaces, selector, output } = settings;
  const { api, namespace } = await openSession(settings, around);
  const path = allNamespaces ? "/api/v1/pods" : `/api/v1/namespaces/${namespace}/pods`;
  const policy: ReapPolicy = {
    afterMs: 0,
    allJobs: false,
    methods: methodKinds,
    allowsReapExec: true,
    namespaces: new Map(),
  };
  const rows: PodRow[] = [];
  await available(async () => {
    for await (const { items } of pagesAt<KubeObject>(
      api,
      path,
      { labelSelector: selector },
      { signal: around.signal },
    ))
      rows.push(...items.map((pod) => rowOf(pod, policy, Date.now())));
  }, around.signal);
  if (rows.length === 0 && output !== "json" && output !== "yaml") {
    await writeOutput(`no pods${allNamespaces ? "" : ` in namespace ${namespace}`}\n`);
    return EXIT.ok;
  }
  await print(rows, podTable(rows, { hasNamespace: allNamespaces, isWide: output === "wide" }), output);
  return EXIT.ok;
}
