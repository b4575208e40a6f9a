import type { HttpTarget } from "../base/address.ts";
import type { Header } from "../base/http-framing.ts";
import type { Otherwise } from "./kinds/kind.ts";
import type { Probe } from "./probe.ts";
import type { SidecarName } from "./registry.ts";

export interface QuitRequest {
  readonly method: string;
  readonly target: HttpTarget;
  /** Asked before the sidecars' own quits, not instead of one. */
  readonly isMore?: true;
  /** Besides those that the user gives. */
  readonly headers?: readonly Header[];
  readonly otherwise?: Otherwise;
  /** It must not be repeated once it may have been heard. */
  readonly isOnce?: true;
}

/** A sidecar of this pod, or what the user said of one with URLs alone. */
export interface Sidecar {
  readonly name: SidecarName | "custom";
  /** A native sidecar ends by itself after the app; a quit would only restart it. */
  readonly isNative: boolean;
  /** Its Envoy: the admin interface, and the path there that drains its listeners. Undefined where it is none. */
  readonly envoy: { readonly admin: HttpTarget; readonly drainPath: string } | undefined;
  readonly ready: readonly Probe[];
  readonly quits: readonly QuitRequest[];
  /** Executables whose processes are ended by signals, as `--signal-process` has them. */
  readonly processes: readonly string[];
  /** The same, where nothing else has ended it. */
  readonly lastResort?: readonly string[];
  /** It takes a quit, answers, and goes later: when. Undefined: it goes at once. */
  readonly leaves?: string;
  /** The port of its quit closes when it begins to leave, not when it is gone. */
  readonly closesFirst?: true;
  /** Its admin interface is on this socket instead, once that is there. */
  readonly socket?: { readonly pattern: string; readonly quitPath: string | undefined };
}
