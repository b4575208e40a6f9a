import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import {
  type Candidate,
  type LeasePolicy,
  type LeaseState,
  leadsUntil,
  nextMove,
  observeLease,
  recordWrite,
  resign,
} from "../../core/cluster/leadership.ts";
import type { Log } from "../../system/output/log.ts";
import { abortedAfter } from "../../system/timer.ts";
import { isApiFailure, isConflict, isNotFound, orNotInstalled } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import type { Context } from "../api/context.ts";
import { pause } from "./pause.ts";

// Leadership by a Lease (coordination.k8s.io/v1), with client-go's periods.

/** Returns a name for this replica that no other one has, also after a restart. */
export function replicaName(): string {
  return `${hostname()}_${randomUUID()}`;
}

/** The Lease to compete for, and as whom. */
export interface LeaseSettings {
  readonly api: ApiClient;
  readonly namespace: string;
  readonly name: string;
  /** The holder's name in the Lease; no other replica may have the same. */
  readonly identity: string;
  /** Undefined: client-go's, 15 s, 10 s and 2 s. */
  readonly periods?: Periods;
}

/** The times of an election, in milliseconds. */
export interface Periods {
  /** How long other replicas wait after the last write that they saw; whole seconds, as a Lease has them. */
  readonly durationMs: number;
  /** How long a leader leads after its last write. */
  readonly deadlineMs: number;
  /** How often a leader renews the Lease, and another replica reads it. */
  readonly retryMs: number;
}

const USUAL: Periods = { durationMs: 15_000, deadlineMs: 10_000, retryMs: 2000 };

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    readonly acquireTime?: string | null;
    readonly renewTime?: string | null;
    readonly leaseTransitions?: number | null;
  };
}

const LONGEST_REQUEST_MS = 5000;

/**
 * Competes for a Lease. Calls `work` each time this replica acquires it, with a signal that is aborted when it loses
 * it, and waits for `work` to end before it competes again. Resolves when `signal` is aborted or `work` ends by itself,
 * after it released the Lease, so that another replica leads at once. Logs API failures and goes on; rejects if `work`
 * does.
 */
export async function lead(
  settings: LeaseSettings,
  work: (signal: AbortSignal) => Promise<void>,
  { log, signal }: Context,
): Promise<void> {
  const election = createElection(settings, log);
  const { retryMs } = settings.periods ?? USUAL;
  while (!signal.aborted) {
    await election.stand(signal);
    if (!election.leads()) {
      await pause(retryMs * (1 + Math.random() / 5), signal);
      continue;
    }
    log.info({ lease: settings.name, identity: settings.identity }, "acquired the lease: this replica leads");
    if (!(await isLost(election, work, { signal, retryMs }))) return await election.release();
    log.warn({ lease: settings.name }, "lost the lease: this replica no longer leads");
  }
  if (election.mayHold()) await election.release();
}

type Work = (signal: AbortSignal) => Promise<void>;

/** Works until the work is done, the signal is aborted, or leadership is lost. Resolves with whether it was lost. */
async function isLost(election: Election, work: Work, { signal, retryMs }: { signal: AbortSignal; retryMs: number }) {
  const term = new AbortController();
  const ending = AbortSignal.any([signal, term.signal]);
  const losing = loseLeadership(election, ending, retryMs).finally(() => term.abort());
  try {
    await work(ending);
  } finally {
    term.abort();
    await losing;
  }
  return await losing;
}

/** Renews the Lease until leadership is lost (resolves with true) or `ending` is aborted (false). */
async function loseLeadership(election: Election, ending: AbortSignal, retryMs: number): Promise<boolean> {
  while (!ending.aborted) {
    await pause(Math.min(retryMs, election.leftMs()), ending);
    if (ending.aborted) return false;
    // a renewal that hangs ends with the leadership that it was to keep
    await election.stand(AbortSignal.any([ending, abortedAfter(Math.ceil(election.leftMs()))]));
    if (!election.leads()) return !ending.aborted;
  }
  return false;
}

/** This replica in an election. */
interface Election {
  /** Reads the Lease, and writes it if the rules allow. Logs a failure, which is left to the next round. */
  stand(signal: AbortSignal): Promise<void>;
  leads(): boolean;
  /** Whether the last write of the Lease was given up before its answer: it may have succeeded. */
  mayHold(): boolean;
  /** Milliseconds for which this replica leads without another round; 0 if it does not lead. */
  leftMs(): number;
  /** Gives the Lease back, if this replica holds it. Never fails because of the API. */
  release(): Promise<void>;
}

function createElection(settings: LeaseSettings, log: Log): Election {
  const policy: LeasePolicy = { identity: settings.identity, ...(settings.periods ?? USUAL) };
  const ballot = createBallot(settings);
  let candidate: Candidate = {};
  let complaint: string | undefined;
  let isWriting = false;
  const leftMs = (): number => Math.max(0, (leadsUntil(candidate, policy) ?? 0) - performance.now());
  const stand = async (signal: AbortSignal): Promise<void> => {
    const begunMs = performance.now();
    const lease = await ballot.read(signal);
    candidate =
      lease === undefined
        ? { ...candidate, seen: undefined }
        : observeLease(candidate, stateOf(lease), performance.now());
    const next = nextMove(candidate, policy, performance.now());
    if (next.kind === "wait") {
      candidate = resign(candidate);
      return;
    }
    const transitions = next.kind === "create" ? 0 : next.transitions;
    isWriting = true;
    const result = await ballot.write(lease, transitions, signal);
    isWriting = false;
    candidate = recordWrite(stateOf(result), begunMs, performance.now());
  };
  return {
    async stand(signal) {
      try {
        await stand(signal);
        complaint = undefined;
      } catch (error) {
        if (signal.aborted || isConflict(error)) return; // another replica was faster, which the next round sees
        if (!isApiFailure(error)) throw error;
        if (error.message !== complaint) log.warn({ reason: error.message }, "cannot read or write the Lease");
        complaint = error.message;
      }
    },
    leads: () => leftMs() > 0,
    mayHold: () => isWriting,
    leftMs,
    release: () => ballot.release(),
  };
}

/** Creates the functions that read, write and release the Lease. */
function createBallot(settings: LeaseSettings) {
  const { api, namespace, name, identity, periods = USUAL } = settings;
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const path = `${collection}/${name}`;
  const asking = (signal?: AbortSignal) => ({ signal, timeoutMs: LONGEST_REQUEST_MS, retries: 0 });
  return {
    async read(signal: AbortSignal): Promise<Lease | undefined> {
      try {
        return await api.get<Lease>(path, asking(signal));
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    write(lease: Lease | undefined, leaseTransitions: number, signal: AbortSignal): Promise<Lease> {
      const renewTime = microTime();
      const isOurs = lease?.spec?.holderIdentity === identity;
      const acquireTime = (isOurs ? lease.spec?.acquireTime : undefined) ?? renewTime;
      const spec = {
        holderIdentity: identity,
        leaseDurationSeconds: periods.durationMs / 1000,
        acquireTime,
        renewTime,
        leaseTransitions,
      };
      if (lease !== undefined)
        return api.update<Lease>(path, { ...lease, spec: { ...lease.spec, ...spec } }, asking(signal));
      const fresh = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, namespace }, spec };
      return api.create<Lease>(collection, fresh, asking(signal)).catch((error: unknown) => {
        throw orNotInstalled(error, `Lease ${name}`);
      });
    },
    async release(): Promise<void> {
      try {
        // without a holder the next replica that asks has it; if this fails, it expires by itself
        const lease = await api.get<Lease>(path, asking());
        if (lease.spec?.holderIdentity !== identity) return;
        const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime() };
        await api.update(path, { ...lease, spec }, asking());
      } catch (error) {
        if (!isApiFailure(error)) throw error;
      }
    },
  };
}

function stateOf({ metadata, spec }: Lease): LeaseState {
  return {
    holder: spec?.holderIdentity ?? "",
    durationMs: (spec?.leaseDurationSeconds ?? USUAL.durationMs / 1000) * 1000,
    transitions: spec?.leaseTransitions ?? 0,
    version: metadata.resourceVersion ?? "",
  };
}

/** Formats the time as MicroTime (meta/v1): six digits after the second. */
function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
