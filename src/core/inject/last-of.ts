import { options } from "../cli/options.ts";
import { APPS_FOLDER, OWN_FOLDER } from "../run/peers.ts";
import type { App } from "./container/app.ts";
import { mayEnd } from "./container/restart.ts";
import { quits, sparesProxy } from "./container/shutdown.ts";
import { mountIn } from "./install.ts";
import type { Container, Mount, Pod, Remark, Volume } from "./pod.ts";

/**
 * Lets the app containers of a pod know of each other, so that the last one that ends quits the sidecars: adds a variable
 * and two mounts of the volume `name` to each in which ebb runs. Returns a problem for each mount that is in the way, and
 * undefined if the pod needs no such volume: one ebb alone would quit the sidecars, or none.
 */
export function joinApps(apps: readonly App[], pod: Pod, name: string): readonly Remark[] | undefined {
  const members = apps.filter(({ start }) => start.kind !== "unknown");
  if (members.length < 2 || !members.some((app) => mayQuit(app, pod))) return undefined;
  const names = members.map(({ container }) => container.name);
  if (names.length > MOST_APPS) return [tooMany(names.length)];
  const problems = members.flatMap(({ at, container }) => inTheWay(container, at));
  for (const { container } of members) {
    const value = [container.name, ...names.filter((other) => other !== container.name)].join(",");
    const env = container.env ?? [];
    if (!env.some(({ name }) => name === VARIABLE)) container.env = [...env, { name: VARIABLE, value }];
    container.volumeMounts = [...(container.volumeMounts ?? []), ...appsMounts(name, container.name)];
  }
  return problems;
}

/** It differs from container to container, so it is no annotation. */
const VARIABLE = options.lastOf.variables[0]?.name as string;

/** Each is told the names of all. */
const MOST_APPS = 50;

function tooMany(count: number): Remark {
  const message = `at most ${MOST_APPS} apps can know of each other's end, and here are ${count}: set ebb.dev/quit-on: never, and let a native sidecar or ebb reaper end the pod`;
  return { field: "spec.containers", message };
}

/** Reports whether ebb may tell sidecars to quit when a container ends. */
function mayQuit({ container, looks, isGiven }: App, pod: Pod): boolean {
  const isTold = looks || isGiven("quit") || isGiven("signal-process");
  return isTold && mayEnd(container, pod) && quits(container);
}

/** Reports whether the container that ends last tells the proxy to quit: a helper, if there is one. */
export function lastQuits(apps: readonly App[], pod: Pod): boolean {
  const helpers = apps.filter(({ role }) => role === "helper");
  const last = helpers.length > 0 ? helpers : apps;
  return last.length > 0 && last.every((app) => mayQuit(app, pod) && !sparesProxy(app.container));
}

/** Returns the volume that the app containers share. */
export function appsVolume(name: string): Volume {
  return { name, emptyDir: { sizeLimit: "1Mi" } };
}

/** Returns the mounts of that volume: all of it, read-only, and the container's own folder of it. */
function appsMounts(volume: string, container: string): readonly Mount[] {
  return [
    { name: volume, mountPath: APPS_FOLDER, readOnly: true },
    { name: volume, mountPath: OWN_FOLDER, subPath: container },
  ];
}

/** Reports whether a container's mount is one of `appsMounts`. */
export function isAppsMount({ mountPath, readOnly, subPath }: Mount, container: string): boolean {
  return mountPath === APPS_FOLDER ? readOnly === true : mountPath === OWN_FOLDER && subPath === container;
}

function inTheWay(container: Container, at: number): readonly Remark[] {
  return [APPS_FOLDER, OWN_FOLDER].flatMap((folder) => {
    const mount = mountIn(folder, container);
    if (mount === undefined) return [];
    const message = `the app containers tell each other of their end at ${folder}: mount this elsewhere`;
    return [{ field: `spec.containers[${at}].volumeMounts[${mount}].mountPath`, message }];
  });
}
