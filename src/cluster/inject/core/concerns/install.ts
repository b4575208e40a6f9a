import { type JsonObject, valueAt } from "../../../../shared/core/json.ts";
import { parseQuantity } from "../../../core/quantity.ts";
import { INSTALL } from "../annotation-names.ts";
import type { Edit } from "../edits/edit.ts";
import { EBB_FOLDER } from "../facts/command.ts";
import type { PodFacts } from "../facts/facts.ts";
import { mountIn } from "../facts/mounts.ts";
import { withNatives } from "../facts/natives.ts";
import { installCommand } from "../own-parts.ts";
import { type Amounts, type Container, freeName, type Mount, type Pod, type Volume } from "../pod.ts";
import type { InjectPolicy } from "../policy.ts";
import type { Concern } from "./concern.ts";
import { hookedProxies } from "./proxy-hooks.ts";

/** ebb is in a volume, which apps and proxies mount: an init container copies it there, or the volume is its image. */
export const install: Concern = (facts, apps) => {
  const mounted = apps.filter(({ isMounted }) => isMounted);
  const names = [...mounted.map(({ name }) => name), ...hookedProxies(facts, apps)];
  if (names.length === 0) return {};
  const { policy, volumes } = facts;
  const copier: Edit = { kind: "init-container", added: installContainer(facts) };
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
 * Returns the init container that copies ebb; that of an earlier injection stays as others made it since. The image's user
 * is 65532 (Dockerfile.distroless).
 */
function installContainer({ pod, moves, policy, former, volumes }: PodFacts): Container {
  const own = former?.installs.find(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === volumes.ebb));
  if (own !== undefined) return own;
  const moved = [...moves.moved].map(({ name }) => name);
  const spec = withNatives(pod.spec, moved);
  const resources = resourcesFor(spec);
  const { image, imagePullPolicy } = policy;
  return {
    name: freeName(INSTALL, [...spec.containers, ...(spec.initContainers ?? [])]),
    image,
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    command: [...installCommand],
    ...(resources === undefined ? {} : { resources }),
    securityContext: restrictedSecurity(pod),
    volumeMounts: [{ name: volumes.ebb, mountPath: EBB_FOLDER }],
  };
}

/**
 * Returns a container's securityContext that Pod Security's "restricted" admits. The user stays the pod's or the
 * image's, because OpenShift refuses any but the namespace's own; only in a pod that runs as root it is set, to 65532.
 * `pod` is any JSON.
 */
export function restrictedSecurity(pod: unknown): JsonObject {
  const isRoot = valueAt(pod, ["spec", "securityContext", "runAsUser"]) === 0;
  return {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    ...(isRoot ? { runAsUser: 65532, runAsGroup: 65532 } : {}),
    seccompProfile: { type: "RuntimeDefault" },
  };
}

const MiB = 2 ** 20;

/** What the copying needs of a resource, in cores or bytes. */
interface Need {
  readonly name: "cpu" | "memory" | "ephemeral-storage";
  readonly request: number;
  /** How much is enough. */
  readonly limit: number;
  /** How much it cannot do without. */
  readonly least: number;
}

/**
 * Measured (bench install): a copy takes 100 MB on the disk, less than 16 MiB of memory, and with a whole processor a
 * fraction of a second. With 128 MiB it stays in the page cache, from where the app is started next; with less that has
 * to read it from the disk.
 */
const needs: readonly Need[] = [
  { name: "cpu", request: 0.1, limit: 1, least: 0 },
  { name: "memory", request: 16 * MiB, limit: 128 * MiB, least: 16 * MiB },
  { name: "ephemeral-storage", request: 128 * MiB, limit: 128 * MiB, least: 128 * MiB },
];

/**
 * Returns the requests and limits of the init container: those that all containers of the pod set, as quotas demand;
 * undefined if there are none. It requests at most their sum: init containers run before them, so the scheduler counts
 * the larger. The pod's QoS class stays.
 */
function resourcesFor(spec: Pod["spec"]): Container["resources"] | undefined {
  if (spec.resources?.requests != null || spec.resources?.limits != null) return undefined; // the pod's own count then
  const isGuaranteed = isGuaranteedPod(spec);
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  for (const need of needs) {
    const { name } = need;
    const isEqual = isGuaranteed && name !== "ephemeral-storage";
    const limit = limitFor(
      need,
      amountsOf(spec, ({ limits }) => limits?.[name]),
    );
    const requested = amountsOf(spec, ({ requests, limits }) => requests?.[name] ?? limits?.[name]);
    if (limit !== undefined) limits[name] = formatAmount(need, limit);
    if (requested === undefined) continue;
    const request = Math.min(need.request, sumOf(requested), limit ?? need.request);
    requests[name] = formatAmount(need, isEqual ? (limit ?? 0) : request);
  }
  const set = Object.entries({ requests, limits }).filter(([, amounts]) => Object.keys(amounts).length > 0);
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

/** Returns the limit of a resource, by the limits of the containers. */
function limitFor({ name, limit, least }: Need, own: readonly number[] | undefined): number | undefined {
  if (own === undefined) return undefined;
  // as long as the copy is there it is the pod's, beside what the containers may take
  if (name === "ephemeral-storage") return sumOf(own) + limit;
  // a LimitRange whose `max` admits the largest admits as much again
  return Math.max(least, Math.min(limit, Math.max(...own)));
}

type Resources = { readonly requests?: Amounts; readonly limits?: Amounts };

/** Returns an amount of each container; undefined if one of them does not set it. */
function amountsOf({ containers }: Pod["spec"], amountOf: (of: Resources) => unknown): readonly number[] | undefined {
  const amounts = containers.flatMap(({ resources }) => parseQuantity(amountOf(resources ?? {})) ?? []);
  return amounts.length < containers.length ? undefined : amounts;
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

/** Reports whether the pod's QoS class is Guaranteed (Kubernetes: pkg/apis/core/v1/helper/qos). */
function isGuaranteedPod({ containers, initContainers }: Pod["spec"]): boolean {
  return [...containers, ...(initContainers ?? [])].every(({ resources }) =>
    ["cpu", "memory"].every((name) => {
      const limit = parseQuantity(resources?.limits?.[name]) ?? 0;
      return limit > 0 && (parseQuantity(resources?.requests?.[name]) ?? limit) === limit;
    }),
  );
}

function formatAmount({ name }: Need, amount: number): string {
  // Kubernetes knows no less than 1m
  if (name === "cpu") return amount % 1 === 0 ? String(amount) : `${Math.max(1, Math.round(amount * 1000))}m`;
  return amount % MiB === 0 ? `${amount / MiB}Mi` : String(Math.floor(amount));
}
