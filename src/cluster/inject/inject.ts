import { relative, resolve } from "node:path";
import { nearest } from "../../shared/cli/core/suggestion.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { allOf, EXIT, Failure, INJECT_EXIT } from "../../shared/core/exit.ts";
import { listOf, objectOf, textOf } from "../../shared/core/json.ts";
import { oneLine, printable } from "../../shared/core/text.ts";
import { writeContent } from "../../shared/output/content.ts";
import { hasColours } from "../../shared/output/live.ts";
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
import { readSources, replaceFile, type Source } from "./manifest-files.ts";
import { unifiedDiff } from "./unified-diff.ts";
import { withLookups } from "./with-lookups.ts";
import { applySplices } from "./yaml/splice.ts";

/** What a call of `ebb inject` asks for. */
export interface Order {
  /** Files, folders, or `-` for stdin; empty: stdin. */
  readonly paths: readonly string[];
  /** Whether subfolders are read, too. */
  readonly recursive: boolean;
  /** How ebb is put into pods; undefined if it is taken out of them. */
  readonly policy: InjectPolicy | undefined;
  /** How registries are asked what images start. */
  readonly registries: RegistrySettings;
  /**
   * What is done with the manifests: they are printed on stdout, written to their files, or compared in a diff on
   * stdout.
   */
  readonly outcome: "print" | "write" | "diff";
  /** Whether nothing is said of each pod on stderr. */
  readonly quiet: boolean;
  /** Whether warnings are errors. */
  readonly strict: boolean;
  readonly env: Environment;
  readonly log: Log;
}

/** One manifest's texts, before and after. */
type Done = Source & Injected;

/**
 * Runs `ebb inject`: reads all manifests, changes all, and only then writes: all of them, or nothing if one pod is
 * refused or, with `strict`, warned of. Resolves with the exit code: 0, or 1 if a diff is not empty.
 * @throws Failure 65 that names all that is refused or cannot be parsed; 64 or 71 if a file cannot be read or written
 */
export async function inject(order: Order): Promise<number> {
  const { outcome, quiet, strict, env } = order;
  const names = new Set<string>();
  const done = await changeAll(order, await readSources(order.paths, order.recursive), names);
  const stray = strayEntrypoints(order.policy, [...names]);
  const problems = done.flatMap(({ problems, warnings }) => (strict ? [...warnings, ...problems] : problems));
  if (strict || problems.length > 0) problems.push(...stray); // a slip in a name may be the reason
  if (problems.length > 0) throw new Failure(INJECT_EXIT.input, allOf(problems.map(oneLine)));
  if (!quiet) await say([...done.flatMap(({ remarks }) => remarks), ...stray]);
  if (outcome === "diff") return await showDiff(done, env);
  if (outcome === "write") return writeFiles(done);
  await writeContent(joinTexts(done.map(textAfter)));
  return EXIT.ok;
}

/** Puts ebb into the pods of all manifests, or takes it out of them. Adds what their containers are called to `names`. */
async function changeAll(
  { policy, registries, env, log }: Order,
  sources: readonly Source[],
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

function writeFiles(done: readonly Done[]): number {
  for (const each of done)
    if (each.splices.length > 0 && each.path !== undefined) replaceFile(each.path, textAfter(each));
  return EXIT.ok;
}

/** Prints the diff. Returns the exit code of diff and kubectl diff: 1 if there is a difference. */
async function showDiff(done: readonly Done[], env: Environment): Promise<number> {
  const diff = done.map((each) => unifiedDiff(patchNameOf(each), each.text, each.splices)).join("");
  if (hasColours(env, 1)) await writeStreamed(new TextEncoder().encode(diff.replaceAll(/[^\n]+/g, colored)));
  else await writeContent(diff);
  return diff === "" ? EXIT.ok : INJECT_EXIT.differs;
}

/** Returns the name of a file in a patch for this folder or, if the file is not below it, for the root folder. */
function patchNameOf({ name, path }: Done): string {
  if (path === undefined) return name;
  const below = relative("", path);
  return below.startsWith("..") ? resolve(path).slice(1) : below;
}

const colors: readonly (readonly [start: string, code: number])[] = [
  ["+++", 1],
  ["---", 1],
  ["@@", 36],
  ["+", 32],
  ["-", 31],
];

function colored(line: string): string {
  const color = colors.find(([start]) => line.startsWith(start));
  const shown = printable(line);
  return color === undefined ? shown : `\x1b[${color[1]}m${shown}\x1b[m`;
}
