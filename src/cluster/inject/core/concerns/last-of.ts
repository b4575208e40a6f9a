import { options } from "../../../../shared/cli/core/options.ts";
import { APPS_FOLDER, OWN_FOLDER } from "../../../../shared/core/peer-volume.ts";
import type { App } from "../apps/app.ts";
import { mayQuit } from "../apps/quits.ts";
import type { Edit } from "../edits/edit.ts";
import { hasVariable } from "../facts/env.ts";
import type { PodFacts } from "../facts/facts.ts";
import { mountIn } from "../facts/mounts.ts";
import { appsMounts } from "../own-parts.ts";
import type { Volume } from "../pod.ts";
import type { Concern, Note } from "./concern.ts";
import { volumeEdit } from "./install.ts";

/**
 * The app containers of a pod know of each other, so that the last one that ends quits the sidecars: each in which ebb runs
 * has a variable and two mounts of a volume. None of that where one ebb alone would quit the sidecars, or none.
 */
export const lastOf: Concern = (facts, apps) => {
  const members = apps.filter(({ start }) => start.kind !== "unwrapped");
  const warnings = apps.every(({ start }) => start.kind !== "unwrapped") ? severalApps(facts) : [];
  if (members.length < 2 || !members.some((app) => mayQuit(app, facts.pod))) return { warnings };
  const names = members.map(({ name }) => name);
  const volume = facts.volumes.apps;
  const added = volumeEdit(appsVolume(volume), facts);
  if (names.length > MOST_APPS) return { problems: [tooMany(names.length)] };
  return {
    edits: [added, ...members.flatMap((app) => join(app, names, volume))],
    problems: members.flatMap(inTheWay),
    warnings,
  };
};

/** Returns a warning for a pod that ends only with several containers, if one of these is an app by default alone. */
function severalApps({ containers, requested, restartsAlways }: PodFacts): readonly Note[] {
  const isByDefault = containers.some(({ isDefault }) => isDefault);
  const apps = containers.filter((one) => one.isDefault || requested.apps.has(one.name));
  if (restartsAlways || !isByDefault || apps.length < 2) return [];
  const names = apps.map(({ name }) => name).join(",");
  const message = `the pod ends only when all of its apps have ended (${names}); if one of them is a sidecar, name it in ebb.dev/sidecars; if not, name all of them in ebb.dev/apps`;
  return [{ field: "spec.containers", message }];
}

function join({ name, container }: App, names: readonly string[], volume: string): readonly Edit[] {
  const value = [name, ...names.filter((other) => other !== name)].join(",");
  const isSet = hasVariable(container, VARIABLE);
  const mounts = appsMounts(volume, name).map((mount) => ({ kind: "mount", container: name, mount }) as const);
  return [...(isSet ? [] : [{ kind: "variable", container: name, name: VARIABLE, value } as const]), ...mounts];
}

/** It differs from container to container, so it is no annotation. */
const VARIABLE = options.lastOf.variables[0]?.name as string;

/** Each is told the names of all. */
const MOST_APPS = 50;

function tooMany(count: number): Note {
  const message = `at most ${MOST_APPS} apps can wait for each other to end, and this pod has ${count}: set ebb.dev/quit-on: never, and let a native sidecar or ebb reaper end the pod`;
  return { field: "spec.containers", message };
}

/** Returns the volume that the app containers share. */
function appsVolume(name: string): Volume {
  return { name, emptyDir: { sizeLimit: "1Mi" } };
}

function inTheWay({ name, container }: App): readonly Note[] {
  return [APPS_FOLDER, OWN_FOLDER].flatMap((folder) => {
    const at = mountIn(folder, container);
    if (at === undefined) return [];
    const message = `the app containers signal their end to each other in ${folder}: mount this elsewhere`;
    return [{ container: name, field: `volumeMounts[${at}].mountPath`, message }];
  });
}
