import { excerpt } from "../../shared/http/core/http-framing.ts";
import { isApiFailure } from "../api/api-error.ts";
import { EXEC_PROTOCOL, execPath, exitIn, readOutput } from "../reaper/methods/exec.ts";
import type { EbbProgram } from "./core/ebb-in.ts";
import type { PodSession } from "./session.ts";

/** The most characters that are kept of what a program in a pod writes: it may only be called ebb. */
const KEPT = 1024 * 1024;

/** Runs the ebb in a pod. Resolves with what it writes to stdout, or why it does not come to a good end. */
export async function execEbb(
  { container, path }: EbbProgram,
  words: readonly string[],
  { api, pod, signal }: PodSession,
): Promise<{ readonly text: string } | { readonly why: string }> {
  const pieces = { 1: "", 2: "" };
  const decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
  try {
    const command = [path, ...words];
    using stream = await api.stream(execPath({ container, command }, pod), EXEC_PROTOCOL, { signal });
    const status = await readOutput(stream, (bytes, descriptor) => {
      if (pieces[descriptor].length < KEPT) pieces[descriptor] += decoders[descriptor].decode(bytes, { stream: true });
    });
    if (status === undefined) return { why: "the connection ended" };
    const exit = exitIn(status);
    if ("why" in exit) return exit;
    if (exit.code === "0") return { text: pieces[1] };
    return { why: `${command.join(" ")}: exit code ${exit.code}: ${excerpt(pieces[2], 200)}` };
  } catch (error) {
    if (signal.aborted || !isApiFailure(error)) throw error;
    return { why: error.message };
  }
}
