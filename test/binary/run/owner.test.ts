import { describe, expect, test } from "bun:test";
import { childPath } from "../../harness/compiled.ts";
import { canUnshare, until } from "../../harness/ebb.ts";
import { firstProcess, startPodNetwork } from "./pod-of-containers.ts";

const canBePod = canUnshare("--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child");
const beside =
  "ebb: the ebb run that is this container's first process owns the sidecars: this one drains and quits none";

/** A server on the pod's loopback that prints its requests, as a sidecar that takes each quit. */
const sidecar = `import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        print(self.path, flush=True); self.send_response(200); self.send_header("content-length", "0"); self.end_headers()
    do_GET = do_POST
    def log_message(self, *words): pass
http.server.HTTPServer(("127.0.0.1", 9901), Handler).serve_forever()`;

const flags = ["--sidecar", "none", "--ready", "http://127.0.0.1:9901/ready", "--quit", "http://127.0.0.1:9901/quit"];
const server = ["python3", "-c", sidecar];

/** Starts an ebb run with a server of its own in the place of a sidecar, and resolves when that answers. */
async function startServed(words: readonly string[], sharesPids = false) {
  const pod = await startPodNetwork();
  const both = `"$@" & exec ${words.join(" ")}`;
  return {
    pod,
    container: pod.start(["run", ...flags, "--no-wait", "--", "sh", "-c", both, "sh", ...server], { sharesPids }),
  };
}

describe.skipIf(!canBePod)("an ebb run beside its container's first process (in namespaces, which need root)", () => {
  test("waits as told, but quits nothing and writes no record, where the first process owns the sidecars", async () => {
    const { pod, container } = await startServed([childPath(), "record"]);
    await using _pod = pod;
    await using _container = container;
    await until("the app runs", () => container.stdout().includes("ready\n"));
    await using exec = await pod.exec(container, ["run", ...flags, "--last-of", "a,b", "--drain", "5s", "--", "true"]);
    const { code, log } = await exec.ended;
    expect(code).toBe(0);
    expect(log.map(({ msg }) => msg).filter((msg) => !msg.includes("ready"))).toEqual([
      beside,
      "ebb: started the command",
      "ebb: kept the sidecars running",
      "ebb: done",
    ]);
    expect(container.stdout()).toContain("/ready");
    expect(container.stdout()).not.toContain("/quit");
  });

  test("owns them itself where the first process serves none", async () => {
    await using pod = await startPodNetwork();
    const both = `"$@" & exec ${childPath()} record`;
    await using container = pod.start(["run", "--sidecar", "none", "--", "sh", "-c", both, "sh", ...server]);
    await until("the app runs", () => container.stdout().includes("ready\n"));
    await using exec = await pod.exec(container, ["run", ...flags, "--quit-timeout", "200ms", "--", "true"]);
    expect((await exec.ended).log.map(({ msg }) => msg)).not.toContain(beside);
    await until("it has quit the sidecar", () => container.stdout().includes("/quit"));
  });

  test("owns them itself in the PID namespace of the pod, where nothing tells", async () => {
    const { pod, container } = await startServed([childPath(), "record"], true);
    await using _pod = pod;
    await using _container = container;
    await until("the app runs", () => container.stdout().includes("ready\n"));
    await firstProcess(container);
    await using exec = await pod.exec(container, ["run", ...flags, "--quit-timeout", "200ms", "--", "true"]);
    expect((await exec.ended).log.map(({ msg }) => msg)).not.toContain(beside);
  });

  test("quit and drain do what they say there", async () => {
    const { pod, container } = await startServed([childPath(), "record"]);
    await using _pod = pod;
    await using _container = container;
    await until("the app runs", () => container.stdout().includes("ready\n"));
    await using exec = await pod.exec(container, ["quit", "--sidecar", "none", "--quit", "http://127.0.0.1:9901/quit"]);
    expect((await exec.ended).code).toBe(0);
    expect(container.stdout()).toContain("/quit");
  });
});
