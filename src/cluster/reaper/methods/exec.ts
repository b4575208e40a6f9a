import { listOf, objectOf, textOf } from "../../../shared/core/json.ts";
import { excerpt } from "../../../shared/http/core/http-framing.ts";
import type { Stream } from "../../api/stream.ts";
import type { EndResult, Unanswered } from "../core/attempt.ts";
import type { Method } from "../core/methods.ts";
import type { PodRef } from "../core/pod-view.ts";
import { isLate, isStale, openPodStream, type PodTarget, pathOf, refusedBecause, type SendSettings } from "./target.ts";

type Exec = Extract<Method, { kind: "exec" }>;

/** kubernetes staging/src/k8s.io/apimachinery/pkg/util/remotecommand: stdout, stderr, and how the command ended. */
export const EXEC_PROTOCOL = "v5.channel.k8s.io";
const channels = { stdout: 1, stderr: 2, status: 3 } as const;

/**
 * Runs a command in the sidecar's container by pods/exec, and waits for its end. Exit code 0 and SIGKILL (137) count as
 * taken.
 */
export async function sendByExec(
  method: Exec,
  target: PodTarget,
  { api }: Pick<SendSettings, "api">,
): Promise<EndResult | Unanswered> {
  if (isStale(target)) {
    const why = "the API server is too slow to say which pod has the name now";
    return { kind: "refused", why, isUnasked: true };
  }
  try {
    using stream = await openPodStream(api, target, { path: execPath(method, target.pod), protocol: EXEC_PROTOCOL });
    return await resultOf(stream);
  } catch (error) {
    if (!isLate(error)) throw error;
    return { kind: "unanswered", why: error.message }; // the API server may go on with the command
  }
}

/** Returns the API path that runs a command in a container. */
export function execPath({ container, command }: Pick<Exec, "container" | "command">, pod: PodRef): string {
  const query = new URLSearchParams({ container, stdout: "true", stderr: "true" });
  for (const word of command) query.append("command", word);
  return `${pathOf(pod)}/exec?${query}`;
}

/**
 * Reads the stream to its end. A stream that ends without a status counts as taken: the sidecar, or the connection, has
 * gone. The watch will tell.
 */
async function resultOf(stream: Stream): Promise<EndResult> {
  let output = "";
  const status = await readOutput(stream, (bytes) => {
    if (output.length < KEPT) output += new TextDecoder().decode(bytes);
  });
  return status === undefined ? { kind: "taken" } : judge(status, output);
}

/**
 * Calls `take` with what a command writes, and whether that is to 1 or 2. Resolves with the status (JSON) that ends the
 * stream; undefined if it ends without one.
 */
export async function readOutput(
  stream: Stream,
  take: (bytes: Uint8Array, descriptor: 1 | 2) => unknown,
): Promise<string | undefined> {
  for (;;) {
    const message = await stream.next();
    if (message === undefined) return undefined;
    const [channel] = message;
    if (channel === channels.status) return new TextDecoder().decode(message.subarray(1));
    await take(message.subarray(1), channel === channels.stderr ? channels.stderr : channels.stdout);
  }
}

/** Characters of a command's output that are kept: enough for a reason. */
const KEPT = 4096;

/** The exit code of SIGKILL, with which the kernel ends what runs in a container. */
const KILLED = "137";

/** The exit code of a command, or why it could not be started. */
type Exit = { readonly code: string } | { readonly why: string };

/**
 * Returns the exit code in a command's status (meta/v1 Status, with NonZeroExitCode if the command has failed), or why
 * it could not be started.
 */
export function exitIn(text: string): Exit {
  const { status, message, reason, details } = objectOf(parse(text));
  if (status === "Success") return { code: "0" };
  const causes = listOf(objectOf(details).causes).map(objectOf);
  const code = reason === "NonZeroExitCode" ? causes.find((cause) => cause.reason === "ExitCode")?.message : undefined;
  return typeof code === "string" && /^\d+$/.test(code) ? { code } : { why: textOf(message) ?? excerpt(text, 200) };
}

function judge(text: string, output: string): EndResult {
  const exit = exitIn(text);
  const shown = output.trim() === "" ? "" : `: ${excerpt(output, 200)}`;
  if ("why" in exit)
    return isBackend(exit.why) ? { kind: "unavailable", ...exit } : refusedBecause(`${exit.why}${shown}`);
  const isTaken = exit.code === "0" || exit.code === KILLED;
  return isTaken ? { kind: "taken" } : refusedBecause(`exit code ${exit.code}${shown}`);
}

/** Reports whether the kubelet could not be reached (kubernetes staging/src/k8s.io/apiserver/pkg/util/proxy). */
function isBackend(why: string): boolean {
  return why.includes("error dialing backend");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the reason is then the text itself
  }
}
