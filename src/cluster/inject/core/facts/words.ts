import { parseSignal } from "../../../../shared/core/signal.ts";
import { withoutTag } from "../../../core/containers.ts";
import type { Architecture, ImageCommand, ImageQuery } from "../../../image/core/lookup.ts";
import type { Container } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";
import type { InjectPolicy } from "../policy.ts";
import type { Former, FormerWords, TrackedImage } from "./former-injection.ts";

/** What tells the commands of containers. */
export interface WordSources {
  readonly policy: InjectPolicy;
  readonly requested: PodAnnotations;
  readonly former: Former | undefined;
  /** Those of the nodes on which the pod may run. */
  readonly architectures: readonly Architecture[];
  /** Images of which nothing is known yet are added here. */
  readonly missingImages: ImageQuery[];
}

/** The command line that a container starts before its `args`, and who says it. */
type Words =
  /** The user: the manifest, an annotation or --entrypoint. */
  | { readonly kind: "user"; readonly words: readonly string[] }
  /** A registry, now or at an earlier injection. */
  | { readonly kind: "image"; readonly words: readonly string[]; readonly image: TrackedImage }
  | { readonly kind: "unknown"; readonly reason: string };

/** Reports whether the manifest leaves a container's command to the image. */
export function hasNoCommand({ command }: Container): boolean {
  return (command ?? []).length === 0;
}

/**
 * Returns what a container starts. What the user says comes first, and then no registry is asked.
 */
export function wordsOf(container: Container, rules: WordSources): Words {
  const { policy, former, architectures, missingImages } = rules;
  const ofUser = hasNoCommand(container) ? entrypointOf(container, rules) : container.command;
  if (ofUser != null) return { kind: "user", words: ofUser };
  if (policy.setsCommand?.(container) === true) return { kind: "unknown", reason: SET_LATER };
  const { name, image } = container;
  const query = { image: image ?? "", architectures };
  const lookup = image ? policy.imageOf?.(query) : undefined;
  if (lookup === undefined && image && policy.imageOf !== undefined) missingImages.push(query);
  if (lookup?.kind === "found") return wordsOfImage(container, lookup.command);
  const reason = lookup?.reason ?? (image ? `no registry was asked for ${image}` : "it has no image");
  return formerWords(container, former?.words.get(name)) ?? { kind: "unknown", reason };
}

/** Returns what `--entrypoint` may call a container, the strongest first. */
export function namesFor({ name, image }: Pick<Container, "name" | "image">): readonly string[] {
  return [name, image ?? "", withoutTag(image ?? "")];
}

const SET_LATER = "its controller sets the command, as there is none here: let ebb webhook change the pods";

/** Returns what the user says of an image, now or at an earlier injection. */
function entrypointOf(container: Container, { requested, policy, former }: WordSources): readonly string[] | undefined {
  const earlier = former?.words.get(container.name);
  const ofPolicy = namesFor(container).find((one) => policy.entrypoints.has(one)) ?? "";
  return (
    requested.entrypoints.get(container.name) ??
    requested.entrypoint ??
    policy.entrypoints.get(ofPolicy) ??
    (earlier?.image === undefined ? earlier?.words : undefined)
  );
}

/**
 * Returns the words of an image as the runtime composes them: `args` take the place of CMD (containerd,
 * internal/cri/opts/spec_opts.go, WithProcessArgs). A STOPSIGNAL that is none is left out, as an image may say anything.
 */
function wordsOfImage({ image, args }: Container, { entrypoint, cmd, stopSignal: declared = "" }: ImageCommand): Words {
  const name = image as string;
  const hasCmd = (args ?? []).length === 0;
  const words = [...entrypoint, ...(hasCmd ? cmd : [])].map(escaped);
  const stopSignal = declared.length <= LONGEST_SIGNAL && parseSignal(declared) !== undefined ? declared : undefined;
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
