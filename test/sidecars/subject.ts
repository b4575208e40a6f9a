import type { SidecarName } from "../../src/core/sidecars/registry.ts";
import type { Container, Pod } from "./pod.ts";

/** A real program beside an app, and what its tests need to know of it. */
export interface Subject {
  /** Program and version. */
  readonly title: string;
  readonly sidecar: SidecarName;
  /** What ebb says it was found by; undefined: its user has to name it. */
  readonly foundBy: RegExp | undefined;
  /** What its injector sets in the app's container. */
  readonly env: Readonly<Record<string, string>>;
  /** `PORT/path` of its readiness, and the status that says yes. */
  readonly ready: { readonly at: string; readonly status: number };
  /** Its own exit code after a quit. */
  readonly exitCode: number;
  /** Its process may end before the answer to a quit is sent. */
  readonly cutsQuitAnswer?: true;
  /** What ebb says of its end. */
  readonly quitOutcome: RegExp;
  /** What a second quit, after the first, ends with: ebb's exit code and outcome. */
  readonly secondQuit: { readonly code: number; readonly outcome: RegExp };
  /** Whether it takes a quit before it is ready. */
  readonly isUpWhileHeld: boolean;
  /** `isHeld`: what it needs to be ready is not there until it is released. */
  start(pod: Pod, isHeld?: boolean): Promise<Beside>;
}

/** It runs. */
export interface Beside {
  /** Its main process: the one that its container ends with. */
  readonly container: Container;
  /** Where its admin interface is, `unix:/path`, if not where ebb's table says. */
  readonly admin?: string;
  /** Gives it what it needs. */
  release(): Promise<void>;
}
