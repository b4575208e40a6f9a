import { X509Certificate } from "node:crypto";
import { getCACertificates } from "node:tls";
import { describeSystemError } from "../../core/base/system-error.ts";
import type { RegistrySettings } from "../../core/cli/cluster/registry-options.ts";
import { authsFor, type RegistryAuths } from "../../core/image/auths.ts";
import { joined, LookupError, lookupError } from "../../core/image/failure.ts";
import { parseReference, type Reference, usualFault } from "../../core/image/reference.ts";
import { type Source, sourcesOf } from "../../core/image/sources.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import { MiB, readFileWithin } from "../../system/input.ts";
import type { Log } from "../../system/output/log.ts";
import { type Environment, startingEnvironment } from "../api/proxy.ts";
import { ownAuths } from "./credentials.ts";
import type { Reach } from "./exchange.ts";
import type { Session } from "./registry.ts";

/** A proxy of another registry may take seconds for what it lacks. */
const REQUEST_MS = 10_000;
/** OCI distribution-spec 1.1, "Pushing Manifests": a registry takes manifests of at least 4 MiB, and few take more. */
const LARGEST = 4 * MiB;
/** Anyone may push such a config to Docker Hub and create pods of it, and eight of each registry are read at a time. */
const LARGEST_FOR_PODS = MiB;
/** The limit of a look-up. */
export const LOOKUP_MS = 30_000;

/** What a client of registries needs beside its options. */
export interface ImageContext {
  readonly env: Environment;
  readonly log: Log;
  /** Whether a person started ebb, whose files and programs have credentials for registries. */
  readonly isAtDesk: boolean;
  /** The limit of a request and its whole answer, in milliseconds; undefined: 10 s. */
  readonly requestMs?: number;
  /** That of a look-up; undefined: 30 s. */
  readonly lookupMs?: number;
}

/** Where an image is asked for, and by which credentials of the asker. */
export interface Place {
  readonly source: Source;
  readonly auths: ReturnType<typeof authsFor>;
}

/** A client of registries, which remembers nothing. */
export interface Reader {
  /** Returns where an image may be asked for, in order. @throws LookupError if there is no such name, or no such place */
  placesOf(
    image: string,
    auths: readonly RegistryAuths[],
  ): { readonly reference: Reference; readonly places: readonly Place[] };
  /** Asks at one place after the other until one answers. Rejects with LookupError, which has the reasons of all. */
  ask<T>(places: readonly Place[], question: (session: Session) => Promise<T>, asking: Asking): Promise<T>;
}

/** Registries that do not answer, by their origin (`https://quay.io`). */
export interface Outages {
  /** Returns why a registry is not to be asked; undefined if it may be. */
  of(origin: string): LookupError | undefined;
  /** Says that a registry does not answer. */
  begin(origin: string, error: LookupError): void;
  /** Says that a registry has answered. */
  end(origin: string): void;
}

/** The circumstances of a look-up. */
export interface Asking {
  /** The end of the look-up. */
  readonly signal: AbortSignal;
  /** Is told of each session before anything is asked in it. */
  readonly onSession: (session: Session) => void;
  /** Registries that do not answer, and are not asked; undefined: all are. */
  readonly outages?: Outages;
}

/**
 * Creates a client of registries. @throws Failure(64) if a file of --registry-ca or --registry-config cannot be read
 */
export function createReader(
  settings: RegistrySettings,
  { env: own, log, isAtDesk, requestMs = REQUEST_MS }: ImageContext,
): Reader {
  const env = { ...startingEnvironment(), ...own }; // Bun, and so the latter, does not have the variables of proxies
  const ca = settings.registryCa === undefined ? undefined : trusted(settings.registryCa);
  const mostBytes = isAtDesk ? LARGEST : LARGEST_FOR_PODS;
  const reach: Reach = { policy: settings, ca, env, requestMs, mostBytes, isAtDesk };
  const authsOf = ownAuths({ registryConfig: settings.registryConfig, isAtDesk, env, log });
  return {
    placesOf(image, auths) {
      const reference = parseReference(image);
      if (reference === undefined)
        throw lookupError("invalid", `${JSON.stringify(image)} is no name of an image${usualFault(image)}`);
      const sources = sourcesOf(reference, settings);
      if (sources.length === 0)
        throw lookupError("not-allowed", `the registry ${reference.host} is not among --registries: name it there`);
      const places = sources.map((source) => ({ source, auths: authsFor(auths, source.host, source.repository) }));
      return { reference, places };
    },
    async ask(places, question, { signal, onSession, outages }) {
      const errors: LookupError[] = [];
      let isAnswered = false;
      const fail = ({ isFallback }: Source, error: LookupError) => {
        if (isFallback) errors.pop(); // that it has no TLS is no failure
        errors.push(error);
      };
      for (const { source, auths } of places) {
        if (isNeedless(source, errors.at(-1)) || (source.isFallback && isAnswered)) break;
        const outage = outages?.of(source.origin);
        if (outage !== undefined) {
          isAnswered = false;
          fail(source, outage);
          continue;
        }
        const ofOwn = authsFor(await authsOf(source.host), source.host, source.repository);
        const all = [...auths, ...ofOwn];
        const unasked = { authorization: undefined, isUnanswered: false, sent: [] };
        const session: Session = { source, reach, signal, auths: all, ...unasked };
        onSession(session);
        try {
          const answer = await question(session);
          outages?.end(source.origin);
          return answer;
        } catch (error) {
          if (!(error instanceof LookupError)) throw error;
          if (session.isUnanswered) outages?.begin(source.origin, error);
          else outages?.end(source.origin);
          isAnswered = !session.isUnanswered;
          fail(source, error);
        }
      }
      throw joined(errors);
    },
  };
}

/** Reports whether a place need not be asked after what the one before it has said. */
function isNeedless({ isFallback }: Source, before: LookupError | undefined): boolean {
  return isFallback && before?.failure !== "unreachable";
}

/** Returns why an image cannot be asked for; undefined if it can at one of the places. */
export function outageOf(places: readonly Place[], outages: Pick<Outages, "of">): LookupError | undefined {
  let last: LookupError | undefined;
  for (const { source } of places) {
    if (isNeedless(source, last)) break;
    last = outages.of(source.origin);
    if (last === undefined) return undefined;
  }
  return last;
}

/** Returns the usual CAs, those of NODE_EXTRA_CA_CERTS included, and the ones of a file. @throws Failure(64) */
function trusted(path: string): readonly string[] {
  try {
    const pem = readFileWithin(path, MiB);
    new X509Certificate(pem); // throws if it is not a certificate
    return [...getCACertificates("default"), pem];
  } catch (error) {
    throw new Failure(
      EXIT.usage,
      `--registry-ca: expected a file with certificates in PEM, got ${path}: ${describeSystemError(error)}`,
    );
  }
}
