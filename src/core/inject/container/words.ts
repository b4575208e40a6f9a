import type { Architecture, ImageCommand } from "../../image/lookup.ts";
import { parseSignal } from "../../run/signal.ts";
import { withoutTag } from "../../sidecars/containers.ts";
import type { Container } from "../pod.ts";
import type { FormerWords, InjectRequest, TrackedImage } from "../policy.ts";

/** The command line that a container starts before its `args`, and who says it. */
export type Words =
  /** The user: the manifest, an annotation or --entrypoint. */
  | { readonly kind: "said"; readonly words: readonly string[] }
  /** A registry, now or at an earlier injection. */
  | { readonly kind: "image"; readonly words: readonly string[]; readonly image: TrackedImage }
  | { readonly kind: "unknown"; readonly reason: string };

/** Reports whether the manifest leaves a container's command to the image. */
export function hasNoCommand({ command }: Container): boolean {
  return (command ?? []).length === 0;
}

/**
 * Returns what a container starts. What the user says comes first, and then no registry is asked. `architectures`: those
 * of the nodes on which the pod may run.
 */
export function wordsOf(container: Container, request: InjectRequest, architectures: readonly Architecture[]): Words {
  const said = hasNoCommand(container) ? entrypointOf(container, request) : container.command;
  if (said != null) return { kind: "said", words: said };
  if (request.policy.setsCommand?.(container) === true) return { kind: "unknown", reason: SET_LATER };
  const { name, image } = container;
  const lookup = !image ? undefined : request.policy.imageOf?.({ image, architectures });
  if (lookup?.kind === "found") return wordsOfImage(container, lookup.command);
  const reason = lookup?.reason ?? (image ? `no registry was asked for ${image}` : "it has no image");
  return formerWords(container, request.former.get(name)) ?? { kind: "unknown", reason };
}

/** Returns what `--entrypoint` may call a container, the strongest first. */
export function namesFor({ name, image }: Pick<Container, "name" | "image">): readonly string[] {
  return [name, image ?? "", withoutTag(image ?? "")];
}

const SET_LATER = "its controller sets the command, as there is none here: let ebb webhook change the pods";

/** Returns what the user says of an image, now or at an earlier injection. */
function entrypointOf(container: Container, request: InjectRequest): readonly string[] | undefined {
  const { annotations, policy, former } = request;
  const earlier = former.get(container.name);
  const ofPolicy = namesFor(container).find((one) => policy.entrypoints.has(one)) ?? "";
  return (
    annotations.entrypoints.get(container.name) ??
    annotations.entrypoint ??
    policy.entrypoints.get(ofPolicy) ??
    (earlier?.image === undefined ? earlier?.words : undefined)
  );
}

/**
 * Returns the words of an image as the runtime composes them: `args` take the place of CMD (containerd,
 * internal/cri/opts/spec_opts.go, WithProcessArgs). A STOPSIGNAL that is none is left out, as an image may say anything.
 */
function wordsOfImage({ image, args }: Container, { entrypoint, cmd, stopSignal: said = "" }: ImageCommand): Words {
  const name = image as string;
  const hasCmd = (args ?? []).length === 0;
  const words = [...entrypoint, ...(hasCmd ? cmd : [])].map(escaped);
  const stopSignal = said.length <= LONGEST_SIGNAL && parseSignal(said) !== undefined ? said : undefined;
  if (hasCmd && words.length === 0)
    return { kind: "unknown", reason: `${name} has neither ENTRYPOINT nor CMD: nothing would start` };
  return { kind: "image", words, image: { name, hasCmd, stopSignal } };
}

/** `SIGRTMAX-14` has 11 characters. */
const LONGEST_SIGNAL = 16;

/**
 * Writes a word so that the kubelet makes it what it is in the image: `$$` becomes `$`, `$(NAME)` a variable's value, and
 * what follows another `$` is kept if it is ASCII (kubernetes, third_party/forked/golang/expansion/expand.go).
 */
function escaped(word: string): string {
  return word.replaceAll(/\$(?=[$(\u0080-\uffff])/g, "$$$$");
}

/** Returns what a registry told an earlier injection. Another image, or `args` that came or went, make that wrong. */
function formerWords({ image, args }: Container, former: FormerWords | undefined): Words | undefined {
  if (former?.image === undefined || former.image.name !== image) return undefined;
  const hasCmd = (args ?? []).length === 0;
  return former.image.hasCmd === hasCmd ? { kind: "image", words: former.words, image: former.image } : undefined;
}
