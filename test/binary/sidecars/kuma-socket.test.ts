import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, utimesSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { ebb, ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { leaveSocket } from "./left-socket.ts";

describe.skipIf(process.getuid?.() !== 0)("Kuma's admin interface on a unix socket (which needs root)", () => {
  /** A root folder with ebb and these sockets, of which the last is the newest; what each was asked. */
  async function withSockets(root: string, names: readonly string[]) {
    mkdirSync(join(root, dirname(ebbPath)), { recursive: true });
    copyFileSync(ebbPath, join(root, ebbPath));
    const seen: string[] = [];
    const servers = names.map((name, index) => {
      const path = join(root, "tmp", name, "kuma-envoy-admin.sock");
      mkdirSync(dirname(path), { recursive: true });
      const server = createServer(({ method, url }, response) => {
        seen.push(`${name} ${method} ${url}`);
        response.end();
        server.close();
      });
      return new Promise<() => void>((listening) => {
        server.listen(path, () => {
          utimesSync(path, index, index);
          listening(() => server.close());
        });
      });
    });
    const closes = await Promise.all(servers);
    return { seen, [Symbol.dispose]: () => void closes.map((close) => close()) };
  }

  test.each<[string, readonly string[], string[]]>([
    ["is found", ["kuma-dp-123"], ["kuma-dp-123 POST /quitquitquit"]],
    ["is the newest one", ["other", "kuma-dp-2", "kuma-dp-1"], ["kuma-dp-1 POST /quitquitquit"]],
  ])("%s", async (_, names, requests) => {
    using root = temporaryFolder();
    using sockets = await withSockets(root.path, names);
    const through = ["chroot", root.path];
    const ended = await ebb(["quit", "--sidecar", "kuma"], { through, cwd: "/" });
    expect(ended.code).toBe(0);
    expect(sockets.seen).toEqual(requests);
    expect(ended.log.at(-1)).toMatchObject({ sidecar: "kuma", outcome: "exited" });
  });

  test("that an Envoy has left behind is passed over, for one that answers, and for TCP", async () => {
    using root = temporaryFolder();
    using sockets = await withSockets(root.path, ["kuma-dp-1"]);
    await leaveSocket(join(root.path, "tmp", "kuma-dp-2", "kuma-envoy-admin.sock"));
    const through = ["unshare", "--net", "chroot", root.path];
    const flags = ["quit", "--sidecar", "kuma"];
    const live = await ebb(flags, { through, cwd: "/" });
    expect(live.code).toBe(0);
    expect(sockets.seen).toEqual(["kuma-dp-1 POST /quitquitquit"]);
    const dead = await ebb([...flags, "--quit-timeout", "500ms"], { through, cwd: "/" });
    expect(dead.code).toBe(69);
    expect(dead.log.at(-1)?.request).toBe("POST http://localhost:9901/quitquitquit");
  });

  test("is left alone in a folder that is another user's", async () => {
    using root = temporaryFolder();
    using sockets = await withSockets(root.path, ["kuma-dp-1"]);
    chmodSync(root.path, 0o755);
    chmodSync(join(root.path, "tmp", "kuma-dp-1"), 0o700);
    const through = ["unshare", "--net", "chroot", "--userspec=65534:65534", root.path];
    const ended = await ebb(["quit", "--sidecar", "kuma", "--quit-timeout", "300ms"], { through, cwd: "/" });
    expect(ended.code).toBe(69);
    expect(ended.log.at(-1)?.request).toBe("POST http://localhost:9901/quitquitquit");
    expect(sockets.seen).toEqual([]);
  });
});
