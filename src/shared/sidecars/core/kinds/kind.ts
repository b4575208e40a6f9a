import type { HttpTarget } from "../../../core/address.ts";
import type { Environment } from "../../../core/environment.ts";
import { parsePort } from "../../../core/host-port.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Header } from "../../../http/core/http-framing.ts";
import type { Inbound } from "../inbound.ts";
import type { Probe } from "../probe.ts";

/** The pod's annotations by their names. */
export type Annotations = ReadonlyMap<string, string>;

/** What a container can know of its pod: its environment, and the pod's annotations by the downward API. */
export interface OwnPod {
  readonly env: Environment;
  readonly annotations: Annotations;
}

/** Where a quit is sent, and where else if the connection there is refused. */
export interface QuitTarget {
  readonly target: HttpTarget;
  readonly fallback?: Fallback;
}

/** The second place of a quit, used if the connection to the first is refused. */
export interface Fallback {
  readonly target: HttpTarget;
  /** When the sidecar exits after a quit here: see `SidecarKind.exitsWhen`. */
  readonly exitsWhen?: string;
}

/** The node in an Envoy's answer to /server_info (envoyproxy.io, api-v3/config/core/v3/base.proto, Node). */
export interface EnvoyNode {
  readonly id: string;
  readonly metadata: JsonObject;
}

/** In what a pod differs from the defaults in its sidecar's `SidecarKind`. A field that is left out does not differ. */
export interface Adjustment {
  /** The base URL of the admin interface. */
  readonly admin?: string;
  readonly ready?: readonly Probe[];
  readonly quits?: readonly QuitTarget[];
  /** `ready` and `quits` are at addresses that the pod names, not at usual ones. */
  readonly isNamed?: true;
  /** None of its ports is open at all times (`SidecarKind.alwaysOpen`). */
  readonly alwaysOpen?: false;
  /** Headers for each quit. */
  readonly quitHeaders?: readonly Header[];
  readonly exitsWhen?: string;
}

/** How containers of this kind are recognized. */
interface ContainerMarks {
  /** Matches the container's name, as injectors and charts give it. */
  readonly name: RegExp;
  /** Matches the last part of its image's name, without tag and digest. */
  readonly image?: RegExp;
  /** Matches a name that an app may have, too, and the last part of the image's name that such a container must have. */
  readonly shared?: { readonly name: RegExp; readonly image: RegExp };
}

/** What the reaper needs to know of a sidecar beyond its quits. */
interface Reaping {
  /** Returns a command of the sidecar's own image that ends it, or undefined if there is none for this port. */
  readonly command?: (quitPort: number | undefined) => readonly string[] | undefined;
  /** Returns how many seconds the sidecar may take from its answer to its end. Left out: it ends at once. */
  readonly seconds?: (annotations: Annotations) => number;
  /** Names of variables of the app's containers that `ebb quit` needs to find the sidecar and to be let in. */
  readonly variables?: readonly string[];
}

/** A sidecar's container, as a pod's manifest shows it. */
export interface ShownContainer {
  /** The last part of its image's name, without tag and digest. */
  readonly image: string;
  /** Its command and its arguments, split at spaces too: they may be a shell's. `$(NAME)` has the variable's value. */
  readonly words: readonly string[];
  /** The TCP ports that it declares. */
  readonly ports: readonly number[];
  /** Its variables; undefined if the value is elsewhere (valueFrom). */
  readonly env: ReadonlyMap<string, string | undefined>;
}

/** What a manifest shows of a sidecar. */
export interface Shown {
  /** The port of its admin interface, if that was moved. */
  readonly port?: number;
  /** The ports at which it serves the app, if they are not the usual ones; empty: none, or none that can be seen. */
  readonly listeners?: readonly number[];
  /** Why it cannot be told to quit, and what to set. */
  readonly problem?: string;
  /** Whether its container says that it can, or ends by itself, whatever the pod's annotations say (`quitIsOff`). */
  readonly quitIsOn?: boolean;
  /** Whether its user has it wait after SIGTERM: then it gets no hook (`SidecarKind.needsHook`), after which it would wait, too. */
  readonly hasOwnDelay?: true;
}

/** What ebb knows of one sidecar, as data. Ports are on the pod's loopback. */
export interface SidecarKind {
  /** A helper runs beside a mesh's proxy, not instead of one: whether one is here says nothing of the other. */
  readonly role: "proxy" | "helper";
  /** The base URL of its admin interface; `--admin` replaces it. */
  readonly admin: string;
  /** The unix socket that is its admin interface instead, if it exists; `*` stands for a part of a folder's name. */
  readonly adminSocket?: string;
  /** The path on an Envoy's admin interface that drains its listeners. Undefined if it is not an Envoy. */
  readonly drainPath: string | undefined;
  /** The inbound side of its Envoy. Left out if it is not an Envoy, or if its user writes the configuration. */
  readonly inbound?: Inbound;
  /** The URL of its readiness endpoint. Undefined if it has none and is not waited for. */
  readonly ready: string | undefined;
  /** Readiness URLs of other versions and settings; any of them counts. */
  readonly orReady?: readonly string[];
  /** A 2xx answer of `ready` with this body says nothing of the proxy itself, and does not count. */
  readonly notReady?: string;
  /** Its readiness latches: once ready, it says so even while its Envoy drains. */
  readonly staysReady?: true;
  /** The path of readiness on the admin interface that `--admin` names. Undefined if `ready` is asked in any case. */
  readonly readyPath: string | undefined;
  /** The URL of its quit, which is a POST. */
  readonly quit: string;
  /** The path of the quit on the admin interface that `--admin` names. Undefined if `quit` is asked in any case. */
  readonly quitPath: string | undefined;
  /** If `quitPath` is undefined: the path there that ends it too, for where the port of `quit` may be another pod's. */
  readonly adminQuitPath?: string;
  /** For a mesh's Envoy: reports whether a node is of this kind. */
  readonly isNode?: (node: EnvoyNode) => boolean;
  /** For an Envoy: returns the pod's annotations that its node carries. */
  readonly annotationsOfNode?: (node: EnvoyNode) => Annotations;
  /** For others: the admin path that shows what it is, and whether the body of a 200 there is of this kind. */
  readonly identity?: { readonly path: string; readonly isShownBy: (body: string) => boolean };
  /** If any of these ports listens, it may be here. Empty if it is not detected by ports. */
  readonly ports: readonly number[];
  /** The variable that its injector sets in the app's container. */
  readonly variable?: string;
  /** Variables by which users tell other tools of it. */
  readonly userVariables?: readonly string[];
  /** The annotation of pods that have it. A value such as `false` counts as none. */
  readonly annotation: string | undefined;
  /** The annotation is the user's, who asks for the sidecar, and not its injector's, which has added it. */
  readonly annotationIsWish?: true;
  /** Returns false if the pod has the annotation, but no container of the sidecar. */
  readonly isInjected?: (annotations: Annotations) => boolean;
  /** Reports whether the pod's annotations say that it is a native sidecar, under initContainers. */
  readonly isNative: (annotations: Annotations) => boolean;
  /** Returns the names of the ordinary containers that its injector says it has added. */
  readonly injected?: (annotations: Annotations) => readonly string[];
  /** Returns in what the pod differs from these defaults, or undefined if it does not. */
  readonly adjust?: (pod: OwnPod) => Adjustment | undefined;
  /** When it exits after it has answered a quit, to end a sentence in the log. Left out: at once. */
  readonly exitsWhen?: string;
  /** The port of its quit closes when it begins to exit, not when it has exited. */
  readonly closesFirst?: true;
  /**
   * The port that it opens as soon as it starts: that, or another one of its quit, readiness and admin interface, is
   * open until it has ended. Left out: it may run with all of them closed.
   */
  readonly alwaysOpen?: "quit" | "admin";
  /** A second quit harms it: a quit is repeated only if the first cannot have arrived. */
  readonly quitMustNotRepeat?: true;
  /** Returns, by HTTP status, what a refusal of a quit means and what to change. */
  readonly refusals: () => Readonly<Record<number, string>>;
  /** Returns why the quit of a sidecar that is here may be refused, and what to change. Left out: see --admin. */
  readonly unreachable?: () => string;
  /** The agent beside its Envoy, and its port, which it closes when it is told to stop, long before Envoy ends. */
  readonly agent?: {
    readonly name: string;
    readonly port: number;
    /**
     * The path, at the quit's address, of a POST after which it leaves as soon as it gets SIGTERM. Older versions do not
     * have it.
     */
    readonly leavePath?: string;
  };
  readonly containers: () => ContainerMarks;
  /** Returns what the manifest shows of its container. */
  readonly inManifest?: (container: ShownContainer) => Shown;
  /**
   * Returns why the pod's annotations keep it from being told to quit, and what to set; undefined if they do not. `isShown`:
   * whether the manifest itself has it as an ordinary container.
   */
  readonly quitIsOff?: (annotations: Annotations, isShown: boolean) => string | undefined;
  /** Returns why files that it writes are not there when the app starts, and what to set; undefined if they are. */
  readonly filesComeLate?: (annotations: Annotations) => string | undefined;
  /** The names of its programs in /proc (15 characters at most). */
  readonly programs: readonly string[];
  /** Prefixes of annotations that concern it, and of such variables in the app's containers. */
  readonly annotationPrefixes: readonly string[];
  readonly variablePrefixes?: readonly string[];
  /** `ebb inject` gives its ordinary container a preStop hook: by itself it would end before the app. */
  readonly needsHook?: true;
  /** For an ordinary one: the setting of the time after its SIGTERM at which it ends, and that in ms, if annotated. */
  readonly ownDrain?: { readonly setting: string; readonly ms: (annotations: Annotations) => number | undefined };
  /** At SIGTERM it exits at once: where it stays on, a preStop hook of its container keeps it. */
  readonly stopsAtOnce?: true;
  readonly reaping?: () => Reaping;
}

/** Reports whether an annotation's value is true for the meshes' injectors: `true`, `yes`, `1`, `on`, `enabled`. */
export function saysYes(value: string | undefined): boolean {
  return value !== undefined && /^(true|t|yes|y|1|on|enabled)$/i.test(value);
}

/** Returns an adjustment that puts the admin interface on this port of localhost, or {} if the text is not a port. */
export function adminOn(text: string | undefined): Adjustment {
  const port = portOf(text);
  return port === undefined ? {} : { admin: `http://localhost:${port}` };
}

/** Parses the port in a variable or annotation. Returns undefined if there is no valid port. */
export function portOf(text = ""): number | undefined {
  return parsePort(text);
}

/** Returns the target `http://localhost:PORT` with this path. */
export function onPort(port: number, path: string): HttpTarget {
  const address = { kind: "tcp", host: "localhost", port } as const;
  return { address, isSecure: false, authority: `localhost:${port}`, path };
}

/** Parses an annotation of whole seconds, of at most five digits. Returns `fallback` if there is no such value. */
export function secondsIn(annotations: Annotations, name: string, fallback: number): number {
  const text = annotations.get(name) ?? "";
  return /^\d{1,5}$/.test(text) ? Number(text) : fallback;
}
