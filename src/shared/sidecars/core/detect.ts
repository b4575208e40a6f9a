import type { HttpTarget } from "../../core/address.ts";
import type { Environment } from "../../core/environment.ts";
import { isServiceLink } from "../../core/service-links.ts";
import { PLAIN, type PortFinding } from "./identify.ts";
import { annotationOf } from "./injected.ts";
import type { Annotations, OwnPod } from "./kinds/kind.ts";
import { isMadeNative, NATIVE } from "./kinds/native.ts";
import { type SidecarUrls, saysHowToQuit } from "./own-probes.ts";
import { type FoundSidecar, foundIn, moveAdmin } from "./plan.ts";
import { isProxy, kindOf, type SidecarName, sidecarNames } from "./registry.ts";

/** All that tells which sidecars are in this pod. */
interface Evidence extends OwnPod {
  /** The proxy at the admin interface that the user names, unless `adminNamedBy` returns undefined. */
  readonly atAdmin: PortFinding | undefined;
  /** The proxies that were found by their listening ports. */
  readonly byPort: readonly PortFinding[];
}

/** The result of `detect`. */
export interface Detection {
  readonly found: readonly FoundSidecar[];
  /** Whether a mesh's proxy or an Envoy was found, and not companions alone. If not, one may still start. */
  readonly hasProxy: boolean;
  /** What showed the sidecars, for the log. Undefined if none was found. */
  readonly by: string | undefined;
}

interface Naming {
  readonly names: SidecarName[];
  readonly by: string[];
}

/**
 * Detects which sidecars are in this pod. A mesh's proxy is found by variables and options that name one, else by
 * injectors' annotations, else by listening ports. Companions (Dapr, Vault Agent, the Cloud SQL proxy) are found by
 * their injector's variable or annotation, whether or not there is a proxy.
 */
export function detect(evidence: Evidence): Detection {
  const naming: Naming = { names: [], by: [] };
  proxyByUser(evidence, naming);
  if (naming.names.length === 0) proxiesByAnnotation(evidence, naming);
  const isByPort = naming.names.length === 0;
  if (isByPort) proxiesByPort(evidence, naming);
  const hasProxy = naming.names.length > 0;
  companions(evidence, naming);
  const by = naming.by.length === 0 ? undefined : naming.by.join(", ");
  const found = foundIn(evidence, naming.names);
  const { atAdmin, byPort } = evidence;
  const findings = atAdmin !== undefined ? [atAdmin] : isByPort ? byPort : [];
  return {
    found: findings.length === 0 ? found : found.map((one, at) => withPortFinding(one, findings[at], evidence)),
    hasProxy,
    by,
  };
}

/** Returns what was detected together with the sidecars that the user names, which win over a detected one of the kind. */
export function withNamed(detection: Detection, named: readonly FoundSidecar[]): Detection {
  if (named.length === 0) return detection;
  const isNamed = (name: SidecarName) => named.some((one) => one.name === name);
  return {
    found: [...named, ...detection.found.filter(({ name }) => !isNamed(name))],
    hasProxy: detection.hasProxy || named.some(({ name }) => isProxy(name)),
    by: detection.by === undefined ? "--sidecar" : `--sidecar, ${detection.by}`,
  };
}

/** Adds to a sidecar what its port finding tells. Companions come last in `found`, so the lists' indexes match. */
function withPortFinding(found: FoundSidecar, finding: PortFinding | undefined, facts: OwnPod): FoundSidecar {
  if (finding === undefined) return found;
  const { admin, annotations = new Map(), isSuggested } = finding;
  // the pod's own annotations win over those of its Envoy's node
  const pod = { env: facts.env, annotations: new Map([...annotations, ...facts.annotations]) };
  const annotated = foundIn(pod, [found.name])[0] ?? found;
  const one = admin === undefined ? annotated : moveAdmin(annotated, admin);
  return isSuggested === undefined ? one : { ...one, isSuggested };
}

/** Adds the proxy that the user names by its admin interface or by a variable. */
function proxyByUser({ env, atAdmin }: Evidence, { names, by }: Naming): void {
  const named = namedByUser(env);
  const name = atAdmin?.name ?? named?.name;
  if (name === undefined) return;
  names.push(name);
  by.push(atAdmin?.by ?? named?.variable ?? "");
}

/**
 * Returns the option or variable by which the user names an admin interface that tells which proxy is here. Returns
 * undefined if there is none, or if a mesh's variable tells: that wins.
 */
export function adminNamedBy({ env }: OwnPod, admin: HttpTarget | undefined): string | undefined {
  if (admin === undefined || (namedByUser(env)?.name ?? PLAIN) !== PLAIN) return undefined;
  return (env.ENVOY_ADMIN_API ?? "") === "" ? "--admin" : "ENVOY_ADMIN_API";
}

interface Named {
  readonly name: SidecarName;
  readonly variable: string;
}

/** Returns the first `userVariables` entry that is set and not empty. A mesh's variable wins over a plain Envoy's. */
function namedByUser(env: Environment): Named | undefined {
  let plain: Named | undefined;
  for (const name of sidecarNames) {
    for (const variable of kindOf(name).userVariables ?? []) {
      if ((env[variable] ?? "") === "") continue;
      if (name !== PLAIN) return { name, variable };
      plain ??= { name, variable };
    }
  }
  return plain;
}

/** Reports whether the user says both what to wait for and what to quit, so that nothing is left to be found. */
export function isDescribed(urls: SidecarUrls, env: Environment): boolean {
  return urls.admin === undefined && !hasUserVariable(env) && urls.ready.length > 0 && saysHowToQuit(urls);
}

/** Reports whether a variable by which users name a proxy to other tools (`userVariables`) is set, even if empty. */
function hasUserVariable(env: Environment): boolean {
  for (const name of sidecarNames) {
    for (const variable of kindOf(name).userVariables ?? []) if (env[variable] !== undefined) return true;
  }
  return false;
}

/** Returns the sidecars that injectors' variables and annotations show, each with what shows it, for the log. */
export function shownSidecars(pod: OwnPod): readonly { readonly name: SidecarName; readonly by: string }[] {
  const naming: Naming = { names: [], by: [] };
  proxiesByAnnotation(pod, naming);
  companions(pod, naming);
  const shown: { readonly name: SidecarName; readonly by: string }[] = [];
  for (const [at, name] of naming.names.entries()) shown.push({ name, by: naming.by[at] as string });
  return shown;
}

/** Returns the proxies that the pod's annotations name. */
export function annotatedIn(pod: OwnPod): readonly SidecarName[] {
  const naming: Naming = { names: [], by: [] };
  proxiesByAnnotation(pod, naming);
  return naming.names;
}

function proxiesByAnnotation({ annotations }: OwnPod, { names, by }: Naming): void {
  for (const name of sidecarNames) {
    const annotation = isProxy(name) ? annotationOf(name, annotations) : undefined;
    if (annotation === undefined) continue;
    names.push(name);
    by.push(`annotation ${annotation}`);
  }
}

function proxiesByPort({ byPort }: Evidence, { names, by }: Naming): void {
  for (const one of byPort) {
    names.push(one.name);
    by.push(one.by);
  }
}

function companions({ env, annotations }: OwnPod, { names, by }: Naming): void {
  for (const name of sidecarNames) {
    if (isProxy(name)) continue;
    const { variable } = kindOf(name);
    const value = variable === undefined ? "" : (env[variable] ?? "");
    const isNamed = variable !== undefined && value !== "" && !isServiceLink(variable, value);
    const annotation = isNamed
      ? undefined
      : (annotationOf(name, annotations) ?? (isMadeNative(annotations, name) ? NATIVE : undefined));
    if (!isNamed && annotation === undefined) continue;
    names.push(name);
    by.push(isNamed ? variable : `annotation ${annotation}`);
  }
}

/** Parses the downward API's annotations file: `key="value"` lines, quoted as by Go's %q. Skips all other lines. */
export function parseAnnotations(text: string): Annotations {
  const lines = text.split("\n").map((line) => /^([^=]+)="(.*)"$/.exec(line));
  return new Map(lines.flatMap((match) => (match === null ? [] : [[match[1] as string, unquote(match[2] as string)]])));
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
};

function unquote(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/g, (_, hex, short, long, plain) => {
    const code = hex ?? short ?? long;
    if (code === undefined) return escapes[plain] ?? plain;
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff ? "\ufffd" : String.fromCodePoint(point);
  });
}
