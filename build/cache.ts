import { homedir } from "node:os";
import { join } from "node:path";

/** Where downloads are kept between builds, outside the tree (XDG Base Directory Specification). */
export function cacheFolder(): string {
  const { XDG_CACHE_HOME } = process.env;
  return join(XDG_CACHE_HOME || join(homedir(), ".cache"), "ebb");
}
