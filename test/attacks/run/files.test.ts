import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";

/** What may stand where a file is meant; a pipe without a writer or reads. */
const strange: readonly (readonly [string, (path: string) => void])[] = [
  ["a pipe", (path) => void spawnSync("mkfifo", [path])],
  ["a device without an end", (path) => symlinkSync("/dev/zero", path)],
  ["a folder", (path) => symlinkSync("/tmp", path)],
  ["a link to nothing", (path) => symlinkSync("/nosuch/file", path)],
  [
    "a file of gigabytes",
    (path) => {
      writeFileSync(path, "");
      truncateSync(path, 8 * 2 ** 30);
    },
  ],
];

describe.each(strange)("%s", (name, make) => {
  test("as --pod-annotations costs the app nothing", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "file");
    make(path);
    const args = ["run", "--detect-timeout", "10ms", "--pod-annotations", path, "--", "sh", "-c", "exit 7"];
    const { code, log } = await ebb(args);
    const reason = log.find(({ msg }) => msg.includes("annotations"))?.reason;
    expect([code, reason === undefined]).toEqual([7, name === "a link to nothing"]);
  });

  test("as --termination-log leaves the exit code", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "file");
    make(path);
    expect((await ebb(["run", "--sidecar", "none", "--termination-log", path, "--", "/nosuch"])).code).toBe(127);
  });

  test("as --kubeconfig is an error that names it", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "file");
    make(path);
    const { code, stderr } = await ebb(["reaper", "--once", "--kubeconfig", path]);
    expect([code, stderr]).toEqual([64, expect.stringContaining(path)]);
  });
});

test("a pipe of a shell is a file of manifests", async () => {
  const pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
  const script = `"$@" inject --image x/ebb:1 -f <(printf '${pod}')`;
  const { code, stdout } = await ebb([], { through: ["bash", "-c", script, "bash"] });
  expect([code, stdout]).toEqual([0, pod]);
});

test("--in-place leaves a pipe as it is, and no other file", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "pipe.yaml");
  spawnSync("mkfifo", [path]);
  const script = `echo 'kind: List' > ${path} & exec "$@" inject --image x/ebb:1 --all -i -f ${path}`;
  const { code } = await ebb([], { through: ["timeout", "9", "sh", "-c", script, "sh"] });
  expect([code, readdirSync(folder.path)]).toEqual([0, ["pipe.yaml"]]);
});
