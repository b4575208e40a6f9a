import { applyPatch, type Operation } from "rfc6902";
import { ApiError } from "../../../src/cluster/api/api-error.ts";
import type { ApiClient } from "../../../src/cluster/api/client.ts";
import type { KubeObject } from "../../../src/cluster/api/core/objects.ts";

/** An API client with objects and resource versions in memory: no server, no watches, no streams. */
export interface FakeApi extends ApiClient {
  /** The objects by path. */
  readonly objects: Map<string, KubeObject>;
  /**
   * What the next write does: it fails with 500, or it succeeds, but its answer is lost. Then it is undefined again.
   */
  next: "fails" | "is lost on the way back" | undefined;
  /** Whether all requests but deletes fail without an answer. */
  isDown: boolean;
  /** Whether the account may create objects; by default it may. */
  mayCreate: boolean;
  /** Adds or replaces an object, with a new resourceVersion. */
  put(path: string, object: object): void;
}

/** Creates a fake API client without objects. */
export function createFakeApi(): FakeApi {
  const objects = new Map<string, KubeObject>();
  let version = 1;
  const refuse = (status: number, reason: string, message = reason): never => {
    throw new ApiError(message, { status, reason, retryAfterMs: undefined });
  };
  const fail = (): never => {
    throw new ApiError("no answer", { status: undefined, reason: "Unreachable", retryAfterMs: undefined });
  };
  const fake: FakeApi = {
    server: "https://fake",
    namespace: "default",
    objects,
    next: undefined,
    isDown: false,
    mayCreate: true,
    put(path, object) {
      const { metadata } = object as KubeObject;
      objects.set(path, { ...object, metadata: { ...metadata, resourceVersion: String(++version) } });
    },
    get: async <T>(path: string) => {
      if (fake.isDown) fail();
      return (objects.get(path) ?? refuse(404, "NotFound")) as T;
    },
    create: async <T>(collection: string, body: object) => {
      const path = `${collection}/${(body as KubeObject).metadata.name}`;
      if (!fake.mayCreate) refuse(403, "Forbidden", `User "ebb" cannot create resource "${collection}"`);
      if (objects.has(path)) refuse(409, "AlreadyExists");
      return write<T>(path, body);
    },
    update: async <T>(path: string, body: object) => {
      const known = objects.get(path) ?? refuse(404, "NotFound");
      if (known.metadata.resourceVersion !== (body as KubeObject).metadata.resourceVersion) refuse(409, "Conflict");
      return write<T>(path, body);
    },
    patch: async <T>(path: string, operations: readonly object[]) => {
      const changed = structuredClone(objects.get(path) ?? refuse(404, "NotFound"));
      const version = operations.find((each) => "path" in each && each.path === "/metadata/resourceVersion");
      if (version !== undefined && "value" in version && version.value !== changed.metadata.resourceVersion) {
        refuse(409, "Conflict"); // as the API server answers it
      }
      const errors = applyPatch(changed, operations as Operation[]);
      if (errors.some((error) => error !== null)) refuse(422, "Invalid");
      return write<T>(path, changed);
    },
    // biome-ignore lint/correctness/useYield: nobody watches it
    watch: async function* () {
      throw new Error("the fake is not watched");
    },
    stream: async () => {
      throw new Error("the fake has no streams");
    },
  };
  const write = <T>(path: string, body: object): T => {
    const { next } = fake;
    fake.next = undefined;
    if (fake.isDown) fail();
    if (next === "fails") refuse(500, "InternalError");
    fake.put(path, body);
    if (next !== undefined) fail();
    return objects.get(path) as T;
  };
  return fake;
}
