import { describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { join, resolve } from "node:path";
import { aboutExecutable } from "../../../build/evidence/about.ts";
import { licenseText } from "../../../build/evidence/license-text.ts";
import { targetNamed } from "../../../build/targets.ts";
import packageJson from "../../../package.json";
import { ebb, ebbPath, temporaryFolder } from "../../harness/ebb.ts";

const project = resolve(import.meta.dirname, "../../..");
const about = await aboutExecutable({
  entry: join(project, "src", "main.ts"),
  lockfile: join(project, "package-lock.json"),
  target: targetNamed(process.arch),
});

describe("ebb --version --json", () => {
  test("tells in one line what was built, from which commit, and what is linked", async () => {
    const { code, stdout, stderr } = await ebb(["--version", "--json"]);
    expect({ code, stderr, lines: stdout.split("\n").length }).toEqual({ code: 0, stderr: "", lines: 2 });
    const { commit, dirty, ...rest } = JSON.parse(stdout);
    const { commit: _, dirty: __, ...facts } = about.buildInfo;
    expect(rest).toEqual({ name: "ebb", version: packageJson.version, ...facts });
    expect(rest).toMatchObject({ target: `linux-${process.arch}`, bun: packageJson.devDependencies.bun });
    expect(commit ?? "0".repeat(40)).toMatch(/^[0-9a-f]{40}$/);
    expect(dirty).toBeBoolean();
  });

  test("with a slip in it is refused", async () => {
    const { code, stderr } = await ebb(["--version", "--jsn"]);
    expect(code).toBe(64);
    expect(stderr).toContain('--version: expected --json or nothing, got "--jsn"');
  });
});

describe("ebb --licenses", () => {
  test("prints the licences of all that is inside, whole", async () => {
    const { code, stdout, stderr } = await ebb(["--licenses"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(licenseText(about.own, about.components));
    const names = ["ebb 0", "zod 4", "Bun 1", "WebKit", "icu 7", "musl 1", "libstdc++ 1", "libgcc_eh 1"];
    expect(names.filter((name) => !stdout.includes(`  ${name}`))).toEqual([]);
    const textOf = (path: string) => readFileSync(join(project, path), "utf8").trim();
    const files = ["LICENSE", "node_modules/pino/LICENSE", "node_modules/zod/LICENSE", "build/licenses/musl.txt"];
    expect(files.filter((path) => !stdout.includes(textOf(path)))).toEqual([]);
    const texts = [
      "MIT License",
      "GCC RUNTIME LIBRARY EXCEPTION",
      "GNU LESSER GENERAL PUBLIC LICENSE",
      "UNICODE LICENSE V3",
    ];
    expect(texts.filter((text) => !stdout.includes(text))).toEqual([]);
  });

  test("is over when its reader has gone", () => {
    const { stdout, stderr } = spawnSync(
      "sh",
      ["-c", '{ "$0" --licenses; echo "code $?" >&2; } | head -n 1', ebbPath],
      {
        encoding: "utf8",
        timeout: 20_000,
      },
    );
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^What is inside.*\n$/), stderr: "code 0\n" });
  });

  test("ends by a stop signal, although its reader reads no more", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "fifo");
    spawnSync("mkfifo", [path]);
    const fifo = openSync(path, constants.O_RDWR);
    const child = spawn(ebbPath, ["--licenses"], {
      stdio: ["ignore", fifo, "inherit"],
      timeout: 20_000,
      killSignal: "SIGKILL",
    });
    const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
    expect(readSync(fifo, Buffer.alloc(4), 0, 4, null)).toBe(4); // it has begun, and a pipe holds less than all of it
    child.kill("SIGTERM");
    expect(await ended).toBe(143);
    closeSync(fifo);
  });
});
