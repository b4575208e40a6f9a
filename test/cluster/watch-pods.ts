import { takes } from "../harness/time.ts";
import { type Change, changes, follow, read } from "./api.ts";
import type { Namespace } from "./cluster.ts";
import type { Pod } from "./objects.ts";

/** Pods that are watched until they are gone. Times are in ms since 1970, by the pod's name. */
interface WatchedPods {
  /** When the deletion of each pod was seen. */
  readonly deletedAt: Readonly<Record<string, number>>;
  /** When each was gone or, if nobody deletes it, had ended. */
  readonly goneAt: Readonly<Record<string, number>>;
  /** Each pod as it was last seen. */
  readonly last: Readonly<Record<string, Pod>>;
  /** Returns what a container of a pod that was there at the start has written. */
  log(pod: string, container: string): string;
  /** Returns what all containers of such a pod have written, each line with a prefix, for people. */
  logs(pod: string): string;
  /** Ends the watch. Resolves once the logs of the pods that are gone are complete. */
  end(): Promise<void>;
}

const LOOK_MS = 100;

/** Watches the pods that match a query of the API (`labelSelector=app%3Dweb`), and follows their containers' logs. */
export async function watchPods(here: Namespace, query: string): Promise<WatchedPods> {
  const deletedAt: Record<string, number> = {};
  const goneAt: Record<string, number> = {};
  const last: Record<string, Pod> = {};
  const logs = new Map<string, string>();
  const over = new AbortController();
  const path = `/api/v1/namespaces/${here.name}/pods`;
  const watch = await changes<Pod>(`${path}?${query}`, over.signal, (change) => {
    const { name, deletionTimestamp } = change.object.metadata;
    last[name] = change.object;
    if (deletionTimestamp !== undefined) deletedAt[name] ??= Date.now();
    if (isOver(change)) goneAt[name] ??= Date.now();
  });
  /** Reads a log as it is written; again from its beginning where that is cut, as by a restart of the kubelet. */
  const readLog = async (pod: string, container: string): Promise<void> => {
    const key = `${pod}/${container}`;
    for (; goneAt[pod] === undefined && !over.signal.aborted; await takes(LOOK_MS)) {
      let text = "";
      const see = (piece: string): void => {
        text += piece;
        if (text.length > (logs.get(key)?.length ?? 0)) logs.set(key, text);
      };
      await follow(`${path}/${pod}/log?container=${container}&follow=true`, see, over.signal).catch(() => undefined);
    }
  };
  const items = (await read<{ readonly items: readonly Pod[] }>(`${path}?${query}`))?.items ?? [];
  const reading = items.flatMap(({ metadata: { name }, spec }) =>
    [...(spec.initContainers ?? []), ...spec.containers].map((container) => ({
      name,
      done: readLog(name, container.name),
    })),
  );
  return {
    deletedAt,
    goneAt,
    last,
    log: (pod, container) => logs.get(`${pod}/${container}`) ?? "",
    logs: (pod) =>
      [...logs.keys()]
        .filter((key) => key.startsWith(`${pod}/`))
        .map((key) => (logs.get(key) ?? "").replaceAll(/^/gm, `[pod/${key}] `))
        .join("\n"),
    async end() {
      await Promise.all(reading.filter(({ name }) => goneAt[name] !== undefined).map(({ done }) => done));
      over.abort();
      await Promise.allSettled([watch.ended, ...reading.map(({ done }) => done)]);
    },
  };
}

/** A pod that has ended, and that nobody deletes, stays. */
function isOver({ type, object: { metadata, status } }: Change<Pod>): boolean {
  if (type === "DELETED") return true;
  return metadata.deletionTimestamp === undefined && ["Succeeded", "Failed"].includes(status.phase);
}
