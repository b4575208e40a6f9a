import { settingOf } from "./google-settings.ts";
import { portOf, type ShownContainer } from "./kind.ts";

/**
 * Returns the ports of the loopback on which a proxy of Google's listens for the app (cloud-sql-proxy v2.27.0
 * internal/proxy/proxy.go, newSocketMount and networkType; alloydb-auth-proxy v1.17.1 alike). An empty list: it listens on
 * unix sockets or at another address, or nothing shows where. Undefined: on its usual ports.
 */
export function listenersOf(container: ShownContainer, prefix: string): readonly number[] | undefined {
  const set = (flag: string, variable: string, short?: string) =>
    settingOf(container, { flag, variable: `${prefix}${variable}`, short });
  if (set("config-file", "CONFIG_FILE") !== undefined) return container.ports.slice(0, 1);
  if (set("fuse", "FUSE") !== undefined) return [];
  const common: Common = {
    port: set("port", "PORT", "p"),
    socket: set("unix-socket", "UNIX_SOCKET", "u"),
    address: set("address", "ADDRESS", "a"),
  };
  const listeners = queriesOf(container, prefix).map((query) => listenerOf(query, common));
  const ports = listeners.filter((one) => typeof one === "number");
  return ports.length === 0 && listeners.includes("usual") ? undefined : ports;
}

/** The settings of all instances. */
interface Common {
  readonly port: string | undefined;
  readonly socket: string | undefined;
  readonly address: string | undefined;
}

/**
 * Returns the own settings of an instance, behind its connection name (`project:region:instance`) or its URI
 * (`projects/.../instances/...`); undefined for another word.
 */
function queryIn(word: string): string | undefined {
  const [name = "", query = ""] = word.replaceAll(/['"]/g, "").split("?");
  const isName = /^[\w.:-]+$/.test(name) && name.split(":").length > 2;
  return isName || (name.startsWith("projects/") && name.includes("/instances/")) ? query : undefined;
}

/** Returns the settings of each instance as a query; undefined for one whose name is not seen. One, if none is named. */
function queriesOf({ words, env }: ShownContainer, prefix: string): readonly (string | undefined)[] {
  const variables = [...env].filter(([name]) => name.startsWith(`${prefix}INSTANCE_`));
  const queries: (string | undefined)[] = [];
  for (const word of [...words, ...variables.map(([, value]) => value)]) {
    const query = queryIn(word ?? "");
    if (query !== undefined) queries.push(query);
    else if (word === undefined || word.startsWith("$(")) queries.push(undefined);
  }
  const known = queries.filter((query) => query !== undefined);
  if (known.length > 0) return known;
  return queries.length > 0 ? [undefined] : [""];
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1?\]?|localhost)$/;

function listenerOf(query: string | undefined, { port, socket, address }: Common): number | "usual" | undefined {
  const own = new URLSearchParams(query);
  const [ownPort, ownAddress] = [own.get("port"), own.get("address")];
  const hasSocket = socket !== undefined || own.has("unix-socket") || own.has("unix-socket-path");
  if (hasSocket && ownPort === null && ownAddress === null) return undefined;
  if (!LOOPBACK.test(ownAddress ?? address ?? "localhost")) return undefined;
  const given = ownPort ?? port;
  if (given !== undefined) return portOf(given);
  return query === undefined ? undefined : "usual";
}

/** Returns the same of Cloud SQL's version 1: `-instances=project:region:instance=tcp:3306`. */
export function listenersOfFirst({ words }: ShownContainer): readonly number[] {
  const places = words.flatMap((word) => word.split(",")).flatMap((instance) => instance.split("=tcp:")[1] ?? []);
  return places.flatMap((place) => {
    const colon = place.lastIndexOf(":");
    const isReached = colon < 0 || LOOPBACK.test(place.slice(0, colon));
    return isReached ? (portOf(place.slice(colon + 1)) ?? []) : [];
  });
}
