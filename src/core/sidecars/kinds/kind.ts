import type { HttpTarget } from "../../base/address.ts";
import type { Environment } from "../../base/environment.ts";
import { parsePort } from "../../base/host-port.ts";
import type { Header } from "../../base/http-framing.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Inbound } from "../../envoy/inbound.ts";
import type { Probe } from "../probe.ts";

/** The pod's annotations, as the downward API gives them. */
export type Annotations = ReadonlyMap<string, string>;

/** What a container can know of its pod. */
export interface PodFacts {
  readonly env: Environment;
  readonly annotations: Annotations;
}

/** Where a quit goes, and where else if nobody listens there. */
export interface QuitTarget {
  readonly target: HttpTarget;
  readonly otherwise?: Otherwise;
}

/** Asked where nobody listens at the first place. */
export interface Otherwise {
  readonly target: HttpTarget;
  /** When it goes after that. */
  readonly leaves?: string;
}

/** Which pod this is, as far as that is known or said. */
export interface PodIdentity {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
}

/** What an Envoy says of itself at /server_info (envoyproxy.io, api-v3/config/core/v3/base.proto, Node). */
export interface EnvoyNode {
  readonly id: string;
  readonly cluster: string;
  readonly metadata: JsonObject;
}

/** Where a pod differs from the sidecar's defaults. */
export interface Adjustment {
  readonly admin?: string;
  readonly ready?: readonly Probe[];
  /** Where quits are sent. */
  readonly quits?: readonly QuitTarget[];
  /** For the quits. */
  readonly quitHeaders?: readonly Header[];
  readonly leaves?: string;
}

/** How containers of this kind are recognized. */
export interface ContainerMarks {
  /** The container's name, as injectors and charts give it. */
  readonly name: RegExp;
  /** The last part of its image's name. */
  readonly image?: RegExp;
}

/** What the reaper knows of it beyond its quits. */
export interface Reaping {
  /** A command in the sidecar's own image that ends it; undefined: there is none. */
  readonly command?: (quitPort: number | undefined) => readonly string[] | undefined;
  /** Seconds that it may take from its answer to its end; undefined: it ends at once. */
  readonly seconds?: (annotations: Annotations) => number;
  /** Variables of the app's containers by which `ebb quit` finds and asks it. */
  readonly variables?: readonly string[];
}

/** What ebb knows of one sidecar, as data. Ports are on the pod's loopback. */
export interface SidecarKind {
  /** It stands beside a mesh's proxy, not in its place: what tells of the one says nothing of the other. */
  readonly isCompanion: boolean;
  /** The base of its admin interface; `--admin` replaces it. */
  readonly admin: string;
  /** Where its admin interface is instead, if that socket is there; `*` stands for one part of a folder's name. */
  readonly adminSocket?: string;
  /** The path on an Envoy's admin interface that drains its listeners; undefined: it is no Envoy. */
  readonly drainPath: string | undefined;
  /** What of its Envoy is inbound; undefined: it is no Envoy, or its configuration is its user's own. */
  readonly inbound?: Inbound;
  /** Its own readiness endpoint; undefined: it has none, and is not waited for. */
  readonly ready: string | undefined;
  /** Readiness elsewhere, of other versions and settings: any of these is as good. */
  readonly orReady?: readonly string[];
  /** An answer of `ready` with this text says nothing of the proxy itself. */
  readonly notReady?: string;
  /** Once it has said ready it says so for ever, also while its Envoy drains. */
  readonly staysReady?: true;
  /** Where readiness is asked when `--admin` says where the admin interface is; undefined: `ready` stays. */
  readonly readyPath: string | undefined;
  readonly quit: string;
  /** Where quit is sent when `--admin` is given; undefined: `quit` stays. */
  readonly quitPath: string | undefined;
  /** Of an Envoy: the pod that its node names, as far as it does; undefined: this node is none of this kind. */
  readonly podOfNode?: (node: EnvoyNode) => PodIdentity | undefined;
  /** Of an Envoy: the pod's annotations that its node carries. */
  readonly annotationsOfNode?: (node: EnvoyNode) => Annotations;
  /** Of what is no Envoy: the path where it names its pod, and what an answer says; undefined: that is none of this kind. */
  readonly podAt?: { readonly path: string; readonly read: (body: string) => PodIdentity | undefined };
  /** Any of these listening suggests that it is here. */
  readonly ports: readonly number[];
  /** The variable that its injector sets in the app's container. */
  readonly variable?: string;
  /** Variables of the user that name it: those of other tools. */
  readonly userVariables?: readonly string[];
  /** The annotation on the pods that have it; a value that says no is none. */
  readonly annotation: string | undefined;
  /** False: the pod has the annotation, but no such container. */
  readonly isInjected?: (annotations: Annotations) => boolean;
  readonly isNative: (annotations: Annotations) => boolean;
  /** The containers that the injector says it has added, by their names. */
  readonly injected?: (annotations: Annotations) => readonly string[];
  readonly adjust?: (pod: PodFacts) => Adjustment | undefined;
  /** It takes a quit, answers, and goes later: when. Undefined: it goes at once. */
  readonly leaves?: string;
  /** The port of its quit closes when it begins to leave, not when it is gone. */
  readonly closesFirst?: true;
  /** A second quit harms it: it is asked again only where nobody was there to hear the first. */
  readonly quitsOnce?: true;
  /** What a refusal means, by HTTP status, and what to change. */
  readonly refusals: () => Readonly<Record<number, string>>;
  /** What it means that nobody listens where the quit goes although the sidecar is here, and what to change; undefined: --admin. */
  readonly unreachable?: () => string;
  /** Its agent beside its Envoy: the port that it closes when it is told to stop, long before Envoy ends. */
  readonly agent?: { readonly name: string; readonly port: number };
  readonly containers: () => ContainerMarks;
  /** Its programs, by their names in /proc (15 characters at most). */
  readonly programs: readonly string[];
  /** Beginnings of annotations that say something of it, and of variables in the app's containers. */
  readonly annotationPrefixes: readonly string[];
  readonly variablePrefixes?: readonly string[];
  /** `ebb inject` gives its ordinary container a hook that drains it, because it does not drain for long enough by itself. */
  readonly needsDrainHook?: true;
  readonly reaping?: () => Reaping;
}

/** Whether a value of an annotation is true, as the meshes' injectors read it: `true`, `yes`, `1`, `on`, `enabled`. */
export function saysYes(value: string | undefined): boolean {
  return value !== undefined && /^(true|t|yes|y|1|on|enabled)$/i.test(value);
}

/** Moves the admin interface to the port in a variable or annotation; changes nothing where that is no port. */
export function adminOn(text: string | undefined): Adjustment {
  const port = portOf(text);
  return port === undefined ? {} : { admin: `http://localhost:${port}` };
}

/** Parses the port in an annotation; undefined where there is no valid one. */
export function portOf(text = ""): number | undefined {
  return parsePort(text);
}

/** Returns a URL on this pod's loopback. */
export function onPort(port: number, path: string): HttpTarget {
  const address = { kind: "tcp", host: "localhost", port } as const;
  return { address, isSecure: false, authority: `localhost:${port}`, path };
}

/** Parses the whole seconds in an annotation; `otherwise` where it has none. */
export function secondsIn(annotations: Annotations, name: string, otherwise: number): number {
  const text = annotations.get(name) ?? "";
  return /^\d{1,5}$/.test(text) ? Number(text) : otherwise;
}

/** Splits `web-0.shop` into a pod's name and its namespace. A namespace has no dots, a pod's name may. */
export function splitAtLastDot(text: string): PodIdentity {
  const dot = text.lastIndexOf(".");
  return dot <= 0 || dot === text.length - 1 ? {} : { name: text.slice(0, dot), namespace: text.slice(dot + 1) };
}
