import { EXIT } from "../../shared/core/exit.ts";
import { parseObject } from "../../shared/core/json.ts";
import type { Pod } from "../api/core/objects.ts";
import { pagesAt } from "../api/list.ts";
import { methodKinds } from "../reaper/core/methods.ts";
import { type PodView, viewOf } from "../reaper/core/pod-view.ts";
import type { ReapPolicy } from "../reaper/core/policy.ts";
import { judgementOf } from "../reaper/core/verdict.ts";
import { ebbIn } from "./core/ebb-in.ts";
import { type PodRow, rowOf } from "./core/pod-status.ts";
import { podLines, podTable } from "./core/text.ts";
import { execEbb } from "./exec.ts";
import { type Format, type PluginSession, type PodSession, print } from "./session.ts";

/** The flags of `kubectl ebb status`. */
interface StatusSettings {
  readonly allNamespaces: boolean;
  readonly selector: string | undefined;
  readonly output: Format;
}

/** A pod and its state, as `kubectl ebb status POD -o json` prints it. */
interface PodStatus extends PodRow {
  /** As the ebb in the pod prints it with `ebb status --json`; null if none was asked, or it did not answer. */
  readonly status: object | null;
}

/** Prints what the API server knows of one pod, and what the ebb in it sees if there is one. */
export async function showPod({
  settings: { output },
  ...session
}: PodSession & { readonly settings: StatusSettings }): Promise<number> {
  const { pod, object, log } = session;
  const row = judge(pod);
  const ebb = ebbIn(object);
  const isData = output === "json" || output === "yaml";
  const answer = ebb && (await execEbb(ebb, isData ? ["status", "--json"] : ["status"], session));
  if (answer !== undefined && "why" in answer)
    log.warn({ pod: pod.name, reason: answer.why }, "cannot ask the ebb in the pod");
  const text = answer !== undefined && "text" in answer ? answer.text : undefined;
  const status = (isData && text !== undefined && parseObject(text)) || null;
  await print({ ...row, status } satisfies PodStatus, podLines(row, ebb, text), output);
  return EXIT.ok;
}

/** A pod is judged as by `kubectl ebb why` without flags. */
function judge(pod: PodView): PodRow {
  return rowOf(pod, judgementOf(pod, policy, Date.now()).state);
}

const policy: ReapPolicy = {
  afterMs: 0,
  allJobs: false,
  allowsReapExec: false,
  methods: methodKinds,
  namespaces: new Map(),
};

/** Prints a table of pods, as `kubectl get` does. */
export async function listPods({
  settings,
  ...session
}: PluginSession & { readonly settings: StatusSettings }): Promise<number> {
  const { allNamespaces, selector: labelSelector, output } = settings;
  const { api, namespace, signal } = session;
  const path = allNamespaces ? "/api/v1/pods" : `/api/v1/namespaces/${namespace}/pods`;
  const rows: PodRow[] = [];
  for await (const { items } of pagesAt<Pod>(api, path, { labelSelector }, { signal }))
    rows.push(...items.map((pod) => judge(viewOf(pod))));
  const table = podTable(rows, { hasNamespace: allNamespaces, isWide: output === "wide" });
  const none = [`no pods${allNamespaces ? "" : ` in namespace ${namespace}`}`];
  await print(rows, rows.length === 0 ? none : table, output);
  return EXIT.ok;
}
