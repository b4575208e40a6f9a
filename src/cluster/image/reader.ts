import type { Environment } from "../../shared/core/environment.ts";
import { trustedWith } from "../../shared/http/trust.ts";
import { MiB } from "../../shared/io/input.ts";
import type { Log } from "../../shared/output/log.ts";
import { startingEnvironment } from "../api/starting-environment.ts";
import { authsFor, type RegistryAuths } from "./core/auths.ts";
import { joined, LookupError, lookupError } from "./core/failure.ts";
import { parseReference, type Reference, usualFault } from "./core/reference.ts";
import type { RegistrySettings } from "./core/registry-options.ts";
import { type Source, sourcesOf } from "./core/sources.ts";
import { ownAuths } from "./credentials.ts";
import type { Client, Session } from "./session.ts";

/** OCI distribution-spec 1.1, "Pushing Manifests": a registry takes manifests of at least 4 MiB, and few take more. */
const LARGEST = 4 * MiB;
/** Anyone may push such a config to Docker Hub, and create pods of it. */
const LARGEST_FOR_PODS = MiB;
/** The most of all answers of a registry that arrive for pods at the same time. */
const MOST_ARRIVING = 8 * MiB;
/** The limit of a look-up at a desk: a proxy of another registry may take seconds for what it lacks. */
export const LOOKUP_MS = 30_000;

/** What a client of registries needs beside its options. */
export interface ImageContext {
  readonly env: Environment;
  readonly log: Log;
  /** Whether a person started ebb, whose files and programs have credentials for registries. */
  readonly isAtDesk: boolean;
}

/** A source that may have an image, and the asker's credentials for it. */
export interface Candidate {
  readonly source: Source;
  readonly auths: ReturnType<typeof authsFor>;
}

/** A client of registries, which remembers nothing. */
export interface ImageReader {
  /** Returns who may be asked for an image, in order. @throws LookupError if it is not the name of an image, or nobody may be asked */
  candidatesFor(
    image: string,
    auths: readonly RegistryAuths[],
  ): { readonly reference: Reference; readonly candidates: readonly Candidate[] };
  /**
   * Asks one after the other until one answers. Each has the same part of the time that is left, so that a
   * silent mirror leaves the registry its own. Rejects with LookupError, which has the reasons of all.
   */
  ask<T>(candidates: readonly Candidate[], question: (session: Session) => Promise<T>, end: LookupEnd): Promise<T>;
}

/** The end of a look-up. */
interface LookupEnd {
  readonly limitMs: number;
  /** Ends it before that. */
  readonly stop?: AbortSignal;
}

/**
 * Creates a client of registries. @throws Failure(64) if a file of --ca-file or --registry-config cannot be read
 */
export function createImageReader(settings: RegistrySettings, { env: own, log, isAtDesk }: ImageContext): ImageReader {
  const env = { ...startingEnvironment(), ...own }; // Bun, and so the latter, does not have the variables of proxies
  const ca = settings.caFile === undefined ? undefined : trustedWith(settings.caFile);
  const mostBytes = isAtDesk ? LARGEST : LARGEST_FOR_PODS;
  const mostArriving = isAtDesk ? Number.POSITIVE_INFINITY : MOST_ARRIVING;
  const client: Client = { policy: settings, ca, env, mostBytes, arriving: new Map(), mostArriving, isAtDesk };
  const authsOf = ownAuths({ registryConfig: settings.registryConfig, isAtDesk, env, log });
  return {
    candidatesFor(image, auths) {
      const reference = parseReference(image);
      if (reference === undefined)
        throw lookupError("invalid", `${JSON.stringify(image)} is not the name of an image${usualFault(image)}`);
      const sources = sourcesOf(reference, settings);
      if (sources.length === 0)
        throw lookupError("not-allowed", `the registry ${reference.host} is not among --registries: name it there`);
      const candidates = sources.map((source) => ({ source, auths: authsFor(auths, source.host, source.repository) }));
      return { reference, candidates };
    },
    async ask(candidates, question, { limitMs, stop }) {
      const errors: LookupError[] = [];
      let leftMs = Math.max(1, limitMs);
      let leftCandidates = candidates.filter(({ source }) => !source.isFallback).length;
      let isAnswered = false;
      for (const { source, auths } of candidates) {
        if (source.isFallback) {
          if (isAnswered || errors.at(-1)?.failure !== "unreachable") break;
          errors.pop(); // that it has no TLS is no failure
        }
        const ofOwn = authsFor(await authsOf(source.host), source.host, source.repository);
        const partMs = Math.ceil(leftMs / Math.max(1, leftCandidates));
        const signal = AbortSignal.any([AbortSignal.timeout(partMs), ...(stop ? [stop] : [])]);
        const end = { limitMs: partMs, signal };
        const session: Session = { source, client, auths: [...auths, ...ofOwn], ...end, isAnswered: false, sent: [] };
        const start = performance.now();
        try {
          return await question(session);
        } catch (error) {
          if (!(error instanceof LookupError)) throw error;
          errors.push(error);
        }
        isAnswered = session.isAnswered;
        leftMs = Math.max(1, leftMs - (performance.now() - start));
        leftCandidates -= 1;
      }
      throw joined(errors);
    },
  };
}
