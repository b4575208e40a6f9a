// Plain JavaScript, because the bootstrap imports it with Node.js alone.
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Returns the folder in which downloads, and what is made of them, are kept between builds, outside the tree (XDG Base
 * Directory Specification). Nothing in it is trusted: each use checks it, and what is damaged is fetched or made again,
 * or refused. Only which regular expressions were found to be safe is believed: a wrong one costs a warning.
 * - Bun, Envoy and Go are kept with the archives that they came in. The tree has the archives' digests (package-lock.json,
 *   envoy.mjs, go.mjs), and what was unpacked is compared with the archive.
 * - A package that apt has checked, and what is compiled here, have no digest in the tree. A list of their digests lies
 *   beside them: it tells damage, not forgery.
 */
export function cacheFolder() {
  const { XDG_CACHE_HOME } = process.env;
  return join(XDG_CACHE_HOME || join(homedir(), ".cache"), "ebb");
}
