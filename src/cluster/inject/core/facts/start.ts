import type { Orchestrator, Role } from "../orchestrators/orchestrator.ts";
import type { Container } from "../pod.ts";
import { isInit, MUST_BE_FIRST, starterOf } from "./command.ts";
import type { TrackedImage } from "./former-injection.ts";
import { type WordSources, wordsOf } from "./words.ts";

/** How a container starts from now on. */
export type Start =
  /** By ebb. `words`: what it starts today, but for `args`. `image`: what a registry told of its image, if that has them. */
  | { readonly kind: "wrapped"; readonly words: readonly string[]; readonly image: TrackedImage | undefined }
  /** As before: by an ebb of its own. */
  | { readonly kind: "own-ebb"; readonly image: TrackedImage | undefined }
  /** As before: it is another command of ebb's (`ebb sleep`), which starts nothing. */
  | { readonly kind: "ebb-command"; readonly words: readonly string[] }
  /** As before: nobody knows its command, or that must stay (`mustStay`). */
  | { readonly kind: "unwrapped"; readonly reason: string; readonly mustStay: boolean };

/** What decides how containers start. */
interface StartRules extends WordSources {
  readonly orchestrator: Orchestrator | undefined;
}

/** Decides how a container starts; undefined for a sidecar, which ebb leaves alone. */
export function containerStart(container: Container, role: Role, rules: StartRules): Start | undefined {
  if (role === "sidecar") return undefined;
  if (role === "untouchable") return kept(`${rules.orchestrator?.name} needs it as it is`);
  const base = wordsOf(container, rules);
  if (base.kind === "unknown") return { kind: "unwrapped", reason: base.reason, mustStay: false };
  const words = [...base.words, ...(container.args ?? [])];
  const [program = ""] = words;
  if (isInit(program)) return kept(`${program} ${MUST_BE_FIRST}, which ebb run would be: ebb help apps`);
  const image = base.kind === "image" ? base.image : undefined;
  const starter = starterOf(words);
  if (starter.kind !== "ebb") return { kind: "wrapped", words: base.words, image };
  return starter.runs ? { kind: "own-ebb", image } : { kind: "ebb-command", words };
}

function kept(reason: string): Start {
  return { kind: "unwrapped", reason, mustStay: true };
}
