import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEbb, temporaryFolder, until } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { takes } from "../harness/time.ts";

/** How long a request to /slow takes, and when the stop signal comes meanwhile. */
const SLOW_MS = 2000;
export const SIGNAL_AFTER_MS = 700;

/** Where an app of a test is: its folder, its port, and the server behind it, which is slow at /slow. */
export interface Place {
  readonly folder: string;
  readonly port: number;
  readonly upstreamPort: number;
  /** Writes a file into the folder, and returns its path. */
  write(name: string, text: string): string;
}

export async function withPlace<T>(use: (place: Place) => Promise<T>): Promise<T> {
  using folder = temporaryFolder();
  const upstream = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch({ url }) {
      if (url.endsWith("/slow")) await takes(SLOW_MS);
      return new Response("answered");
    },
  });
  const write = (name: string, text: string): string => {
    const path = join(folder.path, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
    return path;
  };
  try {
    return await use({ folder: folder.path, port: await freePort(), upstreamPort: upstream.port as number, write });
  } finally {
    await upstream.stop(true);
  }
}

/** How an app ended that got a signal while a request was under way. */
interface Stopped {
  readonly code: number;
  readonly wasAnswered: boolean;
  readonly stderr: string;
}

/** Starts the app by `ebb run`, and sends ebb the signal while a request of 2 s (`SLOW_MS`) is under way. */
export async function stopDuringRequest(
  argv: readonly string[],
  flags: readonly string[],
  signal: NodeJS.Signals,
  url: string,
): Promise<Stopped> {
  await using started = startEbb(["run", "--sidecar", "none", ...flags, "--", ...argv]);
  await until("the app answers", () => isAnswered(`${url}/`), 20_000, 50);
  const slow = isAnswered(`${url}/slow`);
  await takes(SIGNAL_AFTER_MS);
  started.kill(signal);
  const { code, stderr } = await started.ended;
  return { code, stderr, wasAnswered: await slow };
}

/** Reports whether an app of a test answers. */
export function isAnswered(url: string): Promise<boolean> {
  return fetch(url).then(
    async (answer) => (await answer.text()).includes("answered"),
    () => false,
  );
}
