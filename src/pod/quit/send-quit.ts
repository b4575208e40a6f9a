import type { Address } from "../../shared/core/address.ts";
import { toTenths } from "../../shared/core/duration.ts";
import type { Header } from "../../shared/http/core/http-framing.ts";
import type { HttpRequest } from "../../shared/http/core/http-message.ts";
import { RequestFailed } from "../../shared/http/request-failed.ts";
import { createQueue, type Queue } from "../../shared/io/queue.ts";
import { deadline } from "../../shared/io/timer.ts";
import { describeQuit } from "../../shared/sidecars/core/quit.ts";
import type { QuitRequest, Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { locateAdmin } from "../find/admin-socket.ts";
import { createHttpClient } from "../http/http.ts";
import { runMachine } from "../machine.ts";
import { begin, step } from "./core/quitting.ts";
import type { QuitAction, QuitEvent, QuitMachinePolicy, QuitState } from "./core/quitting-steps.ts";
import { addressesOf, addressesOfQuit, awaitReturn, lifeOf, watchAbsence, watchItClose } from "./sidecar-life.ts";

/**
 * What is known of a sidecar before its quit. `up`: it has been up, so if it refuses connections, it has exited, and is not
 * late. `silent`: nothing of it has ever answered; it may be late.
 */
export type SidecarState = "up" | "silent" | "unknown";

export interface SendOptions {
  /** The time for the quit, until it was answered and the sidecar is gone. */
  readonly timeoutMs: number;
  /** The user's headers, for each request. */
  readonly headers: readonly Header[];
  readonly known: (name: Sidecar["name"]) => SidecarState;
  /** Whether a sidecar whose ports all refuse connections counts as gone, where that is sure (`SidecarKind.alwaysOpen`). */
  readonly mayBeAbsent?: true;
  /** Until when (performance.now()) a `silent` one may be late: once it refuses connections after that, it is given up. */
  readonly lateUntil?: number;
  /** Whether the kubelet may be restarting an Envoy that is found gone. */
  readonly mayReturn?: boolean;
}

/** The outcome of one quit, or of the signals to one process, in the form of log fields. */
export interface QuitReport {
  readonly sidecar: Sidecar["name"];
  /** The request as the log names it, or the signal's process. */
  readonly request: string;
  /** Whether the sidecar took the quit, and is gone as far as can be seen, or leaves by itself. */
  readonly ok: boolean;
  readonly outcome: string;
  /** What to do, if the outcome does not say it. */
  readonly how?: string;
  /** The HTTP status of the last answer. */
  readonly status?: number;
  /** It is gone, or was never here. */
  readonly isAbsent?: true;
  /** The stack of a bug in ebb. */
  readonly error?: string;
  readonly tookMs: number;
}

export interface QuitOutcome {
  readonly report: QuitReport;
  /** Whether the sidecar took the quit or was gone before, so that nothing more is to be done. */
  readonly isTaken: boolean;
}

/** A quit that is under way, as its actions see it. */
interface Quit {
  readonly sidecar: Sidecar;
  readonly request: QuitRequest;
  readonly options: SendOptions;
  readonly queue: Queue<QuitEvent>;
  /** Is aborted when the quit is over, and ends what is still under way. */
  readonly over: AbortSignal;
  /** The request of the current attempt: `request`, or the one that is sent in its place. */
  sent: QuitRequest;
  /** The address that accepted its connection: of both loopbacks one, of a host name one of its addresses. */
  acceptedAt: Address | undefined;
  /** When the current attempt began (performance.now()). */
  since: number;
}

/**
 * Sends a quit to a sidecar, as pod/quit/core/quitting.ts decides, and watches the sidecar until it is gone. `onEvent` is
 * called first when the quit is answered, has failed for the first time, or its time is up.
 */
export async function sendQuit(
  sidecar: Sidecar,
  request: QuitRequest,
  options: SendOptions,
  onEvent?: () => void,
): Promise<QuitOutcome> {
  const start = performance.now();
  const over = new AbortController();
  const queue = createQueue<QuitEvent>();
  const attempt = { sent: request, acceptedAt: undefined, since: start };
  const quit: Quit = { sidecar, request, options, queue, over: over.signal, ...attempt };
  const policy = policyOf(quit);
  const cancelBound = deadline(options.timeoutMs, () => queue.push({ kind: "bound", askedMs: askedMs(quit) }));
  const cancelHalf = deadline(options.timeoutMs / 2, () => queue.push({ kind: "half" }));
  try {
    const machine = {
      begin: () => begin(policy),
      step(state: QuitState, event: QuitEvent) {
        if (event.kind !== "half") onEvent?.();
        return step(state, event, policy);
      },
      perform: (action: QuitAction) => perform(action, quit),
    };
    const { isTaken, ...result } = (await runMachine(machine, queue)).result;
    const tookMs = toTenths(performance.now() - start);
    return { report: { sidecar: sidecar.name, request: describeQuit(quit.sent), ...result, tookMs }, isTaken };
  } finally {
    cancelBound();
    cancelHalf();
    over.abort();
  }
}

function policyOf({ sidecar, request, options }: Quit): QuitMachinePolicy {
  const known = options.known(sidecar.name);
  return {
    name: sidecar.name,
    exitsWhen: sidecar.exitsWhen,
    fallbackExitsWhen: request.fallback?.exitsWhen,
    closesFirst: sidecar.closesFirst === true,
    hasFallback: request.fallback !== undefined,
    mustNotRepeat: request.mustNotRepeat === true,
    wasReady: known === "up",
    isProven: sidecar.isProven === true,
    mayBeAbsent: options.mayBeAbsent === true && canBeAbsent(sidecar, request),
    wasSilent: known === "silent",
    mayReturn: options.mayReturn === true && sidecar.envoy !== undefined && request.isAdditional !== true,
    hasLastResort: sidecar.lastResort !== undefined,
  };
}

/** Reports whether its ports alone tell that a sidecar is gone. Processes that the user names for a last resort tell more. */
function canBeAbsent({ alwaysOpen, lastResort }: Sidecar, { isAdditional }: QuitRequest): boolean {
  return alwaysOpen !== undefined && lastResort === undefined && isAdditional !== true;
}

function perform(action: QuitAction, quit: Quit): void {
  switch (action.kind) {
    case "ask":
      return send(quit, action.usesFallback);
    case "rest":
      setTimeout(() => quit.queue.push({ kind: "rested" }), action.ms);
      return;
    case "look":
      return follow(quit, () => look(quit));
    case "watch":
      return follow(quit, () => watch(quit));
    case "search":
      return follow(quit, () => search(quit));
    case "seek":
      return follow(quit, () => seek(quit));
    case "await":
      return follow(quit, () => awaitIt(quit));
  }
}

/** Starts an action, and queues its result as an event. A bug ends the quit. */
function follow({ queue, over }: Quit, act: () => Promise<QuitEvent | undefined>): void {
  act().then(
    (event) => event !== undefined && queue.push(event),
    (error: unknown) => over.aborted || queue.fail(error),
  );
}

/** Starts an attempt. */
function send(quit: Quit, usesFallback: boolean): void {
  quit.sent = requestNow(quit, usesFallback);
  quit.acceptedAt = undefined;
  quit.since = performance.now();
  const { options, over, sent } = quit;
  const { method, target } = sent;
  const { address } = target;
  const onConnect = (host: string): void => {
    if (address.kind === "tcp") quit.acceptedAt = { ...address, host };
  };
  follow(quit, async () => {
    try {
      using client = createHttpClient({ onConnect }); // a connection of its own
      const { status } = await client.request({ method, target, headers: headersOf(sent, options.headers) }, over);
      return { kind: "answered", status };
    } catch (error) {
      if (error instanceof RequestFailed) return { kind: "failed", why: error.kind, message: error.message };
      throw error;
    }
  });
}

/** Returns the request that an attempt sends: each looks for the admin socket, which may come later than the quit. */
function requestNow({ sidecar, request }: Quit, usesFallback: boolean): QuitRequest {
  const onSocket = sidecar.socket?.quitPath === undefined ? undefined : locateAdmin(sidecar).quits[0];
  if (onSocket !== undefined) return onSocket;
  return usesFallback && request.fallback !== undefined ? { ...request, target: request.fallback.target } : request;
}

/** Returns the user's headers (`given`), and after them those of the quit's own that the user has not set. */
function headersOf({ headers: own = [] }: QuitRequest, given: readonly Header[]): HttpRequest["headers"] {
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return [...given, ...own.filter(([name]) => !names.has(name.toLowerCase()))];
}

async function look({ sidecar, sent, over }: Quit): Promise<QuitEvent> {
  return { kind: "looked", life: await lifeOf(sidecar, sent.target.address, over) };
}

async function watch({ sent, acceptedAt = sent.target.address, over }: Quit): Promise<QuitEvent | undefined> {
  return (await watchItClose(acceptedAt, over)) ? { kind: "gone" } : undefined;
}

async function search(quit: Quit): Promise<QuitEvent> {
  const { isAnyRunning } = await import("../process/end-processes.ts");
  return { kind: "searched", isFound: isAnyRunning(quit.sidecar.lastResort ?? []), askedMs: askedMs(quit) };
}

async function seek({ sidecar, request, options, over }: Quit): Promise<QuitEvent | undefined> {
  const addresses = request.isAdditional === true ? addressesOfQuit(request) : addressesOf(sidecar);
  const absence = { sidecar, addresses, fromMs: options.lateUntil ?? 0 };
  return (await watchAbsence(absence, over)) ? { kind: "absent" } : undefined;
}

async function awaitIt({ sent, over }: Quit): Promise<QuitEvent> {
  return { kind: "awaited", isBack: await awaitReturn(sent.target.address, over) };
}

function askedMs({ since }: Quit): number {
  return performance.now() - since;
}
