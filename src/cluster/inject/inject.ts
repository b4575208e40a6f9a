import { nearest } from "../../shared/cli/core/suggestion.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { allOf, Failure, INPUT_EXIT } from "../../shared/core/exit.ts";
import { listOf, objectOf, textOf } from "../../shared/core/json.ts";
import { oneLine } from "../../shared/core/text.ts";
import { writeContent } from "../../shared/output/content.ts";
import type { Log } from "../../shared/output/log.ts";
import { writeStreamed } from "../../shared/output/output.ts";
import type { RegistrySettings } from "../image/core/registry-options.ts";
import { createImageCache } from "../image/image-cache.ts";
import { namesFor } from "./core/facts/words.ts";
import { removeFromPod } from "./core/inject-pod.ts";
import type { InjectPolicy } from "./core/policy.ts";
import type { ChangePod } from "./core/workload/workload.ts";
import { joinTexts } from "./documents.ts";
import { type Injected, injectText } from "./inject-text.ts";
import { type ManifestFile, readSources, replaceFile } from "./manifest-files.ts";
import { withLookups } from "./with-lookups.ts";
import { applySplices } from "./yaml/splice.ts";

/** What a call of `ebb inject` asks for. */
interface InjectCall {
  /** Files, folders, or `-` for stdin; empty: stdin. */
  readonly paths: readonly string[];
  /** Whether subfolders are read, too. */
  readonly recursive: boolean;
  /** How ebb is put into pods; undefined if it is taken out of them. */
  readonly policy: InjectPolicy | undefined;
  /** How registries are asked what images start. */
  readonly registries: RegistrySettings;
  /** Whether the manifests are written to their files instead of stdout. */
  readonly isInPlace: boolean;
  /** Whether nothing is said of each pod on stderr. */
  readonly quiet: boolean;
  /** Whether warnings are errors. */
  readonly strict: boolean;
  readonly env: Environment;
  readonly log: Log;
}

/** One manifest's texts, before and after. */
type Done = ManifestFile & Injected;

/**
 * Runs `ebb inject`: reads all manifests, changes all, and only then writes: all of them, or nothing if one pod is
 * refused or, with `strict`, warned of.
 * @throws Failure 65 that names all that is refused or cannot be parsed; 64 or 71 if a file cannot be read or written
 */
export async function inject(order: InjectCall): Promise<void> {
  const { isInPlace, quiet, strict } = order;
  const names = new Set<string>();
  const done = await changeAll(order, await readSources(order.paths, order.recursive), names);
  const stray = strayEntrypoints(order.policy, [...names]);
  const problems = done.flatMap(({ problems, warnings }) => (strict ? [...warnings, ...problems] : problems));
  if (strict || problems.length > 0) problems.push(...stray); // a slip in a name may be the reason
  if (problems.length > 0) throw new Failure(INPUT_EXIT, allOf(problems.map(oneLine)));
  if (!quiet) await say([...done.flatMap(({ remarks }) => remarks), ...stray]);
  if (isInPlace) writeFiles(done);
  else await writeContent(joinTexts(done.map(textAfter)));
}

/** Puts ebb into the pods of all manifests, or takes it out of them. Adds what their containers are called to `names`. */
async function changeAll(
  { policy, registries, env, log }: InjectCall,
  sources: readonly ManifestFile[],
  names: Set<string>,
): Promise<readonly Done[]> {
  const change = (changePod: ChangePod, namesLeft: boolean): readonly Done[] =>
    sources.map((source) => ({ ...source, ...injectText(source.name, source.text, changePod, namesLeft) }));
  if (policy === undefined) return change(removeFromPod, false); // what ebb never enters has no ebb to be removed
  const createCache = () => createImageCache(registries, { env, log, isAtDesk: true });
  return await withLookups(createCache, (inject) =>
    change((pod, place) => {
      for (const name of namesIn(pod)) names.add(name);
      return inject(pod, { ...policy, ...place });
    }, true),
  );
}

function namesIn(pod: unknown): readonly string[] {
  const containers = listOf(objectOf(objectOf(pod).spec).containers).map(objectOf);
  return containers.flatMap(({ name, image }) => namesFor({ name: textOf(name) ?? "", image: textOf(image) ?? "" }));
}

/** Returns a warning for each --entrypoint that no container takes. */
function strayEntrypoints(policy: InjectPolicy | undefined, names: readonly string[]): readonly string[] {
  const stray = [...(policy?.entrypoints.keys() ?? [])].filter((name) => !names.includes(name));
  return stray.map((name) => {
    const near = nearest(name, names);
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    return `warning: --entrypoint ${name}: no container or image has this name${hint}`;
  });
}

async function say(remarks: readonly string[]): Promise<void> {
  const text = remarks.map((remark) => `ebb: ${oneLine(remark)}\n`).join("");
  await writeStreamed(new TextEncoder().encode(text), 2);
}

function textAfter({ text, splices }: Done): string {
  return applySplices(text, splices);
}

function writeFiles(done: readonly Done[]): void {
  for (const each of done)
    if (each.splices.length > 0 && each.path !== undefined) replaceFile(each.path, textAfter(each));
}
