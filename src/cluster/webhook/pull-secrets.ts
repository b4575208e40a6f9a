import pLimit from "p-limit";
import { isDnsLabel } from "../../shared/core/dns-name.ts";
import { formatDuration } from "../../shared/core/duration.ts";
import { objectOf, textOf } from "../../shared/core/json.ts";
import { shortened } from "../../shared/core/text.ts";
import type { Log } from "../../shared/output/log.ts";
import { ApiError, isNotFound } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { pause } from "../controller/pause.ts";
import { parseDockerConfig, parseDockercfg, type RegistryAuths } from "../image/core/auths.ts";
import { createLru } from "../image/core/lru.ts";
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

type Held = Content & { readonly untilMs: number };

/**
 * Creates a reader of the Secrets that pods name in imagePullSecrets, with a memory of bounded size. Logs why none can be
 * read, once until one can. `now`: milliseconds of any clock.
 */
export function createPullSecretReader(
  api: Pick<ApiClient, "get">,
  log: Log,
  now: () => number = () => performance.now(),
): Credentials {
  const memory = createLru<Held>(MOST, (held) => ("length" in held ? held.length : 0) + OVERHEAD);
  const keep = (path: string, content: Content, ms: number) => memory.set(path, { ...content, untilMs: now() + ms });
  const heldOf = (path: string): Held | undefined => {
    const held = memory.get(path);
    return held !== undefined && held.untilMs > now() ? held : undefined;
  };
  const underWay = new Map<string, Promise<void>>();
  const limit = pLimit(AT_ONCE);
  let complaint: string | undefined;
  const load = async (path: string): Promise<void> => {
    try {
      keep(path, await readSecret(api, path), KEPT_MS);
      complaint = undefined;
    } catch (error) {
      if (isNotFound(error)) return void keep(path, { unused: "does not exist" }, KEPT_MS);
      const { message } = error as Error;
      const why = error instanceof ApiError && error.status !== undefined ? `${error.status}` : "no answer";
      keep(path, { unused: `cannot be read from the API server (${why})` }, FAILED_MS);
      if (complaint !== undefined) return;
      complaint = message;
      log.warn({ reason: message }, "cannot read the Secrets of pods");
    }
  };
  const loadOnce = (path: string): Promise<void> => {
    const loading = underWay.get(path) ?? limit(() => load(path)).finally(() => underWay.delete(path));
    underWay.set(path, loading);
    return loading;
  };
  return {
    remembered(secrets) {
      const pulled = pulledFrom(secrets, heldOf);
      return pulled.isLate ? undefined : pulled;
    },
    async read(secrets, waitMs) {
      const missing = pathsOf(secrets).filter((path) => heldOf(path) === undefined);
      const here = new AbortController();
      const loading = Promise.all(missing.map(loadOnce)).then(() => here.abort());
      await Promise.race([loading, pause(waitMs, here.signal)]);
      return pulledFrom(secrets, heldOf, waitMs);
    },
  };
}

function pathsOf({ namespace, names }: PullSecrets): readonly string[] {
  return isDnsLabel(namespace) ? names.map((name) => `/api/v1/namespaces/${namespace}/secrets/${name}`) : [];
}

/** Returns what is held of Secrets. Those that are not here were waited for in vain. */
function pulledFrom(secrets: PullSecrets, heldOf: (path: string) => Held | undefined, waitedMs = 0): PullCredentials {
  const all = pathsOf(secrets).map((path, at) => ({ name: `the Secret "${secrets.names[at]}"`, held: heldOf(path) }));
  const unused = all.flatMap(({ name, held }) => {
    if (held === undefined) return [`the API server did not give ${name} within ${formatDuration(waitedMs)}`];
    return "unused" in held ? [`${name} ${held.unused}`] : [];
  });
  const auths = all.flatMap(({ held }) => (held !== undefined && "auths" in held ? [held.auths] : []));
  return { auths, unused, isLate: all.some(({ held }) => held === undefined) };
}

async function readSecret(api: Pick<ApiClient, "get">, path: string): Promise<Content> {
  const secret = await api.get<KubeObject>(path, { timeoutMs: READ_MS, retries: 0 });
  const type = textOf(secret.type) ?? "";
  const [key, parse] = types.get(type) ?? [];
  if (key === undefined || parse === undefined)
    return { unused: `is of the type ${shortened(type, 60)}: expected one of ${[...types.keys()].join(", ")}` };
  const text = textOf(objectOf(secret.data)[key]) ?? "";
  if (text.length > LONGEST) return { unused: `has more than ${(LONGEST / 1024) * 0.75} KiB` };
  try {
    const auths = parse(Buffer.from(text, "base64").toString());
    if (auths.size > MOST_REGISTRIES) return { unused: `lists ${auths.size} registries, more than ${MOST_REGISTRIES}` };
    return { auths, length: text.length };
  } catch (error) {
    return { unused: `is malformed: ${key}: ${(error as Error).message}` }; // the kubelet cannot use it either
  }
}
