import { printable } from "../../core/base/text.ts";
import { EBB } from "../../core/inject/facts/command.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import { writeStreamed } from "../../system/output/output.ts";
import { isApiFailure } from "../api/api-error.ts";
import { EXEC_PROTOCOL, type Exit, execPath, exitIn, readOutput } from "../reaper/methods/exec.ts";
import type { PodSession } from "./session.ts";

/** An ebb in a container of a pod, or why there is none. */
export type FoundEbb = { readonly container: string; readonly path: string } | { readonly why: string };

/** Where ebb is: in its own image, where `ebb inject` puts it, anywhere else. */
const paths = ["/ebb", EBB, "ebb"];

/** Looks for ebb in running containers of a pod: the first program that says so of itself. */
export async function findEbb(containers: readonly string[], session: PodSession): Promise<FoundEbb> {
  let why = "no container runs that may have ebb";
  for (const container of containers) {
    for (const path of paths) {
      const said = await ask({ container, command: [path, "--version"] }, session);
      if ("output" in said && said.output.startsWith("ebb ")) return { container, path };
      why = "why" in said ? said.why : `container ${container} has no ebb`;
      if ("isFinal" in said) return { why };
    }
  }
  return { why };
}

type Said = { readonly output: string } | { readonly why: string; readonly isFinal?: true };

async function ask(command: Command, session: PodSession): Promise<Said> {
  let output = "";
  try {
    const exit = await run(command, session, (bytes) => {
      output += new TextDecoder().decode(bytes);
    });
    return "code" in exit && exit.code === "0" ? { output } : { why: `container ${command.container} has no ebb` };
  } catch (error) {
    if (session.signal.aborted || !isApiFailure(error)) throw error;
    return { why: error.message, isFinal: true };
  }
}

interface Command {
  readonly container: string;
  readonly command: readonly string[];
}

/** Runs a command in a pod, and resolves with its exit code, or why it did not come to its end. */
async function run(
  command: Command,
  { api, ref, signal }: PodSession,
  take: (bytes: Uint8Array, descriptor: 1 | 2) => unknown,
): Promise<Exit> {
  using stream = await api.stream(execPath(command, ref), EXEC_PROTOCOL, { signal });
  const status = await readOutput(stream, take);
  return status === undefined ? { why: "the connection ended" } : exitIn(status);
}

/**
 * Runs ebb in a pod. What it writes goes to stdout and stderr, escaped: another program may only say that it is ebb.
 * `take` gets its stdout instead. Resolves with its exit code. Rejects with Failure(69) if it does not come to its end.
 */
export async function execEbb(
  { container, path }: Exclude<FoundEbb, { why: string }>,
  words: readonly string[],
  session: PodSession,
  take?: (bytes: Uint8Array) => void,
): Promise<number> {
  const decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
  const exit = await run({ container, command: [path, ...words] }, session, (bytes, descriptor) => {
    if (take !== undefined && descriptor === 1) return take(bytes);
    const text = decoders[descriptor].decode(bytes, { stream: true });
    return writeStreamed(new TextEncoder().encode(printable(text)), descriptor);
  });
  if ("code" in exit) return Number(exit.code);
  throw new Failure(
    EXIT.unavailable,
    `pod ${session.ref.name}: ebb ${words[0]} in container ${container}: ${exit.why}`,
  );
}
