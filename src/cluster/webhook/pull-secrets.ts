import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { isDnsLabel } from "../../shared/core/dns-name.ts";
import { formatDuration } from "../../shared/core/duration.ts";
import { shortened } from "../../shared/core/text.ts";
import type { Log } from "../../shared/output/log.ts";
import { ApiError, isNotFound } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import type { Secret } from "../api/core/objects.ts";
import { pause } from "../controller/pause.ts";
import { parseDockerConfig, parseDockercfg, type RegistryAuths } from "../image/core/auths.ts";
import type { PullSecrets } from "./admission.ts";
import type { Credentials, PullCredentials } from "./pod-images.ts";

/** The types that the kubelet reads (kubernetes v1.36.3, pkg/credentialprovider/secrets/secrets.go:46-59; read). */
const types: ReadonlyMap<string, readonly [key: string, parse: (text: string) => RegistryAuths]> = new Map([
  ["kubernetes.io/dockerconfigjson", [".dockerconfigjson", (text) => parseDockerConfig(text).auths]],
  ["kubernetes.io/dockercfg", [".dockercfg", parseDockercfg]],
]);

/** How long a Secret is remembered, also that there is none of this name; after a failure of the API server, shorter. */
const KEPT_MS = 30_000;
const FAILED_MS = 5000;
/** The longest Secret that is read, in characters of base64, and the most registries in it: any user may make one. */
const LONGEST = 128 * 1024;
const MOST_REGISTRIES = 100;
/** What all that are remembered may have together, each with `OVERHEAD` for its name and its credentials' objects. */
const MOST = 4 * 1024 * 1024;
const OVERHEAD = 1024;
/** How many are read at a time: a Secret may have 1 MiB. */
const AT_ONCE = 4;
const READ_MS = 5000;

/** What a Secret gives, and its length; or why it is not used. */
type Content = { readonly auths: RegistryAuths; readonly length: number } | { readonly unused: string };

/**
 * Creates a reader of the Secrets that pods name in imagePullSecrets, with a memory of bounded size. Logs why none can be
 * read, once until one can. `now`: milliseconds of any clock, more than 0.
 */
export function createPullSecretReader(
  api: Pick<ApiClient, "get">,
  log: Log,
  now: () => number = () => performance.now(),
): Credentials {
  const limit = pLimit(AT_ONCE);
  let isFailing = false;
  const held = new LRUCache<string, Content>({
    perf: { now },
    ttlResolution: 0,
    ttl: KEPT_MS,
    maxSize: MOST,
    sizeCalculation: (content) => ("length" in content ? content.length : 0) + OVERHEAD,
    ignoreFetchAbort: true, // what has no room is still for who waits
    async fetchMethod(path, _, { options }) {
      try {
        const content = await limit(() => readSecret(api, path));
        isFailing = false;
        return content;
      } catch (error) {
        if (isNotFound(error)) return { unused: "does not exist" };
        if (!isFailing) log.warn({ reason: (error as Error).message }, "cannot read the Secrets of pods");
        isFailing = true;
        options.ttl = FAILED_MS;
        const why = (error instanceof ApiError && error.status) || "no answer";
        return { unused: `cannot be read from the API server (${why})` };
      }
    },
  });
  return {
    remembered(secrets) {
      const contents = pathsOf(secrets).map((path) => held.get(path));
      return contents.includes(undefined) ? undefined : pulledFrom(secrets, contents);
    },
    async read(secrets, waitMs) {
      const here = new AbortController();
      const late = pause(waitMs, here.signal).then(() => undefined);
      const contents = pathsOf(secrets).map((path) => Promise.race([held.fetch(path), late]));
      const pulled = pulledFrom(secrets, await Promise.all(contents), waitMs);
      here.abort();
      return pulled;
    },
  };
}

function pathsOf({ namespace, names }: PullSecrets): readonly string[] {
  return isDnsLabel(namespace) ? names.map((name) => `/api/v1/namespaces/${namespace}/secrets/${name}`) : [];
}

/** Returns what Secrets give. Those that are not here were waited for in vain. */
function pulledFrom({ names }: PullSecrets, contents: readonly (Content | undefined)[], waitedMs = 0): PullCredentials {
  const unused = contents.flatMap((content, at) => {
    const name = `the Secret "${names[at]}"`;
    if (content === undefined) return [`the API server did not give ${name} within ${formatDuration(waitedMs)}`];
    return "unused" in content ? [`${name} ${content.unused}`] : [];
  });
  const auths = contents.flatMap((content) => (content !== undefined && "auths" in content ? [content.auths] : []));
  return { auths, unused, isLate: contents.includes(undefined) };
}

async function readSecret(api: Pick<ApiClient, "get">, path: string): Promise<Content> {
  const { type = "", data } = await api.get<Secret>(path, { timeoutMs: READ_MS, retries: 0 });
  const [key, parse] = types.get(type) ?? [];
  if (key === undefined || parse === undefined)
    return { unused: `is of the type ${shortened(type, 60)}: expected one of ${[...types.keys()].join(", ")}` };
  const text = data?.[key] ?? "";
  if (text.length > LONGEST) return { unused: `has more than ${(LONGEST / 1024) * 0.75} KiB` };
  try {
    const auths = parse(Buffer.from(text, "base64").toString());
    if (auths.size > MOST_REGISTRIES) return { unused: `lists ${auths.size} registries, more than ${MOST_REGISTRIES}` };
    return { auths, length: text.length };
  } catch (error) {
    return { unused: `is malformed: ${key}: ${(error as Error).message}` }; // the kubelet cannot use it either
  }
}
