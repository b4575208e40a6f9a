import type { SidecarName } from "../../src/shared/sidecars/core/registry.ts";
import type { Container, Pod } from "./pod.ts";

/** A real program beside an app, and what its tests need to know of it. */
export interface Subject {
  /** The program and its version. */
  readonly title: string;
  readonly sidecar: SidecarName;
  /** The sign by which ebb says that it found it; undefined if its user has to name it. */
  readonly foundBy: RegExp | undefined;
  /** The variables that its injector sets in the app's container. */
  readonly env: Readonly<Record<string, string>>;
  /** `PORT/path` of its readiness, and the status that means ready. */
  readonly ready: { readonly at: string; readonly status: number };
  /** Its exit code after a quit. */
  readonly exitCode: number;
  /** Whether its process may end before the answer to a quit is sent. */
  readonly cutsQuitAnswer?: true;
  /** The outcome that ebb logs of its quit. */
  readonly quitOutcome: RegExp;
  /** ebb's exit code and outcome of a second quit, after the first. */
  readonly secondQuit: { readonly code: number; readonly outcome: RegExp };
  /** Whether it takes a quit before it is ready. */
  readonly isUpWhileHeld: boolean;
  /** Starts it in a pod. If `isHeld`, it lacks something that it needs to be ready, until it is released. */
  start(pod: Pod, isHeld?: boolean): Promise<Beside>;
}

/** A subject that runs. */
export interface Beside {
  /** The container of its main process, with which the container ends. */
  readonly container: Container;
  /** Its admin interface, `unix:/path`; undefined if that is where ebb's table says. */
  readonly admin?: string;
  /** Gives it what it needs to be ready, if it was held. */
  release(): Promise<void>;
}
