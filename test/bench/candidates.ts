import { existsSync } from "node:fs";
import { ebbPath } from "../harness/ebb.ts";

/** A tool that takes part in a measurement. */
export interface Candidate {
  readonly name: string;
  readonly path: string;
  readonly kind: Kind;
}

/**
 * A tool's task: to run the child without a sidecar (`none`), to wait for one (`leave`), or to end it after the child
 * too (`quit`).
 */
export type Task = "none" | "leave" | "quit";

export interface CommandLine {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Kind {
  /** Returns the words before the child's; undefined if the tool cannot do the task. */
  words(path: string, task: Task, url: string): readonly string[] | undefined;
}

const kinds = {
  ebb: { words: (path, task) => (task === "none" ? [path, "run", "--sidecar", "none", "--"] : [path, "run", "--"]) },
  scuttle: { words: (path) => [path] },
  "envoy-preflight": { words: (path) => [path] },
  "linkerd-await": { words: linkerdAwait },
  tini: { words: withoutSidecar },
  "dumb-init": { words: withoutSidecar },
  "pilot-agent": { words: pilotAgent },
} as const satisfies Readonly<Record<string, Kind>>;

/**
 * Returns linkerd-await's words. Without --shutdown it becomes the child; the only quit that it sends is a shutdown.
 */
function linkerdAwait(path: string, task: Task, url: string): readonly string[] {
  const port = task === "none" ? [] : ["--port", url.replace(/.*:/, "")];
  return [path, ...port, ...(task === "quit" ? ["--shutdown"] : []), "--"];
}

function withoutSidecar(path: string, task: Task): readonly string[] | undefined {
  return task === "none" ? [path, "--"] : undefined;
}

/** Returns the shell's words around `pilot-agent wait`; its `request` reaches no sidecar at any other port than Istio's. */
function pilotAgent(path: string, task: Task, url: string): readonly string[] | undefined {
  return task === "leave" ? ["/bin/sh", "-c", `"$0" wait --url ${url}/ready && exec "$@"`, path] : undefined;
}

export const ebb: Candidate = { name: "ebb", path: ebbPath, kind: kinds.ebb };

/**
 * Reads the value of --rival: `scuttle=PATH`, or with a suffix `scuttle-old=PATH`, which is of scuttle's kind too;
 * `ebb-old=PATH` is another ebb. @throws Error that says what is expected
 */
export function parseRival(given: string): Candidate {
  const [, name = "", path = ""] = /^([^=]+)=(.+)$/.exec(given) ?? [];
  const kind = Object.entries(kinds).find(([known]) => name === known || name.startsWith(`${known}-`))?.[1];
  if (kind === undefined || path === "")
    throw new Error(
      `--rival: expected NAME=PATH, NAME starting with one of ${Object.keys(kinds).join(", ")}: ${given}`,
    );
  if (!existsSync(path)) throw new Error(`--rival: no such file: ${path}`);
  return { name, path, kind };
}

/**
 * Returns the command line with which a tool does a task for a child, beside the sidecar at `url`. @throws Error if it
 * cannot
 */
export function commandLine(
  { kind, path, name }: Candidate,
  task: Task,
  url: string,
  child: readonly string[],
): CommandLine {
  const words = kind.words(path, task, url);
  if (words === undefined) throw new Error(`${name} knows no sidecar`);
  return { words: [...words, ...child], env: environment(task, url) };
}

/**
 * Returns the variables for a task, the same for all tools: those of scuttle and envoy-preflight, which ebb knows too.
 */
function environment(task: Task, url: string): Readonly<Record<string, string>> {
  if (task === "none") return { LINKERD_AWAIT_DISABLED: "true" };
  const quit: Record<string, string> =
    task === "quit"
      ? { ISTIO_QUIT_API: url, ALWAYS_KILL_ENVOY: "true" }
      : { NEVER_KILL_ISTIO: "true", NEVER_KILL_ENVOY: "true" };
  return { ENVOY_ADMIN_API: url, ...quit };
}

/** Returns the tools that can do a task. */
export function ableTo(task: Task, candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ kind, path }) => kind.words(path, task, shownUrl) !== undefined);
}

/** Returns the variables and the commands for a task, each a line, as somebody would type them. */
export function shown(task: Task, candidates: readonly Candidate[], child: string): readonly string[] {
  const variables = Object.entries(environment(task, shownUrl)).map(([name, value]) => `${name}=${value}`);
  const commands = candidates.map(({ kind, name }) => [...(kind.words(name, task, shownUrl) ?? []), child].join(" "));
  return [variables.join(" "), ...new Set(commands)];
}

const shownUrl = "http://127.0.0.1:PORT";
