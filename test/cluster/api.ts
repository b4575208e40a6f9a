import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collect, until } from "../harness.ts";

// The API server's own HTTP interface, through one `kubectl proxy`, which knows every way to authenticate: to ask ten times
// a second without a process each time.

export interface Answer {
  readonly status: number;
  readonly text: string;
}

let proxy: Promise<string> | undefined;

/** `request("GET", "/api/v1/pods")`. */
export async function request(method: string, path: string): Promise<Answer> {
  proxy ??= startProxy();
  const answer = await fetch(`http://localhost${path}`, { unix: await proxy, method });
  return { status: answer.status, text: await answer.text() };
}

/** The object, or the list, at this path; undefined where there is none. @throws Error with what the API server said */
export async function read<T>(path: string): Promise<T | undefined> {
  const { status, text } = await request("GET", path);
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
  return JSON.parse(text) as T;
}

/** The path of its socket. It ends with this process. */
async function startProxy(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "ebb-api-"));
  const socket = join(folder, "socket");
  const child = Bun.spawn(["kubectl", "proxy", `--unix-socket=${socket}`], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  child.unref();
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  process.on("exit", () => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  await until(
    "kubectl proxy listens",
    () => {
      if (child.exitCode !== null) throw new Error(`kubectl proxy ended: ${stderr.text()}`);
      return stdout.text().includes("Starting to serve");
    },
    60_000,
  );
  return socket;
}
