import { INSTALL } from "../annotation-names.ts";
import type { Edit } from "../edits/edit.ts";
import { withNatives } from "../edits/natives.ts";
import { EBB_FOLDER } from "../facts/command.ts";
import type { PodFacts } from "../facts/facts.ts";
import { mountIn } from "../facts/mounts.ts";
import { installCommand } from "../own-parts.ts";
import { type Container, freeName, type Mount, type Volume } from "../pod.ts";
import type { InjectPolicy } from "../policy.ts";
import type { Concern } from "./concern.ts";
import { resourcesFor } from "./install-resources.ts";
import { securityLike } from "./install-security.ts";
import { hookedProxies } from "./proxy-hooks.ts";

/** ebb is in a volume, which apps and proxies mount: an init container copies it there, or the volume is its image. */
export const install: Concern = (facts, apps) => {
  const mounted = apps.filter(({ isMounted }) => isMounted);
  const names = [...mounted.map(({ name }) => name), ...hookedProxies(facts, apps)];
  if (names.length === 0) return {};
  const { pod, policy, volumes } = facts;
  const first = pod.spec.containers.find(({ name }) => name === names[0]) as Container;
  const copier: Edit = { kind: "init-container", added: installContainer(facts, first) };
  return {
    edits: [
      ...(policy.volume === "emptyDir" ? [copier] : []),
      volumeEdit(ebbVolume(volumes.ebb, policy), facts),
      ...names.map((container) => ({ kind: "mount", container, mount: ebbMount(volumes.ebb) }) as const),
    ],
    problems: mounted.flatMap(({ name, container }) => {
      const at = mountIn(EBB_FOLDER, container);
      const field = `volumeMounts[${at}].mountPath`;
      const note = { container: name, field, message: "ebb is mounted at /ebb.dev: mount this elsewhere" };
      return at === undefined ? [] : [note];
    }),
  };
};

/** Returns the edit that adds a volume of ebb's. One that an earlier injection has added stays as others made it since. */
export function volumeEdit(made: Volume, { policy, former }: PodFacts): Edit {
  const own = former?.volumes.find((one) => isSameVolume(one, made));
  return { kind: "volume", volume: own ?? made, image: policy.image };
}

/** Reports whether two volumes have the same name, and are of the same type. */
function isSameVolume(one: Volume, made: Volume): boolean {
  return one.name === made.name && Object.keys(made).every((field) => Object.hasOwn(one, field));
}

/** Returns the mount of ebb's volume in a container that it is not copied from: read-only, at /ebb.dev. */
function ebbMount(name: string): Mount {
  return { name, mountPath: EBB_FOLDER, readOnly: true };
}

/**
 * Returns the volume that has ebb: the policy's image as an image volume, or an emptyDir of 256 MiB, which is room for
 * two copies.
 */
function ebbVolume(name: string, { volume, image, imagePullPolicy }: InjectPolicy): Volume {
  if (volume === "emptyDir") return { name, emptyDir: { sizeLimit: "256Mi" } };
  const pullPolicy = imagePullPolicy === undefined ? {} : { pullPolicy: imagePullPolicy };
  return { name, image: { reference: image, ...pullPolicy } };
}

/**
 * Returns the init container that copies ebb; that of an earlier injection stays as others made it since. `first`: the first
 * container that gets ebb.
 */
function installContainer({ pod, moves, policy, former, volumes }: PodFacts, first: Container): Container {
  const own = former?.installs.find(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === volumes.ebb));
  if (own !== undefined) return own;
  const spec = withNatives(pod.spec, [...moves.moved]);
  const resources = resourcesFor(spec);
  const { image, imagePullPolicy } = policy;
  return {
    name: freeName(INSTALL, [...spec.containers, ...(spec.initContainers ?? [])]),
    image,
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    command: [...installCommand],
    ...(resources === undefined ? {} : { resources }),
    securityContext: securityLike(first, pod),
    volumeMounts: [{ name: volumes.ebb, mountPath: EBB_FOLDER }],
  };
}
