import type { Pod, Texts } from "../../api/core/objects.ts";
import { STATUS } from "../../inject/core/annotation-names.ts";
import { readStatus, type Status } from "../../inject/core/edits/status.ts";
import { MUST_BE_FIRST } from "../../inject/core/facts/command.ts";
import { injectPod } from "../../inject/core/inject-pod.ts";
import { roleIn } from "../../inject/core/orchestrators/registry.ts";
import type { Pod as ManifestPod } from "../../inject/core/pod.ts";
import { presenceOf } from "../../inject/core/presence.ts";
import { type Finding, ofPod } from "./finding.ts";
import type { WebhookPolicy, Webhooks } from "./installation.ts";
import { OUTSIDE, requestOf } from "./selection.ts";

/**
 * Returns a finding for a pod that asks for ebb and has none, or that has it from another image or with other
 * options than the webhooks' replicas inject now. `namespace` has the labels of its namespace. Returns undefined if
 * nothing is wrong.
 */
export function podFinding(pod: Pod, namespace: Texts | undefined, webhooks: Webhooks): Finding | undefined {
  const again = howAgain(pod);
  const presence = presenceOf(pod);
  const { by, isCovered } = requestOf(pod, namespace, webhooks.selections);
  if (presence.kind === "present") {
    const isRenewed = by !== undefined && isCovered;
    const { injected } = webhooks;
    const old = otherImage(presence.image, injected) ?? (isRenewed ? otherOptions(pod, injected) : undefined);
    // if only a manifest has put ebb there, each new pod has the same image again
    return old === undefined ? undefined : ofPod(pod, `${old}: ${isRenewed ? again : inManifest(injected)}`);
  }
  const { skipped } = presence;
  const left = skipped === undefined ? undefined : `the webhook left it as it is: ${skipped}; after that: `;
  const why =
    by === undefined ? undefined : (left ?? whyMissing(pod, by, { answering: webhooks.answering, isCovered }));
  if (by === undefined || why === undefined) return undefined;
  const asks = by === "annotation" ? "it asks for ebb" : "it should have ebb";
  return ofPod(pod, `${asks} (${words[by]}) and has none: ${why}${again}`);
}

function otherImage(image: string | undefined, injected: readonly WebhookPolicy[]): string | undefined {
  const images = [...new Set(injected.map((one) => one.image))];
  if (image === undefined || images.length === 0 || images.includes(image)) return undefined;
  return `it has ebb from ${image}, and the webhook now injects ${images.join(" or ")}`;
}

/** Names the options that all replicas set, each to another value. One that they do not set may be the manifest's. */
function otherOptions(pod: Pod, injected: readonly WebhookPolicy[]): string | undefined {
  const options = recordedStatus(pod)?.options ?? {};
  const differing = injected.map((one) =>
    Object.keys(one.options).filter((flag) => options[flag] !== one.options[flag]),
  );
  const [flags = []] = differing.toSorted((a, b) => a.length - b.length);
  return flags.length === 0 ? undefined : `the webhook now sets another ${flags.join(" and ")} (--set)`;
}

function inManifest([one]: readonly WebhookPolicy[]): string {
  return `its manifest has that ebb, so a restart does not help: run ebb inject --image ${one?.image} on the manifest, and apply it`;
}

/** Returns what the pod's ebb.dev/status records; undefined if it has none, or an unreadable one. */
function recordedStatus({ metadata }: Pod): Status | undefined {
  const status = readStatus(metadata.annotations?.[STATUS]);
  return status === undefined || "field" in status ? undefined : status;
}

/**
 * Returns a finding for each container of an injected pod that ebb does not start, because its command was not known, or
 * must stay. One whose orchestrator needs its command as it is is none.
 */
export function unwrappedFindings(pod: Pod): readonly Finding[] {
  return Object.entries(recordedStatus(pod)?.containers ?? {}).flatMap(([name, { hook, unwrapped }]) => {
    if (unwrapped === undefined || roleIn(pod as unknown as ManifestPod, { name }) === "untouchable") return [];
    const does = hook === true ? "drains, and does not wait for the sidecars" : "starts without ebb";
    if (unwrapped.includes(MUST_BE_FIRST)) return [ofPod(pod, `its container "${name}" ${does}: ${unwrapped}`)];
    const message = `its container "${name}" ${does}, because its command was not known: ${unwrapped}`;
    return [ofPod(pod, `${message}; ebb.dev/entrypoint.${name} can give it; after that: ${howAgain(pod)}`)];
  });
}

/**
 * Returns what makes a pod: the Deployment of its ReplicaSet, the CronJob of its Job, else its owner. Undefined if it
 * has none.
 */
function ownerOf({ metadata }: Pod): { readonly kind: string; readonly name: string } | undefined {
  const [owner] = metadata.ownerReferences ?? [];
  if (owner === undefined) return undefined;
  const { kind, name } = owner;
  // a ReplicaSet's name is its Deployment's, and the hash of the template
  const hash = metadata.labels?.["pod-template-hash"];
  if (kind === "ReplicaSet" && hash !== undefined && name.endsWith(`-${hash}`))
    return { kind: "Deployment", name: name.slice(0, -hash.length - 1) };
  const run = kind === "Job" ? RUN.exec(name) : null;
  return run === null ? { kind, name } : { kind: "CronJob", name: name.slice(0, run.index) };
}

/**
 * The end of the name of a CronJob's Job: its time in minutes since 1970, from 2019 to 2046; a date such as 20240101 is
 * none (kubernetes pkg/controller/cronjob/utils.go, getJobName).
 */
const RUN = /-(2[6-9]|3\d)\d{6}$/;

/** Returns in words how to create the pod again. */
function howAgain(pod: Pod): string {
  const owner = ownerOf(pod);
  if (owner === undefined) return "create the pod again";
  const { kind, name } = owner;
  if (kind === "Deployment") return `kubectl -n ${pod.metadata.namespace} rollout restart deployment/${name}`;
  if (kind === "CronJob") return `the next run of its CronJob ${name} gets it`;
  if (kind === "Job") return "a new Job gets it: delete this one, and create it again";
  return `delete the pod, and its ${kind} creates it again`;
}

const words = {
  annotation: 'its annotation ebb.dev/inject: "true"',
  namespace: "the label ebb.dev/inject=true of its namespace",
  "--all": "the webhook's --all",
};

const nobodys = { image: "ebb", all: true, volume: "emptyDir", options: new Map(), entrypoints: new Map() } as const;

/**
 * Returns why a pod that asks for ebb has none, to be followed by how to create it again. Returns undefined if it is
 * right: the webhook leaves a pod as it is if only --all selects it and ebb cannot be put into it, or if there is
 * nothing to change. What it cannot do without a registry, it says in the pod's ebb.dev/status.
 */
function whyMissing(
  pod: Pod,
  by: keyof typeof words,
  { answering, isCovered }: Pick<Webhooks, "answering"> & { readonly isCovered: boolean },
): string | undefined {
  const injection = injectPod(pod, nobodys);
  if (injection.kind === "refused") {
    if (by === "--all") return undefined;
    const problems = injection.problems.map(({ field, message }) => `${field}: ${message}`);
    return `${problems.join("; ")}; after that: `;
  }
  if (injection.kind === "unchanged" || (injection.kind === "skipped" && by === "--all")) return undefined;
  if (!isCovered) return `${OUTSIDE}; after that: `;
  if (answering === 0) return "no webhook is installed: install it (ebb help webhook), then ";
  const late = by === "annotation" ? "" : ", or the pod is older than that";
  return `no webhook answered when it was created${late}: `;
}
