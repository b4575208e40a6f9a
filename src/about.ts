import { EXIT, Failure } from "./shared/core/exit.ts";
import { writeError, writeOutput, writeStreamed } from "./shared/output/output.ts";
import type { Signals } from "./shared/process/signals.ts";
import { exitOnStop } from "./shared/process/stop.ts";

/**
 * Prints the version in one line; with --json also what the executable was built from. @throws Failure(64) for other
 * flags
 */
export async function showVersion(format: string | undefined): Promise<number> {
  if (format !== "--json" && format?.startsWith("-"))
    throw new Failure(EXIT.usage, `--version: expected --json or nothing, got "${format}"`);
  const { name, version } = await import("../package.json");
  const { buildInfo } = await import("./build-info.ts");
  await writeOutput(format === "--json" ? `${JSON.stringify({ name, version, ...buildInfo })}\n` : `ebb ${version}\n`);
  return EXIT.ok;
}

/** Prints what is inside the executable, with the whole text of each licence. Resolves to 64 in development. */
export async function showLicenses(signals: Signals): Promise<number> {
  exitOnStop(signals);
  const { licenses } = await import("./build-info.ts");
  if (licenses === undefined) {
    writeError("ebb: --licenses: only what build/build.ts has built knows what is inside it\n");
    return EXIT.usage;
  }
  await writeStreamed(Bun.zstdDecompressSync(Buffer.from(licenses, "base64")));
  return EXIT.ok;
}
