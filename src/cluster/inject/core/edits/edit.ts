import { valueAt } from "../../../../shared/core/json.ts";
import { NATIVE } from "../../../../shared/sidecars/core/kinds/native.ts";
import { LOCAL_VOLUMES } from "../annotation-names.ts";
import type { TrackedImage } from "../facts/former-injection.ts";
import type { Container, Mount, Pod, Volume } from "../pod.ts";
import { withNatives } from "./natives.ts";
import { addedTo, type ContainerRecord, commandStatus, imageStatus, type Status } from "./status.ts";
import { wrap } from "./wrap.ts";
import { emptyIn, type TextAt } from "./written.ts";

/**
 * A change of a pod. It names containers, never their places. `ways` says how each is made, and how ebb.dev/status records
 * it; undo.ts, how it is undone.
 */
export type Edit =
  /** These containers become the last native sidecars. `at`: their places in spec.containers until now. */
  | { readonly kind: "native"; readonly moved: readonly { readonly name: string; readonly at: number }[] }
  /** ebb starts these words. `image`: what a registry told of the container's image, if they are from there. */
  | {
      readonly kind: "command";
      readonly container: string;
      readonly words: readonly string[];
      readonly image: TrackedImage | undefined;
    }
  /** Not a change, but why there is none: the container starts as before. */
  | { readonly kind: "unwrapped"; readonly container: string; readonly reason: string }
  | { readonly kind: "variable"; readonly container: string; readonly name: string; readonly value: string }
  | { readonly kind: "mount"; readonly container: string; readonly mount: Mount }
  /** In the place of the container's preStop hook, if it has one. `command`: undefined if that is only taken out. */
  | { readonly kind: "hook"; readonly container: string; readonly command: string[] | undefined }
  | { readonly kind: "init-container"; readonly added: Container }
  | { readonly kind: "volume"; readonly volume: Volume; readonly image: string }
  | { readonly kind: "annotation"; readonly name: string; readonly value: string }
  /** Volumes that Cluster Autoscaler's annotation does not name yet. */
  | { readonly kind: "local-volumes"; readonly names: readonly string[] }
  /** The annotation ebb.dev/native. */
  | { readonly kind: "native-annotation"; readonly value: string };

type Kind = Edit["kind"];
type Of<K extends Kind> = Extract<Edit, { readonly kind: K }>;

/** How a kind of edit is made, and recorded. */
interface Way<K extends Kind> {
  /** Makes the edit in place. What is inside containers is shared with the pod before, so it is replaced. */
  readonly make: (draft: Draft, edit: Of<K>) => void;
  /** Adds what undoes the edit to the status. */
  readonly record: (recording: Recording, edit: Of<K>) => void;
}

/** A pod in the making. */
interface Draft {
  readonly pod: Pod;
  /** Its ordinary containers. */
  readonly containers: Containers;
}

/** Ordinary containers, by their names. */
type Containers = ReadonlyMap<string, Container>;

/** The status in the making. */
interface Recording {
  readonly status: { -readonly [K in keyof Status]: Status[K] };
  /** The pod before all edits. */
  readonly before: Draft;
  /** Returns the record of a container. The first call creates it: an edit with nothing else to record calls it, too. */
  readonly of: (container: string) => ContainerRecord;
}

/** In the order in which edits are made, which is the order of new fields in a container and of names in the status. */
const ways: { readonly [K in Kind]: Way<K> } = {
  native: {
    make({ pod }, { moved }) {
      pod.spec = withNatives(pod.spec, moved);
    },
    record({ status }, { moved }) {
      status.moved = Object.fromEntries(moved.map(({ name, at }) => [name, at]));
    },
  },
  command: {
    make({ containers }, { container, words }) {
      containerIn(containers, container).command = wrap(words);
    },
    record({ of, before }, { container, image }) {
      const words = containerIn(before.containers, container).command ?? [];
      Object.assign(of(container), commandStatus(words), image === undefined ? {} : { image: imageStatus(image) });
    },
  },
  unwrapped: {
    make() {},
    record({ of }, { container, reason }) {
      of(container).unwrapped = reason;
    },
  },
  variable: {
    make({ containers }, { container, name, value }) {
      const one = containerIn(containers, container);
      one.env = [...(one.env ?? []), { name, value }];
    },
    record({ of }, { container, name }) {
      const status = of(container);
      status.env = [...(status.env ?? []), name];
    },
  },
  mount: {
    make({ containers }, { container, mount }) {
      const one = containerIn(containers, container);
      one.volumeMounts = [...(one.volumeMounts ?? []), mount];
    },
    record({ of }, { container }) {
      of(container);
    },
  },
  hook: {
    make({ containers }, { container, command }) {
      const one = containerIn(containers, container);
      const { preStop: _, ...rest } = one.lifecycle ?? {};
      if (command !== undefined) one.lifecycle = { ...one.lifecycle, preStop: { exec: { command } } };
      else if (Object.keys(rest).length > 0) one.lifecycle = rest;
      else delete one.lifecycle;
    },
    record({ of, before }, { container, command }) {
      const preStop = containerIn(before.containers, container).lifecycle?.preStop;
      if (command !== undefined) of(container).hook = true;
      if (preStop !== undefined) of(container).preStop = preStop;
    },
  },
  "init-container": {
    make({ pod: { spec } }, { added }) {
      spec.initContainers = [added, ...(spec.initContainers ?? [])];
    },
    record() {}, // it is known by its command
  },
  volume: {
    make({ pod: { spec } }, { volume }) {
      spec.volumes = [...(spec.volumes ?? []), volume];
    },
    record({ status }, { volume, image }) {
      Object.assign(status, { volumes: [...(status.volumes ?? []), volume.name], ebb: image });
    },
  },
  annotation: {
    make({ pod }, { name, value }) {
      pod.metadata = annotated(pod, name, value);
    },
    record({ status }, { name }) {
      status.annotations = [...(status.annotations ?? []), name];
    },
  },
  "local-volumes": {
    make({ pod }, { names }) {
      const there = pod.metadata?.annotations?.[LOCAL_VOLUMES];
      pod.metadata = annotated(pod, LOCAL_VOLUMES, [...(there === undefined ? [] : [there]), ...names].join(","));
    },
    record({ status }, { names }) {
      status.localVolumes = [...names];
    },
  },
  "native-annotation": {
    make({ pod }, { value }) {
      pod.metadata = annotated(pod, NATIVE, value);
    },
    record({ status, before }, { value }) {
      status.native = value;
      const former = before.pod.metadata?.annotations?.[NATIVE];
      if (former !== undefined) status.formerNative = former;
    },
  },
};

const kinds = Object.keys(ways) as Kind[];

/** Calls a function for each edit, sorted by kind: the order of concerns does not change the order of fields. */
function eachOf(edits: readonly Edit[], call: <K extends Kind>(way: Way<K>, edit: Of<K>) => void): void {
  for (const kind of kinds)
    for (const edit of edits) if (edit.kind === kind) call(ways[kind] as Way<Kind>, edit as Of<Kind>);
}

/** Returns a pod with edits; what they do not change is shared with it. */
export function applyEdits(before: Pod, edits: readonly Edit[]): Pod {
  const containers = before.spec.containers.map((container) => ({ ...container }));
  const draft = draftOf({ ...before, spec: { ...before.spec, containers } });
  eachOf(edits, (way, edit) => way.make(draft, edit));
  return draft.pod;
}

/** Edits of a pod, and the pod before and after them. */
interface Change {
  readonly before: Pod;
  readonly after: Pod;
  readonly edits: readonly Edit[];
}

/** Returns the status that records edits of a pod. */
export function recordEdits({ before, after, edits }: Change, textAt: TextAt): Status {
  const containers = new Map<string, ContainerRecord>();
  const of = (name: string): ContainerRecord => {
    const status = containers.get(name) ?? {};
    containers.set(name, status);
    return status;
  };
  const recording: Recording = { status: { containers: {} }, before: draftOf(before), of };
  eachOf(edits, (way, edit) => way.record(recording, edit));
  const recorded = before.spec.containers.flatMap((container, at) => {
    const status = containers.get(container.name);
    if (status === undefined) return [];
    const edited = after.spec.containers.find(({ name }) => name === container.name);
    const fields = addedTo.container.filter((path) => valueAt(container, path) !== valueAt(edited, path));
    const empty = emptyIn(container, fields, (path) => textAt(["spec", "containers", at, ...path]));
    return [[container.name, { ...status, empty }] as const];
  });
  // apps come first, then proxies, which get a hook alone
  const isApp = ([, { command, hook, unwrapped }]: (typeof recorded)[number]) =>
    command !== undefined || hook !== true || unwrapped !== undefined;
  const sorted = [...recorded.filter(isApp), ...recorded.filter((one) => !isApp(one))];
  // the status itself is an annotation
  const fields = addedTo.pod.filter((path) => path[0] === "metadata" || valueAt(before, path) !== valueAt(after, path));
  const empty = emptyIn(before, fields, textAt);
  return { ...recording.status, containers: Object.fromEntries(sorted), empty };
}

/** Reports whether an edit changes a pod. */
export function isChange({ kind }: Edit): boolean {
  return kind !== "unwrapped";
}

function draftOf(pod: Pod): Draft {
  return { pod, containers: new Map(pod.spec.containers.map((one) => [one.name, one])) };
}

function containerIn(containers: Containers, name: string): Container {
  const found = containers.get(name);
  if (found === undefined) throw new Error(`an edit of a container that is not there: ${name}`);
  return found;
}

/** Returns a pod with an annotation. */
export function withAnnotation(pod: Pod, name: string, value: string): Pod {
  return { ...pod, metadata: annotated(pod, name, value) };
}

function annotated({ metadata }: Pod, name: string, value: string): Pod["metadata"] {
  return { ...metadata, annotations: { ...metadata?.annotations, [name]: value } };
}
