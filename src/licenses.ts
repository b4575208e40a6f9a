import { texts } from "./about/texts.ts";
import { EXIT } from "./core/run/exit.ts";
import { writeError, writeStreamed } from "./system/output/output.ts";

/**
 * Prints what is inside the executable, with the whole text of each licence, to stdout. Resolves to the exit code: 0, or
 * 64 in development, where this is not known.
 */
export async function showLicenses(): Promise<number> {
  if (texts === undefined) {
    writeError("ebb: --licenses: only what build/build.ts has built knows what is inside it\n");
    return EXIT.usage;
  }
  await writeStreamed(Bun.zstdDecompressSync(Buffer.from(texts, "base64")));
  return EXIT.ok;
}
