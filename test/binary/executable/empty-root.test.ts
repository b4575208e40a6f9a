import { describe, expect, test } from "bun:test";
import { copyFileSync, linkSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { ebb, ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

const isRoot = process.getuid?.() === 0;

/** A folder with ebb, the child and nothing else; read-only from within. */
function emptyRoot(path: string): readonly string[] {
  place(ebbPath, join(path, ebbPath));
  copyFileSync(childPath(), join(path, "child"));
  const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec chroot "$0" "$@"';
  return ["unshare", "--mount", "sh", "-c", script, path];
}

function place(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to); // another file system
  }
}

describe.skipIf(!isRoot)("in an empty, read-only root folder (which needs root)", () => {
  test("run does its whole job: waits, starts, quits, keeps the code", async () => {
    using root = temporaryFolder();
    const through = emptyRoot(root.path);
    const before = readdirSync(root.path, { recursive: true });
    await using sidecar = await fakeSidecar();
    const flags = ["--sidecar", "envoy", "--admin", `http://localhost:${sidecar.port}`];
    const ended = await ebb(["run", ...flags, "--", "/child", "exit", "42"], { through, cwd: "/" });
    expect(ended.code).toBe(42);
    expect(sidecar.requests).toEqual(["POST /quitquitquit"]);
    expect(ended.log.map(({ msg }) => msg)).toEqual(
      ["ready", "started the command", "asked the sidecar to exit", "done"].map((msg) => `ebb: ${msg}`),
    );
    expect(ended.stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"))).toEqual([]);
    expect(readdirSync(root.path, { recursive: true })).toEqual(before);
  });

  test.each(["run", "wait"])(
    "ebb %s: the child has the open descriptors and no others, also without /proc",
    async (name) => {
      using root = temporaryFolder();
      const through = [...emptyRoot(root.path)];
      const shell = ["bash", "-c", 'exec 5</dev/null 700</dev/null; exec "$@"', "bash"];
      const call = [name, "--sidecar", "none", "--quiet", "--", "/child", "descriptors"];
      const { code, stdout, stderr } = await ebb(call, { through: [...shell, ...through], cwd: "/" });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual(["0", "1", "2", "5", "700", ""]);
    },
  );

  test("auto finds nothing, says so, and starts the command", async () => {
    using root = temporaryFolder();
    const call = ["run", "--detect-timeout", "20ms", "--", "/child", "exit", "3"];
    const { code, log } = await ebb(call, { through: emptyRoot(root.path), cwd: "/" });
    expect([code, log[0]?.msg]).toEqual([3, "ebb: no sidecar found"]);
  });

  test.each([
    [127, ["run", "--sidecar", "none", "--", "nothing"]],
    [126, ["run", "--sidecar", "none", "--", "/"]],
    [69, ["wait", "--sidecar", "none", "--wait-timeout", "30ms", "http://localhost:1/"]],
    [64, ["run", "--grace", "soon", "--", "/child"]],
    [0, ["quit", "--sidecar", "none"]],
    [0, ["sleep", "1ms"]],
    [0, ["config"]],
    [0, ["--help"]],
    [0, ["--version"]],
  ])("exit code %d: ebb %j", async (code, args) => {
    using root = temporaryFolder();
    expect(await ebb(args, { through: emptyRoot(root.path), cwd: "/" })).toMatchObject({ code, signal: null });
  });

  test("closed standard descriptors harm nothing where there is no /dev/null", async () => {
    using root = temporaryFolder();
    const shell = ["bash", "-c", 'exec <&- 2>&-; exec "$@"', "bash"];
    const call = ["run", "--sidecar", "none", "--", "/child", "exit", "3"];
    expect((await ebb(call, { through: [...shell, ...emptyRoot(root.path)], cwd: "/" })).code).toBe(3);
  });
});
