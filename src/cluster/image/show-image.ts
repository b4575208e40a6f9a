import { EXIT, Failure } from "../../shared/core/exit.ts";
import { oneLine } from "../../shared/core/text.ts";
import { writeOutput } from "../../shared/output/output.ts";
import type { Signals } from "../../shared/process/signals.ts";
import { onStop } from "../../shared/process/stop.ts";
import { LookupError } from "./core/failure.ts";
import { architectures } from "./core/lookup.ts";
import type { ImageConfig } from "./core/manifest.ts";
import { commandOf, formatPlatform, type ImageReport } from "./core/platform.ts";
import { formatReference, parseReference, usualFault } from "./core/reference.ts";
import type { ImageSettings } from "./core/registry-options.ts";
import { createImageReader, type ImageContext, LOOKUP_MS } from "./reader.ts";
import { readImage } from "./registry.ts";
import type { Session } from "./session.ts";

/** What `ebb image --json` prints; null stands for what the image does not say. */
interface Shown {
  readonly image: string;
  /** Where it was asked for: `registry.example.com/team/app`. */
  readonly askedAt: string;
  readonly digest: string;
  /** All that it is for: `linux/arm64/v8`. */
  readonly platforms: readonly string[];
  /** What it starts on those on which ebb runs. */
  readonly starts: readonly (Start & { readonly platform: string })[];
}

interface Start {
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly workingDir: string | null;
  readonly user: string | null;
  readonly stopSignal: string | null;
}

/**
 * Runs `ebb image`: asks a registry, and prints what it says. Resolves with the exit code: 0, or 128+n if signal n ends
 * it.
 * @throws Failure 64 if the name is none, 69 if no registry answers, or the image is for no platform of ebb's
 */
export async function showImage(
  image: string,
  settings: ImageSettings,
  { env, log, signals }: Omit<ImageContext, "isAtDesk"> & { readonly signals: Signals },
): Promise<number> {
  const reference = parseReference(image);
  if (reference === undefined)
    throw new Failure(
      EXIT.usage,
      `image: expected a name such as nginx:1.29 or registry.example.com/team/app, got ${JSON.stringify(image)}${usualFault(image)}`,
    );
  const stop = new AbortController();
  onStop(signals, (signal) => stop.abort(signal));
  try {
    const reader = createImageReader(settings, { env, log, isAtDesk: true });
    const { candidates } = reader.candidatesFor(image, []);
    let askedAt = "";
    const read = (session: Session) => {
      askedAt = `${session.source.host}/${session.source.repository}`;
      return readImage(session, reference, architectures);
    };
    const report = await reader.ask(candidates, read, { limitMs: LOOKUP_MS, stop: stop.signal });
    const shown = shownOf(report, { image: formatReference(reference), askedAt });
    const command = commandOf({ image, architectures }, report);
    if (command.kind === "unknown" && command.failure === "other-platform")
      throw new Failure(EXIT.unavailable, `image: ${command.reason}`);
    await writeOutput(settings.json ? `${JSON.stringify(shown, null, 2)}\n` : formatShown(shown));
    return EXIT.ok;
  } catch (error) {
    if (stop.signal.aborted) return 128 + stop.signal.reason;
    if (error instanceof LookupError) throw new Failure(EXIT.unavailable, `image: ${error.message}`, { cause: error });
    throw error;
  }
}

function shownOf({ digest, platforms, configs }: ImageReport, names: Pick<Shown, "image" | "askedAt">): Shown {
  const starts = configs.map((config) => ({ platform: formatPlatform(config.platform), ...startOf(config) }));
  return { ...names, digest, platforms: [...new Set(platforms.map(formatPlatform))], starts };
}

function startOf({ entrypoint, cmd, workingDir, user, stopSignal }: ImageConfig): Start {
  const texts = { workingDir: workingDir ?? null, user: user ?? null, stopSignal: stopSignal ?? null };
  return { entrypoint, cmd, ...texts };
}

/** Formats it for people: what it starts once if that is the same on all platforms. */
function formatShown({ image, askedAt, digest, platforms, starts }: Shown): string {
  const head: Row[] = [
    ["image", image],
    ["asked at", askedAt],
    ["digest", digest],
    ["platforms", platforms.join(", ")],
  ];
  const all = starts.map(({ platform, ...start }) => ({ platform, rows: rowsOf(start) }));
  const isSame = all.every(({ rows }) => JSON.stringify(rows) === JSON.stringify(all[0]?.rows));
  const rest = isSame
    ? (all[0]?.rows ?? [])
    : all.flatMap(({ platform, rows }): Row[] => [["", ""], ["on", platform], ...rows]);
  return [...head, ...rest]
    .map(([name, value]) => `${oneLine(name === "" ? "" : `${name.padEnd(12)}${value}`)}\n`)
    .join("");
}

type Row = readonly [name: string, value: string];

function rowsOf({ entrypoint, cmd, workingDir, user, stopSignal }: Start): readonly Row[] {
  return [
    ["entrypoint", words(entrypoint)],
    ["cmd", words(cmd)],
    ["workdir", workingDir ?? "/"],
    ["user", user ?? "root"],
    ["stop signal", stopSignal ?? "none: SIGTERM"],
  ];
}

function words(list: readonly string[]): string {
  return list.length === 0 ? "none" : JSON.stringify(list);
}
