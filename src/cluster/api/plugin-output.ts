import type { Environment } from "../../shared/core/environment.ts";
import { SIG } from "../../shared/core/signal.ts";
import { MiB, readStreamWithin, tooMuch } from "../../shared/io/input.ts";
import { deadline } from "../../shared/io/timer.ts";
import { kill } from "../../shared/process/kill.ts";

/** Returns the environment of a program for credentials: EBB_ variables are left out, because they may hold secrets. */
export function withoutOwnVariables(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("EBB_")));
}

/** The most that a program for credentials may print: a hundred times a token or a certificate. */
const MOST_BYTES = MiB;

/** A program that was started with a pipe for its output. */
type Program = Pick<Bun.Subprocess<"inherit" | "ignore" | Blob, "pipe">, "pid" | "stdout" | "exited">;

/**
 * Reads the output of a program for credentials to its end. Resolves with it, and with the exit code. Kills the program,
 * or with `isGroup` its process group, and rejects if it does not end within `limitMs` or prints more than 1 MiB.
 */
export async function outputOf(
  { pid, stdout, exited }: Program,
  limitMs: number,
  isGroup: boolean,
): Promise<readonly [output: string, code: number]> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = deadline(limitMs, () => reject(new Error(`did not end within ${limitMs / 1000} s, and was killed`)));
  try {
    const ended = Promise.all([readStreamWithin(stdout, MOST_BYTES, tooMuch("its output")), exited]);
    const [output, code] = await Promise.race([ended, late]);
    return [output.toString(), code];
  } catch (error) {
    kill(isGroup ? -pid : pid, SIG.KILL); // a process that it started may hold its output open
    throw error;
  } finally {
    cancel();
  }
}
