import pLimit from "p-limit";
import { isDnsLabel } from "../../core/base/dns-name.ts";
import { objectOf, textOf } from "../../core/base/json.ts";
import { parseDockerConfig, type RegistryAuths } from "../../core/image/auths.ts";
import { createLru } from "../../core/image/lru.ts";
import type { Log } from "../../system/output/log.ts";
import { isNotFound } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { pause } from "../controller/pause.ts";
import type { PullSecrets } from "./admission.ts";
import type { Credentials } from "./look-up.ts";

const TYPE = "kubernetes.io/dockerconfigjson";
const KEY = ".dockerconfigjson";

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

interface Content {
  readonly auths: RegistryAuths | undefined;
  readonly length: number;
}

interface Held extends Content {
  readonly untilMs: number;
}

const none: Content = { auths: undefined, length: 0 };

/**
 * Creates a reader of the Secrets that pods name in imagePullSecrets, with a memory of bounded size. Secrets of another
 * type count as none, and so do those that are too large. Logs why none can be read, once until one can. `now`:
 * milliseconds of any clock.
 */
export function createPullSecretReader(
  api: Pick<ApiClient, "get">,
  log: Log,
  now: () => number = () => performance.now(),
): Credentials {
  const memory = createLru<Held>(MOST, ({ length }) => length + OVERHEAD);
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
      keep(path, none, isNotFound(error) ? KEPT_MS : FAILED_MS);
      const { message } = error as Error;
      if (isNotFound(error) || complaint !== undefined) return;
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
    known(secrets) {
      const held = pathsOf(secrets).map(heldOf);
      return held.includes(undefined) ? undefined : authsOf(held);
    },
    async read(secrets, waitMs) {
      const missing = pathsOf(secrets).filter((path) => heldOf(path) === undefined);
      const here = new AbortController();
      const loading = Promise.all(missing.map(loadOnce)).then(() => here.abort());
      await Promise.race([loading, pause(waitMs, here.signal)]);
      return authsOf(pathsOf(secrets).map(heldOf));
    },
  };
}

function pathsOf({ namespace, names }: PullSecrets): readonly string[] {
  return isDnsLabel(namespace) ? names.map((name) => `/api/v1/namespaces/${namespace}/secrets/${name}`) : [];
}

function authsOf(held: readonly (Held | undefined)[]): readonly RegistryAuths[] {
  return held.flatMap((one) => one?.auths ?? []);
}

async function readSecret(api: Pick<ApiClient, "get">, path: string): Promise<Content> {
  const secret = await api.get<KubeObject>(path, { timeoutMs: READ_MS, retries: 0 });
  const text = textOf(objectOf(secret.data)[KEY]) ?? "";
  if (secret.type !== TYPE || text.length > LONGEST) return none;
  try {
    const { auths } = parseDockerConfig(Buffer.from(text, "base64").toString());
    return auths.size > MOST_REGISTRIES ? none : { auths, length: text.length };
  } catch {
    return none; // the kubelet cannot use it either
  }
}
