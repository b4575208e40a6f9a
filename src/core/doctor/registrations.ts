import { type JsonObject, objectOf } from "../base/json.ts";
import { argsOf, imageIn } from "./components.ts";
import type { Finding } from "./finding.ts";

/** A webhook of ebb's in a cluster. */
export interface Registration {
  readonly name: string;
  readonly isRequired: boolean;
  readonly isTrusted: boolean;
  /** `NAMESPACE/NAME` */
  readonly service: string;
  /** undefined: it may not be read. */
  readonly isServiceThere: boolean | undefined;
  /** undefined: they may not be read. */
  readonly deployments: readonly JsonObject[] | undefined;
}

/** What the webhooks of a cluster do. */
export interface Webhooks {
  /** Those that are registered; undefined: it is not known. */
  readonly count: number | undefined;
  /** Those of them that are there. */
  readonly answering: number | undefined;
  /** Where pods get ebb from now; empty: it is not known. */
  readonly images: readonly string[];
  readonly all: boolean;
}

/** Summarises the registered webhooks: how many, how many can answer, which image they inject. `registrations` undefined: they may not be read. */
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

/** Names what keeps a webhook's registration from working: its Service is gone, no replica is ready, or it has no CA. Empty if it works. */
export function registrationFindings(registration: Registration): readonly Finding[] {
  const { name, isRequired, isTrusted, service, isServiceThere, deployments } = registration;
  const object = `MutatingWebhookConfiguration ${name}`;
  const effect = isRequired ? "each pod that it selects is refused" : "pods start without ebb";
  if (isServiceThere === false) {
    const message = `its Service ${service} does not exist, so it is left over, and ${effect}: kubectl delete mutatingwebhookconfiguration ${name}`;
    return [{ object, message }];
  }
  const isReady = deployments?.some(({ status }) => Number(objectOf(status).readyReplicas ?? 0) > 0);
  const message = (what: string) => `${what}, so ${effect}`;
  return [
    ...(isReady === false ? [{ object, message: message(`no replica behind its Service ${service} is ready`) }] : []),
    ...(isTrusted ? [] : [{ object, message: message("it has no caBundle") }]),
  ];
}
