import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import packageJson from "../../package.json";

// The commands of `ebb help verify` that check a release.

const path = join(resolve(import.meta.dirname, "../.."), "src/manual/verify.md");
const page = readFileSync(path, "utf8").replaceAll("0.1.0", packageJson.version);
const [, section = ""] = /## Check a release\n([\s\S]*?)\n## /.exec(page) ?? [];
const lines = section.split("\n").flatMap((line) => (line.startsWith("    ") ? [line.trim()] : []));

/** Those that verify. */
export const commands = lines.filter((line) => /^(cosign|sha256sum) /.test(line));
export const [verifyBlob, checkSums, verifyImage, verifySbom, verifyChart] = commands as [
  ...[string, string, string, string, string],
];

/** The line that sets IMAGE. */
export const setImage = lines.find((line) => line.startsWith("IMAGE=")) ?? "";

/** The lines that say which workflow may have signed. */
export const trustWorkflow = lines.filter((line) => line.startsWith("export COSIGN_CERTIFICATE_")).join("; ");
