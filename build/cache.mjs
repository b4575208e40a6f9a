// Plain JavaScript, because the bootstrap imports it with Node.js alone.
import { homedir } from "node:os";
import { join } from "node:path";

/** Where downloads and what is made of them are kept between builds, outside the tree (XDG Base Directory Specification). */
export function cacheFolder() {
  const { XDG_CACHE_HOME } = process.env;
  return join(XDG_CACHE_HOME || join(homedir(), ".cache"), "ebb");
}
