import { NO_HEALTH_SERVICE } from "../../../shared/sidecars/core/probe.ts";

/** What the log has said of one target that is waited for. */
export interface Logged {
  readonly reason: string;
  /** When its last lines were written, at most three, in milliseconds since the wait began. */
  readonly at: readonly number[];
}

/** At first, a second takes this many lines. */
const BURST = 3;
const BURST_MS = 1000;
/** The waited times at which a line is due though nothing has changed: these, and each full minute. */
const REMIND_AT_MS = [10_000, 30_000];
const REMIND_EACH_MS = 60_000;

/**
 * Returns what the log has said once it has a line for this reason, or undefined if it should have none. A change has a
 * line, up to three in a second, or, later, in a third of the time waited. The same reason has one again after 10 s,
 * 30 s and each minute.
 */
export function nextLine(logged: Logged | undefined, reason: string, waitedMs: number): Logged | undefined {
  if (logged === undefined) return { reason, at: [waitedMs] };
  const { at } = logged;
  const isDue = remindersBy(waitedMs) > remindersBy(at[at.length - 1] as number);
  const isFree = at.length < BURST || waitedMs - (at[0] as number) >= Math.max(BURST_MS, waitedMs / 3);
  if (!isDue && (reason === logged.reason || !isFree)) return undefined;
  return { reason, at: [...at.slice(at.length < BURST ? 0 : 1), waitedMs] };
}

/** Returns how many times a line has been due so far. */
function remindersBy(waitedMs: number): number {
  let due = Math.floor(waitedMs / REMIND_EACH_MS);
  for (const at of REMIND_AT_MS) if (waitedMs >= at) due += 1;
  return due;
}

/** What is known of a target that is waited for: whose it is, and why it is waited for. */
export interface Expected {
  /** The sidecar's name; undefined for a target that the user names by its URL. */
  readonly sidecar: string | undefined;
  /** What showed the sidecar: `--sidecar`, `port 15021`. */
  readonly by: string | undefined;
  /** It is probed at the usual admin URL, so that `--admin` would help. */
  readonly isUsualAdmin: boolean;
  /** Its injector's annotation proves that it is in this pod. */
  readonly isProven?: boolean;
}

const CREDENTIALS = `--header "Authorization: ..."`;
/** Each of them is a text of shared/core/system-error.ts. */
const IS_UNTRUSTED = /its certificate is (?:self-signed|signed by an unknown CA)/;

/** Returns what to do about a target that is not ready for this reason; undefined if nothing is known. */
export function adviceFor(
  reason: string,
  { sidecar, isUsualAdmin, isProven }: Expected,
  refused: string,
): string | undefined {
  const [, status] = /(?:^|, )HTTP (401|403)\b/.exec(reason) ?? [];
  if (status === "401") return `it requires credentials: set ${CREDENTIALS}, or USER:PASSWORD@ in the URL`;
  if (status === "403") return `allow this path (Envoy: admin.allow_paths), or set ${CREDENTIALS}`;
  if (IS_UNTRUSTED.test(reason))
    return "if it is the right server, set --ca-file to a file with its CA or its certificate (PEM)";
  if (reason.includes(NO_HEALTH_SERVICE)) return "add grpc.health.v1.Health to it, or wait for its port with tcp://";
  if (sidecar === undefined) return undefined;
  if (!reason.includes(refused)) return "read the log of its container";
  const elsewhere = isUsualAdmin ? "; if its admin interface is elsewhere, set --admin URL" : "";
  const why =
    isProven === true
      ? "its injector's annotation proves that it is in this pod: look at its container, which has not started it yet"
      : "if there is no sidecar in this pod, set --sidecar none";
  return `${why}${elsewhere}`;
}

/** Formats whose a target is, why it is waited for, and what to do: ` (istio, because of --sidecar; ...)`, or nothing. */
export function explain({ sidecar, by }: Expected, advice: string | undefined): string {
  const why = by === undefined ? sidecar : `${sidecar}, because of ${by}`;
  const parts = [sidecar === undefined ? undefined : why, advice].filter((part) => part !== undefined);
  return parts.length === 0 ? "" : ` (${parts.join("; ")})`;
}
