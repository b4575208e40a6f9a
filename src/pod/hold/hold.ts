import { describeTarget, withPath } from "../../shared/core/address.ts";
import type { Log } from "../../shared/output/log.ts";
import { kindOf } from "../../shared/sidecars/core/registry.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import type { Announcement } from "../announce/core/announcement.ts";
import { connectAdmin, type EnvoyTarget, isAnswer } from "../envoy/admin.ts";

interface HoldOptions {
  /** Returns the `ebb run`s of other containers whose commands run, and whether all of them have drained. */
  readonly look: () => { readonly running: readonly Announcement[]; readonly haveDrained: boolean };
  /** Resolves with the sidecars of this pod. Logs what it finds, or why it finds none. Called once at most. */
  readonly find: () => Promise<readonly Sidecar[]>;
  readonly log: Log;
  /** Ends the hold early if it is aborted. */
  readonly signal: AbortSignal;
}

const LOOK_MS = 20;

/**
 * Waits until no `ebb run` of another container is left. Once all of them have drained, closes the inbound listeners of
 * the pod's ordinary Envoys: their apps no longer serve, and a late client had better go elsewhere. At the end tells an
 * agent that would wait after its SIGTERM not to. Never rejects for what a proxy does.
 */
export async function hold(options: HoldOptions): Promise<void> {
  const { look, find, signal } = options;
  let finding: Promise<readonly Sidecar[]> | undefined;
  const ask = async (step: typeof closeInbound): Promise<void> => {
    try {
      finding ??= find();
      await step(await finding, options);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  let closing: Promise<void> | undefined;
  for (;;) {
    const { running, haveDrained } = look();
    if (signal.aborted) return;
    if (running.length === 0) break;
    if (haveDrained) closing ??= ask(closeInbound);
    await Bun.sleep(LOOK_MS);
  }
  await closing;
  await ask(letLeave);
}

/** Without `graceful`, Envoy closes them at once (envoy source/server/admin/listeners_handler.cc). */
const CLOSE_INBOUND = "/drain_listeners?inboundonly";

async function closeInbound(sidecars: readonly Sidecar[], options: HoldOptions): Promise<void> {
  for (const { name, isNative, envoy } of sidecars) {
    if (isNative || envoy === undefined) continue;
    const done = "closed the inbound listeners: the apps stop, and calls out go on";
    await post(name, envoy, CLOSE_INBOUND, { ...options, done });
  }
}

/** Tells each agent beside an ordinary Envoy to leave at its SIGTERM, and not only after a drain of its own. */
async function letLeave(sidecars: readonly Sidecar[], options: HoldOptions): Promise<void> {
  for (const { name, isNative, envoy, quits } of sidecars) {
    const leavePath = name === "custom" ? undefined : kindOf(name).agent?.leavePath;
    const [quit] = quits;
    if (isNative || leavePath === undefined || quit === undefined) continue;
    if (envoy?.admin.authority === quit.target.authority) continue; // the agent has no port: that quit is Envoy's own
    await post(name, { admin: { ...quit.target, path: "/" } }, leavePath, {
      ...options,
      done: "told the agent to leave at its SIGTERM",
    });
  }
}

async function post(
  sidecar: Sidecar["name"],
  target: EnvoyTarget,
  path: string,
  { log, signal, done }: HoldOptions & { readonly done: string },
): Promise<void> {
  using admin = connectAdmin(target, signal);
  const request = `POST ${describeTarget(withPath(target.admin, path))}`;
  const outcome = await admin.post(path);
  if (isAnswer(outcome)) log.info({ sidecar, request }, done);
  else log.warn({ sidecar, request, reason: outcome.reason }, "the proxy did not do what ebb hold asked for");
}
