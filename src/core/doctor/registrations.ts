import { type JsonObject, objectOf } from "../base/json.ts";
import { argsOf, imageIn } from "./components.ts";
import type { Finding } from "./finding.ts";

/** A MutatingWebhookConfiguration of ebb's, with what stands behind it. */
export interface Registration {
  readonly name: string;
  /** The API server refuses a pod if the webhook does not answer (failurePolicy is not Ignore). */
  readonly isRequired: boolean;
  /** It has a caBundle. */
  readonly isTrusted: boolean;
  /** Its Service, as `NAMESPACE/NAME`. */
  readonly service: string;
  /** Undefined if the Service may not be read. */
  readonly isServiceThere: boolean | undefined;
  /** The Deployments that the Service selects. Undefined if they may not be read. */
  readonly deployments: readonly JsonObject[] | undefined;
}

/** A summary of the webhooks of ebb's in a cluster. */
export interface Webhooks {
  /** How many are registered. Undefined if that may not be read. */
  readonly count: number | undefined;
  /** How many of them have a Service, as far as is known. Undefined if `count` is. */
  readonly answering: number | undefined;
  /** The images from which pods get ebb now. Empty if they are not known. */
  readonly images: readonly string[];
  /** Whether any of them runs with --all. */
  readonly all: boolean;
}

/** Summarises the registered webhooks. `registrations` is undefined if they may not be read. */
export function webhooksOf(registrations: readonly Registration[] | undefined): Webhooks {
  const deployments = (registrations ?? []).flatMap(({ deployments }) => deployments ?? []);
  const calls = deployments.map(({ spec }) => argsOf(objectOf(objectOf(spec).template).spec));
  const images = calls.flatMap((args) => imageIn(args) ?? []);
  const answering = registrations?.filter(({ isServiceThere }) => isServiceThere !== false).length;
  return {
    count: registrations?.length,
    answering,
    images: [...new Set(images)],
    all: calls.some((args) => args.includes("--all")),
  };
}

/**
 * Returns what keeps a registered webhook from working: its Service does not exist, no replica is ready, or it has no
 * caBundle. Returns an empty list if it works.
 */
export function registrationFindings(registration: Registration): readonly Finding[] {
  const { name, isRequired, isTrusted, service, isServiceThere, deployments } = registration;
  const object = `MutatingWebhookConfiguration ${name}`;
  const effect = isRequired ? "each pod that it selects is refused" : "pods start without ebb";
  if (isServiceThere === false) {
    const message = `its Service ${service} does not exist, so ${effect}: install the webhook again (ebb manifests webhook) or, if it was removed, kubectl delete mutatingwebhookconfiguration ${name}`;
    return [{ object, message }];
  }
  const isReady = deployments?.some(({ status }) => Number(objectOf(status).readyReplicas ?? 0) > 0);
  const message = (what: string) => `${what}, so ${effect}`;
  return [
    ...(isReady === false ? [{ object, message: message(`no replica behind its Service ${service} is ready`) }] : []),
    ...(isTrusted ? [] : [{ object, message: message("it has no caBundle") }]),
  ];
}
