import type { Address, HttpTarget } from "../../core/address.ts";
import type { Header } from "../../http/core/http-framing.ts";
import type { Fallback } from "./kinds/kind.ts";
import type { Probe } from "./probe.ts";
import type { SidecarName } from "./registry.ts";

/** A request that tells a sidecar to exit. */
export interface QuitRequest {
  readonly method: string;
  readonly target: HttpTarget;
  /** It is sent before the sidecars' own quits, and not instead of one. */
  readonly isAdditional?: true;
  /** Headers to send besides those that the user gives; a header of the user's with the same name wins. */
  readonly headers?: readonly Header[];
  readonly fallback?: Fallback;
  /** It must not be repeated once it may have arrived. */
  readonly mustNotRepeat?: true;
}

/** A sidecar of this pod, with the requests that are sent to it; `custom` if the user describes it by URLs alone. */
export interface Sidecar {
  readonly name: SidecarName | "custom";
  /** A native sidecar ends by itself after the app; a quit would only restart it. */
  readonly isNative: boolean;
  /** Its injector's annotation proves that it is in this pod. */
  readonly isProven?: true;
  /**
   * The admin interface of its Envoy, the user's headers for it, and the path there that drains the listeners. Undefined
   * if it is not an Envoy.
   */
  readonly envoy:
    | { readonly admin: HttpTarget; readonly headers?: readonly Header[]; readonly drainPath: string }
    | undefined;
  readonly ready: readonly Probe[];
  readonly quits: readonly QuitRequest[];
  /** Names of executables (`--signal-process`) whose processes are ended by signals. */
  readonly processes: readonly string[];
  /** Names of executables whose processes are ended by signals only if the sidecar takes no quit. */
  readonly lastResort?: readonly string[];
  /** When it exits after it has answered a quit, to end a sentence in the log. Undefined: at once. */
  readonly exitsWhen?: string;
  /** The port of its quit closes when it begins to exit, not when it has exited. */
  readonly closesFirst?: true;
  /** Where it listens as soon as it starts (`SidecarKind.alwaysOpen`); undefined if it may run with all ports closed. */
  readonly alwaysOpen?: Address;
  /**
   * Its admin socket, preferred once it exists: a path in which `*` stands for any part of a folder's name, and the path
   * of the quit there (undefined: the quits stay where they are).
   */
  readonly socket?: { readonly pattern: string; readonly quitPath: string | undefined };
}
