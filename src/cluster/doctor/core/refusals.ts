import type { Container, KubeEvent, Texts, Workload } from "../../api/core/objects.ts";
import { POD_REFUSED } from "../../core/installed.ts";
import { parseQuantity } from "../../core/quantity.ts";
import { INSTALL, isNumbered } from "../../inject/core/annotation-names.ts";
import { presenceOf } from "../../inject/core/presence.ts";
import type { Finding } from "./finding.ts";
import { requestOf, type Selection } from "./selection.ts";

/** The field selector of Events of owners that could not create a pod. */
export const REFUSALS = "reason=FailedCreate";

/** An owner, such as a ReplicaSet or Job, whose pods the API server refused. */
export interface RefusedOwner extends Finding {
  /**
   * Who refused them: ebb's webhook, or other rules, such as a quota's: then it is a finding if the pods have ebb, or
   * are to have it. `ebb-install`: such a rule, about the container that copies ebb.
   */
  readonly by: "webhook" | "rule" | "ebb-install";
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

const FORBIDDEN = " is forbidden: ";

/**
 * Returns a finding for an Event that says that the webhook, or a rule such as a ResourceQuota or a LimitRange, refused
 * a pod. Returns undefined for any other Event.
 */
export function refusalFinding({ involvedObject, message = "" }: KubeEvent): RefusedOwner | undefined {
  const { kind, namespace, name, uid } = involvedObject;
  const [ours, others] = [POD_REFUSED, FORBIDDEN].map((words) => message.split(words).slice(1).join(words));
  if (!ours && !others) return undefined;
  const object = `${kind} ${namespace}/${name}`;
  const owner = { kind, namespace, name, uid };
  if (ours) return { ...owner, by: "webhook", object, message: `the webhook refuses its pods: ${ours}` };
  const refused = `its pods, which have or should have ebb, are refused: ${others}`;
  return { ...owner, by: message.includes(INSTALL) ? "ebb-install" : "rule", object, message: refused };
}

/**
 * How a LimitRange refuses a container: by an amount or a ratio, and without its name (Kubernetes 1.36.3,
 * plugin/pkg/admission/limitranger/admission.go:309-385).
 */
const refusals = [
  /(?:min|max)imum (\S+) usage per Container is \S+, but (request|limit) is ([^\s,\]]+)/g,
  / \[?([^\s[]+) max limit to request (ratio) per Container is \S+, but provided ratio is ([\d.]+)/g,
] as const;

/**
 * Returns which container of an owner's pods a LimitRange refuses, in brackets, by the amounts in the owner's template;
 * "" if `refusal` is about none, or about none of ebb's and the template's.
 */
export function refusedContainer(refusal: string, { spec }: Workload): string {
  const { containers, initContainers = [] } = spec.template.spec;
  const all = [...initContainers, ...containers];
  const amounts = refusals.flatMap((each) => [...refusal.matchAll(each)]);
  if (amounts.length === 0) return "";
  const isRefused = (one: Container): boolean =>
    amounts.some(([, resource = "", what = "", amount]) => {
      const own = amountOf(one, resource, what);
      return own !== undefined && own === parseQuantity(amount);
    });
  const names = all.filter(isRefused).map(({ name }) => name);
  if (names.length > 0) return ` (container ${names.join(", ")})`;
  if (all.some(({ name }) => isNumbered(name, INSTALL))) return "";
  return ` (no container of its template has that amount: it may be ${INSTALL}, which the webhook adds)`;
}

/** Returns a container's request, limit or ratio of both as the API server prints it; undefined if it sets none. */
function amountOf({ resources }: Container, resource: string, what: string): number | undefined {
  const limit = parseQuantity(resources?.limits?.[resource]);
  const request = parseQuantity(resources?.requests?.[resource]) ?? limit;
  if (what === "limit") return limit;
  if (what === "request") return request;
  return limit === undefined || request === undefined ? undefined : Number((limit / request).toFixed(6));
}

/**
 * Reports whether an owner's pods have ebb by their template, or are to have it. `namespace` has the labels of its
 * namespace.
 */
export function wantsEbb(
  { spec: { template } }: Workload,
  namespace: Texts | undefined,
  selections: readonly Selection[],
): boolean {
  const { by, isCovered } = requestOf(template, namespace, selections);
  return presenceOf(template).kind === "present" || (by !== undefined && isCovered);
}

/** Reports whether an owner still lacks pods. A Job that is over, or that has an active or succeeded pod, does not. */
export function lacksPods({ spec, status = {} }: Workload): boolean {
  const { active = 0, succeeded = 0, replicas = 0, currentNumberScheduled = 0, desiredNumberScheduled } = status;
  const isOver = status.conditions?.some(({ type }) => type === "Complete" || type === "Failed");
  if (isOver || active + succeeded > 0) return false;
  return desiredNumberScheduled === undefined
    ? replicas < (spec.replicas ?? 1)
    : currentNumberScheduled < desiredNumberScheduled;
}
