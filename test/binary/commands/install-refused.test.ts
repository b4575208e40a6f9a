import { describe, expect, test } from "bun:test";
import { chmodSync, chownSync, copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canUnshare, ebb, ebbPath, lineOf, type Started, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { processState } from "../../harness/processes.ts";
import { built, isRoot } from "./installed.ts";

describe("what the system refuses is exit code 71, one sentence, but nothing still runs:", () => {
  test("a parent that is missing, or is a file", async () => {
    using folder = temporaryFolder();
    const [missing, file] = [join(folder.path, "missing", "ebb"), join(folder.path, "file", "ebb")];
    writeFileSync(join(folder.path, "file"), "");
    expect(await ebb(["install", missing])).toMatchObject({
      code: 71,
      log: [
        {
          reason: `install: cannot write ${missing}: there is no folder ${folder.path}/missing; mount the volume there, or name a folder that exists`,
        },
      ],
    });
    expect(await ebb(["install", file])).toMatchObject({
      code: 71,
      stderr: expect.stringContaining("is not a folder"),
    });
    expect(readdirSync(folder.path)).toEqual(["file"]);
  });

  test("the reason stands in the termination log", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "termination");
    expect((await ebb(["install", "--termination-log", path, "/nosuch/ebb"])).code).toBe(71);
    expect(readFileSync(path, "utf8")).toStartWith(
      "ebb: install: cannot write /nosuch/ebb: there is no folder /nosuch;",
    );
  });

  test.skipIf(!isRoot)("a folder where another user may not write (which needs root)", async () => {
    using folder = temporaryFolder();
    chmodSync(folder.path, 0o755);
    const self = join(folder.path, "self");
    copyFileSync(ebbPath, self);
    const through = ["setpriv", "--reuid", "65532", "--regid", "65532", "--clear-groups"];
    const { exitCode, stderr } = Bun.spawnSync([...through, self, "install", join(folder.path, "ebb")]);
    expect([exitCode, stderr.toString()]).toEqual([71, expect.stringContaining("user 65532 may not write to")]);
    chownSync(folder.path, 65532, 65532);
    expect(Bun.spawnSync([...through, self, "install", self]).exitCode).toBe(0);
    expect(readdirSync(folder.path)).toEqual(["self"]);
  });

  /** Runs ebb where `mount` has changed the folder, which holds an older ebb; then lists it and shows the older file. */
  async function installInto(folder: string, mount: string): ReturnType<typeof ebb> {
    const script = `set -e; ${mount}; set +e; "$@"; code=$?; ls -A "$0"; cat "$0/ebb" | head -c 9; exit $code`;
    const through = ["unshare", "--mount", "sh", "-c", script, folder];
    return await ebb(["install", `${folder}/ebb`], { through });
  }

  describe.skipIf(!canUnshare("--mount"))("(which needs to mount)", () => {
    test.each([
      [
        "a volume too small",
        "mount -t tmpfs -o size=20m none $0; echo older > $0/ebb",
        /full: a copy takes \d+ MB, 20 MB are free$/,
      ],
      [
        "a volume without room for one more file",
        "mount -t tmpfs -o nr_inodes=2 none $0; echo older > $0/ebb",
        /but no more files/,
      ],
      [
        "a read-only volume",
        "echo older > $0/ebb; mount --bind $0 $0; mount -o remount,bind,ro $0",
        /the volume is read-only/,
      ],
    ])("%s", async (_, mount, sentence) => {
      using folder = temporaryFolder();
      const ended = await installInto(folder.path, mount);
      const { code, stdout, stderr } = ended;
      expect(lineOf(ended, "cannot go on").reason).toMatch(sentence);
      expect({ code, stdout, lines: stderr.split("\n").length }).toEqual({
        code: 71,
        stdout: "ebb\nolder\n",
        lines: 2,
      });
    });

    test("and a volume from which nothing can be started is a warning", async () => {
      using folder = temporaryFolder();
      const { code, log } = await installInto(folder.path, "mount -t tmpfs -o noexec none $0");
      expect([code, ...log.map(({ level }) => level)]).toEqual([0, "info", "warn"]);
      expect(log[1]?.msg).toContain("noexec");
    });
  });
});

describe("in the middle of a copy", () => {
  /** An ebb that was stopped while it copied over an older file: its temporary file is neither empty nor whole. */
  function stoppedMidway(folder: string): Promise<Started> {
    return until("it is stopped in time", async () => {
      writeFileSync(join(folder, "ebb"), "older");
      const started = startEbb(["install", join(folder, "ebb")]);
      const isIn = (...states: readonly unknown[]) => states.includes(processState(started.pid));
      const temporary = () => join(folder, readdirSync(folder).find((name) => name.startsWith(".ebb-")) ?? "nothing");
      await until("it has copied something", () => sizeOf(temporary()) > 0 || isIn(undefined, "Z"));
      started.kill("SIGSTOP");
      await until("it is stopped", () => isIn(undefined, "T", "Z"));
      const size = sizeOf(temporary());
      if (size > 0 && size < built) return started;
      started.kill("SIGCONT");
      await started.ended;
      return undefined;
    });
  }

  function sizeOf(path: string): number {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  test.each([1, 2, 15])(
    "stop signal %d ends it with 128+n; the older file is untouched, but nothing still runs",
    async (signal) => {
      using folder = temporaryFolder();
      await using started = await stoppedMidway(folder.path);
      started.kill(signal);
      started.kill("SIGCONT");
      const { code, stderr } = await started.ended;
      expect({ code, stderr }).toEqual({ code: 128 + signal, stderr: "" });
      expect(readdirSync(folder.path)).toEqual(["ebb"]);
      expect(readFileSync(join(folder.path, "ebb"), "utf8")).toBe("older");
    },
  );
});
