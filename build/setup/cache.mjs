// Plain JavaScript, because the bootstrap imports it with Node.js alone.
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Where downloads and what is made of them are kept between builds, outside the tree (XDG Base Directory Specification).
 * Nothing in it is trusted: each use checks it, and what is damaged is fetched or made anew, or refused.
 * - Bun, Envoy and Go are kept with the archive that they came in. The tree has its digest (package-lock.json, envoy.mjs, go.mjs),
 *   and what was unpacked is what is in it.
 * - What has no digest in the tree, a package that apt has checked and what is compiled here, has a list of its digests beside it:
 *   that tells damage, not forgery.
 */
export function cacheFolder() {
  const { XDG_CACHE_HOME } = process.env;
  return join(XDG_CACHE_HOME || join(homedir(), ".cache"), "ebb");
}
