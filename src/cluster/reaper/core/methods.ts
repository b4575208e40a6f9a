import type { JsonObject } from "../../../shared/core/json.ts";
import { redactUrl, redactUrls } from "../../../shared/core/redact.ts";
import type { Header } from "../../../shared/http/core/http-framing.ts";
import { basicCredentials } from "../../../shared/http/core/http-message.ts";
import { serializeQuit } from "../../../shared/sidecars/core/quit.ts";
import { kindOf, type SidecarName } from "../../../shared/sidecars/core/registry.ts";
import type { QuitRequest } from "../../../shared/sidecars/core/sidecar.ts";
import { EBB } from "../../inject/core/facts/command.ts";
import { objectionTo } from "./ephemeral.ts";
import type { ContainerView, PodView } from "./pod-view.ts";
import { isUsualAdmin, loopbackPort, type PodInstructions, patienceOf, quitsOf, readInstructions } from "./quits.ts";

/** A way to end a sidecar of another pod, by what the API server and the kubelet do for accounts that may. */
export type Method =
  /** A command that is run in the container. `isGiven`: the pod's annotation gives it. */
  | { readonly kind: "exec"; readonly container: string; readonly command: readonly string[]; readonly isGiven?: true }
  /** HTTP requests to ports of the pod's loopback, one after the other. */
  | { readonly kind: "port-forward"; readonly container: string; readonly requests: readonly PortRequest[] }
  /** A container with ebb's image that is put into the pod; `env` is as manifests have it. */
  | {
      readonly kind: "ephemeral";
      readonly container: string;
      readonly args: readonly string[];
      readonly env: readonly JsonObject[];
    };

/** All methods, in the order in which they are tried by default. */
export const methodKinds = ["exec", "port-forward", "ephemeral"] as const;

export type MethodKind = (typeof methodKinds)[number];

/** An HTTP request to a port of the pod's loopback. */
export interface PortRequest {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  /** They may hold a token, and must not be logged. */
  readonly headers: readonly Header[];
}

/**
 * How one sidecar is ended: methods in the order in which they are tried, each only if the one before has not worked.
 */
export interface Ending {
  readonly container: string;
  /** In the order in which they are tried. */
  readonly methods: readonly Method[];
  /** Milliseconds that it may take to exit once it has been told. */
  readonly patienceMs: number;
  /** An ephemeral container could end it, too, if there were an image. */
  readonly lacksImage?: true;
}

/** What decides which methods there are for a pod. */
export interface Allowed {
  readonly pod: PodView;
  /** The methods that the reaper may use, in order. */
  readonly allowed: readonly MethodKind[];
  /** Commands in ebb.dev/reap-exec are followed. */
  readonly allowsReapExec: boolean;
  /** The image of ephemeral containers. */
  readonly image?: string | undefined;
  /** `ephemeral` is not allowed for the lack of an image alone. */
  readonly lacksImage?: boolean | undefined;
}

/**
 * Returns the allowed methods that can end a sidecar of this pod, in order. Returns a text, why not, if there is none
 * or if an annotation is malformed. In a pod on its node's network only the command that an annotation gives is used.
 */
export function endingOf(
  container: ContainerView,
  sidecar: SidecarName | undefined,
  { pod, allowed, allowsReapExec, image, lacksImage }: Allowed,
): Ending | string {
  const given = readInstructions(container, pod.annotations, allowsReapExec);
  if (typeof given === "string") return given;
  const quits = given.quits ?? (sidecar === undefined ? [] : quitsOf(sidecar, pod));
  const request: MethodRequest = { given, quits, sidecar };
  const objection = objectionTo({ image, args: quitCall(request) }, pod);
  const all: Readonly<Record<MethodKind, readonly Method[]>> = {
    exec: execs(container, request),
    "port-forward": forwards(container.name, quits),
    ephemeral: objection === undefined ? ephemerals(container.name, request, pod) : [],
  };
  // a pod on the node's network has the node's loopback, where other pods listen too
  const isOwn = ({ kind }: Method) => !pod.hasHostNetwork || (kind === "exec" && given.command !== undefined);
  const methods = allowed.flatMap((kind) => all[kind].filter(isOwn));
  if (methods.length === 0 && objection !== undefined && allowed.includes("ephemeral")) return objection;
  if (methods.length === 0) return noMethod(container.name, sidecar, { pod, allowed, allowsReapExec });
  const patienceMs = given.patienceMs ?? patienceOf(sidecar, pod.annotations);
  const wantsImage = lacksImage === true && quits.length > 0 && !pod.hasHostNetwork;
  return { container: container.name, methods, patienceMs, ...(wantsImage && { lacksImage: true }) };
}

interface MethodRequest {
  readonly sidecar: SidecarName | undefined;
  readonly given: PodInstructions;
  readonly quits: readonly QuitRequest[];
}

function execs(container: ContainerView, request: MethodRequest): readonly Method[] {
  const { given, quits, sidecar } = request;
  const exec = (command: readonly string[]): Method => ({ kind: "exec", container: container.name, command });
  if (given.command !== undefined)
    return [{ kind: "exec", container: container.name, command: given.command, isGiven: true }];
  const hasEbb = quits.length > 0 && container.hasEbb;
  const ebb = hasEbb ? [exec([EBB, ...quitCall(request)])] : [];
  const own = sidecar === undefined || given.quits !== undefined ? undefined : ownCommand(sidecar, quits);
  return own === undefined ? ebb : [...ebb, exec(own)];
}

/** Returns the command in the sidecar's own image that ends it; undefined if it has none. */
function ownCommand(sidecar: SidecarName, quits: readonly QuitRequest[]): readonly string[] | undefined {
  const port = quits.length === 1 && quits[0] !== undefined ? loopbackPort(quits[0].target) : undefined;
  return kindOf(sidecar).reaping?.().command?.(port);
}

function forwards(container: string, quits: readonly QuitRequest[]): readonly Method[] {
  const requests = quits.flatMap(({ method, target, headers = [] }): readonly PortRequest[] => {
    const port = loopbackPort(target);
    const credentials = basicCredentials({ target, headers });
    const all = credentials === undefined ? headers : [...headers, credentials];
    return port === undefined ? [] : [{ port, method, path: target.path, headers: all }];
  });
  return requests.length === 0 ? [] : [{ kind: "port-forward", container, requests }];
}

function ephemerals(container: string, request: MethodRequest, pod: PodView): readonly Method[] {
  if (request.quits.length === 0) return [];
  return [{ kind: "ephemeral", container, args: quitCall(request), env: variablesOf(request, pod) }];
}

/**
 * Lists the variables by which ebb finds this sidecar and its quit URL; none if the pod's annotations give the request.
 */
function variableNames({ sidecar, given }: MethodRequest): readonly string[] {
  if (sidecar === undefined || given.quits !== undefined) return [];
  return kindOf(sidecar).reaping?.().variables ?? [];
}

function variablesOf(request: MethodRequest, { containers }: PodView): readonly JsonObject[] {
  const variables = containers.flatMap((container) => container.variables);
  const found = variableNames(request).map((name) => variables.find((variable) => variable.name === name));
  return found.filter((variable) => variable !== undefined);
}

/**
 * Returns the arguments of an `ebb quit` for this sidecar alone. It gets no URL if ebb finds that by itself: an Envoy's
 * admin interface also if that is not at its usual place.
 */
function quitCall(request: MethodRequest): readonly string[] {
  const { sidecar, given } = request;
  const isFound = sidecar !== undefined && given.quits === undefined && isUsualAdmin(sidecar, request.quits);
  const quits = isFound || variableNames(request).length > 0 ? [] : request.quits;
  return ["quit", "--sidecar", request.sidecar ?? "none", ...quits.flatMap((quit) => ["--quit", serializeQuit(quit)])];
}

function noMethod(name: string, sidecar: SidecarName | undefined, { pod, allowed, allowsReapExec }: Allowed): string {
  const how = `say how with the annotation ebb.dev/reap-exec.${name}${allowsReapExec ? "" : " (and --allow-reap-exec)"}`;
  if (pod.hasHostNetwork) return `it is on its node's network, where a port may be another pod's: ${how}`;
  if (sidecar === undefined) return `ebb does not know how to end ${name}: ${how}, or ebb.dev/reap-quit.${name}`;
  return `none of the allowed methods (${allowed.join(", ")}) ends ${name}: allow more with --methods, or ${how}`;
}

/**
 * Describes a method for logs, Events and tables, without secrets: it leaves out headers, and all but the program of a
 * command that the pod gives.
 */
export function describeMethod(method: Method): string {
  switch (method.kind) {
    case "exec":
      return `exec in ${method.container}: ${describeCommand(method)}`;
    case "port-forward":
      return `${method.requests.map(({ method: verb, port, path }) => `${verb} localhost:${port}${redactUrl(path)}`).join(", ")} through a port-forward`;
    case "ephemeral":
      return `ephemeral container: ebb ${method.args.map(redactUrls).join(" ")}`;
  }
}

function describeCommand({ command, isGiven }: Extract<Method, { kind: "exec" }>): string {
  const [program = "", ...words] = command.map(redactUrls);
  if (isGiven === true && words.length > 0) return `${program} ...`;
  return [program, ...words].join(" ");
}
