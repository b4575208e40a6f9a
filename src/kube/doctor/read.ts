import { type JsonObject, listOf, objectOf, textOf } from "../../core/base/json.ts";
import type { Registration } from "../../core/doctor/registrations.ts";
import { ApiError, isNotFound } from "../api/api-error.ts";
import type { ApiClient, List } from "../api/client.ts";
import { type Query, withQuery } from "../api/query.ts";
import { CONFIGURATIONS } from "../certificates/ca-bundle.ts";

/** Reads what may be read, and remembers what may not. */
export interface Reader {
  /** Resolves with an object; with "absent" if it does not exist, with undefined if it may not be read. */
  get(path: string): Promise<JsonObject | "absent" | undefined>;
  /**
   * Calls `found` for each object of a collection. Reads 500 objects (`PAGE`) at a time, and keeps none of them.
   * Resolves with false if they may not be read.
   */
  each(path: string, query: Query, found: (object: JsonObject) => void): Promise<boolean>;
  /** The messages of the API server about what may not be read. */
  readonly refusals: readonly string[];
}

/** The most objects of an answer. */
const PAGE = 500;

/**
 * Creates a reader of the cluster that goes on without what it may not read: each 403 adds a line to `refusals`. Any
 * other failure of the API server rejects.
 */
export function createReader(api: ApiClient, signal: AbortSignal): Reader {
  const refusals = new Set<string>();
  const ask = async <T>(path: string): Promise<T | undefined> => {
    try {
      return await api.get<T>(path, { signal });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 403)) throw error;
      refusals.add(error.message);
      return undefined;
    }
  };
  return {
    async get(path) {
      try {
        return await ask<JsonObject>(path);
      } catch (error) {
        if (isNotFound(error)) return "absent";
        throw error;
      }
    },
    async each(path, query, found) {
      let rest: string | undefined;
      do {
        const page = await ask<List<JsonObject>>(withQuery(path, { ...query, limit: PAGE, continue: rest }));
        if (page === undefined) return false;
        for (const item of page.items) found(item);
        rest = page.metadata.continue || undefined;
      } while (rest !== undefined);
      return true;
    },
    get refusals() {
      return [...refusals];
    },
  };
}

/**
 * Reads the registrations of ebb's webhook (MutatingWebhookConfigurations), whatever their names, with the Services and
 * Deployments behind them. Resolves with undefined if they may not be read.
 */
export async function readRegistrations(reader: Reader): Promise<readonly Registration[] | undefined> {
  const found: JsonObject[] = [];
  const isRead = await reader.each(CONFIGURATIONS, {}, (each) => found.push(each));
  if (!isRead) return undefined;
  const own = found.flatMap((each) => registrationIn(each) ?? []);
  return await Promise.all(own.map((each) => readService(reader, each)));
}

interface Registered extends Pick<Registration, "name" | "isRequired" | "isTrusted"> {
  readonly place: { readonly namespace: string; readonly name: string };
}

function registrationIn({ metadata, webhooks }: JsonObject): Registered | undefined {
  const own = listOf(webhooks)
    .map(objectOf)
    .filter(({ name }) => `.${textOf(name)}`.endsWith(".inject.ebb.dev"));
  const configs = own.map(({ clientConfig }) => objectOf(clientConfig));
  const { namespace, name } = objectOf(configs[0]?.service);
  if (typeof namespace !== "string" || typeof name !== "string") return undefined;
  return {
    name: String(objectOf(metadata).name),
    isRequired: own.some(({ failurePolicy }) => failurePolicy !== "Ignore"),
    isTrusted: configs.every(({ caBundle }) => (textOf(caBundle) ?? "") !== ""),
    place: { namespace, name },
  };
}

async function readService(reader: Reader, { place, ...registered }: Registered): Promise<Registration> {
  const { namespace, name } = place;
  const service = await reader.get(`/api/v1/namespaces/${namespace}/services/${name}`);
  const whole = { ...registered, service: `${namespace}/${name}` };
  if (service === "absent") return { ...whole, isServiceThere: false, deployments: [] };
  if (service === undefined) return { ...whole, isServiceThere: undefined, deployments: undefined };
  const selector = Object.entries(objectOf(objectOf(service.spec).selector));
  const query = { labelSelector: selector.map(([label, value]) => `${label}=${value}`).join(",") };
  const deployments: JsonObject[] = [];
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const isRead = await reader.each(path, query, (each) => deployments.push(each));
  return { ...whole, isServiceThere: true, deployments: isRead ? deployments : undefined };
}
