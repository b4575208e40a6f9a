import { parseObject } from "../../core/base/json.ts";
import { type FarSidecar, farSidecarsOf, throughTunnel } from "../../core/kubectl/forwarded.ts";
import { type PodRow, rowOf, summaryOf } from "../../core/kubectl/pod-status.ts";
import { podTable, summaryLines } from "../../core/kubectl/text.ts";
import { methodKinds } from "../../core/reap/methods.ts";
import { selectionRules } from "../../core/reap/pod-rules.ts";
import { viewOf } from "../../core/reap/pod-view.ts";
import type { ReapPolicy } from "../../core/reap/policy.ts";
import { EXIT } from "../../core/run/exit.ts";
import { findingsOf } from "../../core/status/findings.ts";
import type { Snapshot } from "../../core/status/snapshot.ts";
import { statusLines } from "../../core/status/text.ts";
import { statusOf } from "../../system/envoy/sidecar-status.ts";
import type { KubeObject } from "../api/client.ts";
import { pagesAt } from "../api/list.ts";
import { runInEphemeral } from "./ephemeral.ts";
import { execEbb } from "./exec.ts";
import { type Format, type PodSession, print, readAgain, refuseWords, type Session } from "./session.ts";
import { openTunnel } from "./tunnel.ts";
import { findWay, type PodSettings, type Way } from "./way.ts";

/** The flags of `kubectl ebb status`. */
export interface StatusSettings extends PodSettings {
  readonly allNamespaces: boolean;
  readonly selector: string | undefined;
  readonly output: Format;
}

/** A pod and its state, as `kubectl ebb status POD -o json` prints it. */
interface PodStatus extends ReturnType<typeof summaryOf> {
  /** The way on which the pod was asked; `none`: only the API server was. */
  readonly by: Way["kind"];
  /** As `ebb status --json` prints it. */
  readonly status: Snapshot | null;
}

/** Prints the state of one pod, by the ebb in it if there is one. Resolves with the exit code, which may be that ebb's. */
export async function showPod(
  words: readonly string[],
  { settings, ...session }: PodSession & { readonly settings: StatusSettings },
): Promise<number> {
  const { pod, ref, log } = session;
  const far = farSidecarsOf(viewOf(pod));
  const way = await findWay({ ...settings, far }, session);
  const { output } = settings;
  const isData = output === "json" || output === "yaml";
  const call = ["status", ...(isData ? ["--json"] : []), ...words];
  const show = (status: Snapshot | null, lines: readonly string[]) =>
    print({ ...summaryOf(pod), by: way.kind, status } satisfies PodStatus, lines, output);
  if (way.kind === "exec") {
    if (!isData) return await execEbb(way, call, session);
    const pieces: Uint8Array[] = [];
    const code = await execEbb(way, call, session, (bytes) => pieces.push(bytes));
    await show(snapshotIn(Buffer.concat(pieces).toString()), []);
    return code;
  }
  refuseWords(words);
  if (way.kind === "ephemeral") {
    const { text, code } = await runInEphemeral(call, settings, session);
    await show(isData ? snapshotIn(text) : null, [text.trimEnd()]);
    return code;
  }
  const status = way.kind === "none" ? null : await askThrough(far, session);
  if (way.kind === "none" && far.length > 0)
    log.warn(
      { pod: ref.name, reason: way.why },
      "cannot reach the pod's sidecars: --image allows an ephemeral container",
    );
  await show(status, [...summaryLines(summaryOf(pod)), ...(status === null ? [] : ["", ...statusLines(status)])]);
  return EXIT.ok;
}

function snapshotIn(text: string): Snapshot | null {
  return (parseObject(text) as Snapshot | undefined) ?? null;
}

/** The time for each request. All are sent at the same time. */
const REQUEST_MS = 5000;

/** Asks sidecars through a tunnel. What only an ebb in the pod sees, sockets and processes, is null. */
async function askThrough(all: readonly FarSidecar[], session: PodSession): Promise<Snapshot> {
  using tunnel = await openTunnel(all, session);
  const time = new Date().toISOString();
  const sidecars = await Promise.all(
    all.map(({ sidecar }) => statusOf(throughTunnel(sidecar, tunnel.via), REQUEST_MS, sidecar)),
  );
  await readAgain(session); // it was the same pod all the time
  const seen = { foundBy: null, sidecars, sockets: null, processes: null };
  const findings = findingsOf(seen, { doubts: [], elsewhere: [], isByInit: false });
  return { version: 1, time, ...seen, findings: findings.filter(({ kind }) => !/^no-(sockets|processes)$/.test(kind)) };
}

/** Every pod is judged as if it were selected, with all methods: the table says what it is, not who may end it. */
const policy: ReapPolicy = {
  ...{ afterMs: 0, allJobs: false, allowsReapExec: true, waived: selectionRules },
  ...{ methods: methodKinds, namespaces: new Map() },
};

/** Prints a table of pods, as `kubectl get` does. */
export async function listPods({
  settings,
  ...session
}: Session & { readonly settings: StatusSettings }): Promise<number> {
  const { allNamespaces, selector: labelSelector, output } = settings;
  const { api, namespace, signal } = session;
  const path = allNamespaces ? "/api/v1/pods" : `/api/v1/namespaces/${namespace}/pods`;
  const rows: PodRow[] = [];
  for await (const { items } of pagesAt<KubeObject>(api, path, { labelSelector }, { signal }))
    rows.push(...items.map((pod) => rowOf(pod, policy, Date.now())));
  const table = podTable(rows, { hasNamespace: allNamespaces, isWide: output === "wide" });
  const none = [`no pods${allNamespaces ? "" : ` in namespace ${namespace}`}`];
  await print(rows, rows.length === 0 ? none : table, output);
  return EXIT.ok;
}
