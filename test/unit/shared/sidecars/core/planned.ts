import { describeTarget, parseHttpTarget } from "../../../../../src/shared/core/address.ts";
import type { Header } from "../../../../../src/shared/http/core/http-framing.ts";
import { parseExecutable } from "../../../../../src/shared/sidecars/core/executable.ts";
import type { SidecarUrls } from "../../../../../src/shared/sidecars/core/own-probes.ts";
import { foundIn, planSidecars } from "../../../../../src/shared/sidecars/core/plan.ts";
import { describeProbe, parseProbe } from "../../../../../src/shared/sidecars/core/probe.ts";
import { describeQuit, parseQuitOption } from "../../../../../src/shared/sidecars/core/quit.ts";
import type { SidecarName } from "../../../../../src/shared/sidecars/core/registry.ts";
import type { QuitRequest, Sidecar } from "../../../../../src/shared/sidecars/core/sidecar.ts";

export type Table = Readonly<Record<string, string>>;

export interface Pod {
  readonly env?: Table;
  readonly annotations?: Table;
}

/** The values of flags: --admin, --ready, --quit, --signal-process and --ready-path. */
export interface Given {
  readonly admin?: string;
  readonly ready?: readonly string[];
  readonly quit?: readonly string[];
  readonly signalProcess?: readonly string[];
  readonly readyPath?: string;
  readonly header?: readonly Header[];
}

/** Plans what is asked of the named sidecars in a pod, with these flags. */
export function plan(names: readonly SidecarName[], { env = {}, annotations = {} }: Pod = {}, given: Given = {}) {
  return planSidecars(foundIn({ env, annotations: new Map(Object.entries(annotations)) }, names), urlsOf(given));
}

/** Returns the values of flags. */
export function urlsOf(given: Given): SidecarUrls {
  return {
    admin: given.admin === undefined ? undefined : must(parseHttpTarget(given.admin)),
    ready: (given.ready ?? []).map((text) => must(parseProbe(text))),
    quit: (given.quit ?? []).map((text) => must(parseQuitOption(text))),
    signalProcess: (given.signalProcess ?? []).map((text) => must(parseExecutable(text))),
    readyPath: given.readyPath,
    ...(given.header && { header: given.header }),
  };
}

/**
 * Describes a sidecar in one line, without `http://localhost`: its name, `, native` behind a native one's, what is asked,
 * told to quit, and signalled.
 */
export function inWords({ name, isNative, ready, quits, processes, lastResort = [] }: Sidecar): string {
  const signals = [...processes.map((file) => `signal ${file}`), ...lastResort.map((file) => `at last signal ${file}`)];
  const all = [isNative ? `${name}, native` : name, ...ready.map(describeProbe), ...quits.map(quitInWords), ...signals];
  return all.join("; ").replaceAll("http://localhost:", ":");
}

/** Describes a quit request, with the target that it falls back to. */
function quitInWords(quit: QuitRequest): string {
  return quit.fallback === undefined
    ? describeQuit(quit)
    : `${describeQuit(quit)}, else ${describeTarget(quit.fallback.target)}`;
}

/** Returns a value that is not undefined. @throws Error if it is */
export function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("not readable");
  return value;
}
