import { test } from "bun:test";
import { rollOut } from "./roll-out.ts";
import { tryIt } from "./try-it.ts";

// Two pages of the manual, from their first command to their last, at once: both wait for most of the time.

test.concurrent.each([
  ["try-it", tryIt],
  ["roll-out", rollOut],
])("the commands of the page %s do what it says", async (_, run) => await run(), 600_000);
