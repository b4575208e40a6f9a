import { texts } from "./about/texts.ts";
import { EXIT } from "./core/run/exit.ts";
import { exit } from "./system/native/exit.ts";
import { writeError, writeStreamed } from "./system/output/output.ts";
import type { Signals } from "./system/process/signals.ts";
import { exitOnStop } from "./system/process/stop.ts";

// A bundle of its own (build/bundle/lazy-bundles.ts), because of 100 KB that nothing else needs. So it ends the process
// itself.

/**
 * Prints what is inside the executable, with the whole text of each licence, to stdout; then exits with 0, or with 64
 * in development, where this is not known. Never resolves.
 */
export async function main(signals: Signals): Promise<never> {
  exitOnStop(signals);
  if (texts === undefined) {
    writeError("ebb: --licenses: only what build/build.ts has built knows what is inside it\n");
    return exit(EXIT.usage);
  }
  await writeStreamed(Bun.zstdDecompressSync(Buffer.from(texts, "base64")));
  return exit(EXIT.ok);
}
