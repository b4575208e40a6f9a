import { SIG } from "../../shared/core/signal.ts";
import type { HttpAnswer } from "../../shared/http/core/http-framing.ts";
import { kill } from "../../shared/process/kill.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { quitAll } from "./quit.ts";
import { type Ask, askServer } from "./send-quit.ts";

const TIMEOUT_MS = 100;

/** An address that can have no listener: /proc takes no new file. */
const nowhere = {
  path: "/",
  authority: "nowhere",
  isSecure: false,
  address: { kind: "unix", path: "/proc/nowhere" },
} as const;

const answer: HttpAnswer = { status: 200, headers: new Map(), body: "", isReusable: false };

/**
 * Runs the code of a quit once, without sending anything, and raises one SIGCHLD: JavaScript that has run before is
 * faster.
 *
 * From the child's end to the quit it saves a third, for 0.15 MB (measured: exit-to-quit in test/bench).
 */
export async function rehearseQuit(name: Sidecar["name"]): Promise<void> {
  kill(process.pid, SIG.CHLD);
  const quits = [{ method: "POST", target: nowhere }];
  const sidecar = { name, isNative: false, envoy: undefined, ready: [], quits, processes: [] };
  await quitAll([sidecar], { timeoutMs: TIMEOUT_MS, headers: [], known: () => "up", ask: askAndPretend });
}

const askAndPretend: Ask = async (request, signal) => {
  await askServer(request, signal).catch(() => undefined); // refused, as it must be
  return answer;
};
