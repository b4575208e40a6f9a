import { acceptsConnections } from "../../shared/http/tcp-check.ts";
import { onSocket } from "../../shared/sidecars/core/plan.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";

/**
 * Returns the sidecar with its admin interface on the Unix socket that its kind may use, if it has a listener;
 * else unchanged.
 */
export function locateAdmin(sidecar: Sidecar): Sidecar {
  const path = sidecar.socket === undefined ? undefined : newestOpen(sidecar.socket.pattern);
  return path === undefined ? sidecar : onSocket(sidecar, path);
}

/**
 * Finds the path of the newest socket with a listener. The `*` of the pattern stands for the rest of a name.
 * A shared volume may have older sockets, of a container before a restart, or of an Envoy that has ended.
 */
function newestOpen(pattern: string): string | undefined {
  const [before = "", after = ""] = pattern.split("*");
  const slash = before.lastIndexOf("/") + 1;
  const [folder, prefix] = [before.slice(0, slash), before.slice(slash)];
  const sockets: { readonly path: string; readonly changedAt: number }[] = [];
  for (const name of namesIn(folder)) {
    if (!name.startsWith(prefix)) continue;
    const path = `${folder}${name}${after}`;
    const changedAt = socketTime(path);
    if (changedAt !== undefined) sockets.push({ path, changedAt });
  }
  sockets.sort((one, other) => other.changedAt - one.changedAt);
  return sockets.find(({ path }) => acceptsConnections(path))?.path;
}

function namesIn(folder: string): readonly string[] {
  const { readdirSync } = require("node:fs") as typeof import("node:fs"); // 0.9 ms, and few need it
  try {
    return readdirSync(folder);
  } catch {
    return []; // scratch images have no /tmp
  }
}

/**
 * Returns a socket's mtime in ms since the epoch. Returns undefined if there is no socket, or another user's folder
 * hides it.
 */
function socketTime(path: string): number | undefined {
  const { statSync } = require("node:fs") as typeof import("node:fs");
  try {
    const seen = statSync(path);
    return seen.isSocket() ? seen.mtimeMs : undefined;
  } catch {
    return undefined;
  }
}
