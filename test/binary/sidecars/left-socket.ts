import { mkdirSync, renameSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";

/** Leaves the file of a Unix socket at a path, on which nobody listens. */
export async function leaveSocket(path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const server = createServer();
  await new Promise<void>((listening) => server.listen(`${path}.new`, listening));
  renameSync(`${path}.new`, `${path}.left`); // closing the server removes what has its name
  await new Promise((closed) => server.close(closed));
  renameSync(`${path}.left`, path);
}
