import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { otherArch } from "../../build/setup/packages.mjs";
import { temporaryFolder } from "../harness/ebb.ts";

// Each cache is filled with something small by what fills it in earnest; then each of its files is damaged, one after the
// other, and used. Registries are files: npm, apt-get and Go are scripts, pip is told to look in a folder.

const project = resolve(import.meta.dirname, "..", "..");

/** Lines of JavaScript that import from the tree. */
interface Cache {
  /** Is the path of what is in the cache; fetches or makes it where it can. */
  readonly use: string;
  /** Fetches it; without it `use` does. */
  readonly fetch?: string;
}

test.each<[string, (folder: string) => Cache]>([
  ["Bun", bunCache],
  ["test programs", compiledCache],
  ["sidecars", () => ({ use: sidecar })],
  ["Kubernetes", () => ({ use: kubernetes })],
])(
  "a byte that has changed in the cache of %s is told, and all is fetched or made again",
  (_, prepare) => {
    using place = temporaryFolder();
    const { use } = prepare(place.path);
    const runs = world(place.path);
    expect(runs(use)).toMatchObject({ exitCode: 0, said: "" });
    const whole = filesOf(runs.cache);
    expect(whole.size).toBeGreaterThan(1);
    for (const name of whole.keys()) {
      damage(join(runs.cache, name));
      const { exitCode, said } = runs(use);
      expect([name, exitCode, said]).toEqual([name, 0, expect.stringMatching(/is damaged: .*again/)]);
      expect(filesOf(runs.cache)).toEqual(whole);
    }
    expect(runs(use)).toMatchObject({ exitCode: 0, said: "" });
  },
  120_000,
);

/** Not what chooses between several of them, which takes longer than most of them do. */
const python = Bun.spawnSync(["python3", "-c", "import sys; print(sys.executable)"]).stdout.toString().trim();
const hasPip = python !== "" && Bun.spawnSync([python, "-m", "pip", "--version"]).success;

describe.each<[string, boolean, (folder: string) => Cache]>([
  ["wheels, as Envoy and Go", hasPip, wheelCache],
  ["musl", true, muslCache],
])("the cache of %s", (_, isPossible, prepare) => {
  test.if(isPossible)(
    "is refused where a byte has changed or a file is added, with the command that mends it",
    () => {
      using place = temporaryFolder();
      const { use, fetch = "" } = prepare(place.path);
      const runs = world(place.path);
      expect(runs(use)).toMatchObject({ exitCode: 0, path: "undefined" });
      expect(runs(fetch)).toMatchObject({ exitCode: 0, path: "undefined" });
      expect(runs(use)).toMatchObject({ exitCode: 0, said: "" });
      const whole = filesOf(runs.cache);
      const refused = {
        exitCode: 1,
        stderr: expect.stringMatching(/is damaged: .*; node build\/setup.mjs \w+ fetches/),
      };
      for (const [name, bytes] of whole) {
        damage(join(runs.cache, name));
        expect(runs(use)).toMatchObject(refused);
        writeFileSync(join(runs.cache, name), bytes);
      }
      const [last = ""] = [...whole.keys()].filter((name) => /libc.a|library/.test(name));
      writeFileSync(join(runs.cache, `${last}.more`), "");
      expect(runs(use)).toMatchObject(refused);
      expect(runs(fetch)).toMatchObject({ exitCode: 0, path: "undefined" });
      expect(filesOf(runs.cache)).toEqual(whole);
    },
    120_000,
  );
});

test("a Bun that is forged with its archive, in the cache and in the registry, is refused", () => {
  using place = temporaryFolder();
  const { use } = bunCache(place.path);
  const runs = world(place.path);
  expect(runs(use)).toMatchObject({ exitCode: 0 });
  const forged = readFileSync(packBun(place.path, "another program"));
  for (const name of filesOf(runs.cache).keys())
    writeFileSync(join(runs.cache, name), name.endsWith(".tgz") ? forged : "another program");
  const { exitCode, said, stderr } = runs(use);
  expect({ exitCode, said, stderr }).toEqual({
    exitCode: 1,
    said: expect.stringMatching(/is damaged: package.tgz: expected sha512-.*, got sha512-/),
    stderr: expect.stringMatching(/npm pack bun@1.0.0: package.tgz: expected sha512-.*, got sha512-/),
  });
});

test("nothing is compiled of Go modules that have changed since they were downloaded", () => {
  using place = temporaryFolder();
  const runs = world(place.path, { GO_VERIFY: "some/module v1.0.0: dir has been modified" });
  for (const use of [sidecar, kubernetes]) {
    const { exitCode, stderr } = runs(use);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/some\/module v1.0.0: dir has been modified/)]);
  }
  expect([...filesOf(runs.cache).keys()].filter((name) => !name.includes("/go/"))).toEqual([]);
});

const sidecar = `${from("test/sidecars/compile.ts")}.compiledProgram("cloud-sql-proxy").path`;
const kubernetes = `${from("test/cluster/rig/kubernetes.ts")}.kubernetesFolder(console.log)`;

function from(path: string): string {
  return `(await import(${JSON.stringify(join(project, path))}))`;
}

interface Ran {
  readonly exitCode: number;
  /** What was printed last. */
  readonly path: string | undefined;
  /** What was said of damage. */
  readonly said: string;
  readonly stderr: string;
}

/** A cache in a folder, and programs that stand for those that download. */
function world(folder: string, more: Readonly<Record<string, string>> = {}) {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const [name, lines] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines}`);
    chmodSync(join(bin, name), 0o755);
  }
  if (python !== "") symlinkSync(python, join(bin, "python3"));
  const env = {
    ...{ HOME: folder, XDG_CACHE_HOME: folder, TMPDIR: folder, REGISTRY: join(folder, "registry") },
    ...{ PIP_NO_INDEX: "1", PIP_FIND_LINKS: join(folder, "registry"), PATH: `${bin}:${process.env.PATH}`, ...more },
  };
  const run = (lines: string): Ran => {
    const program = `console.log(String(${lines}))`;
    const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program], { env, cwd: folder });
    const printed = stdout.toString().trimEnd().split("\n");
    const said = printed.filter((line) => line.includes("damaged")).join("\n");
    return { exitCode, path: printed.at(-1), said, stderr: stderr.toString() };
  };
  return Object.assign(run, { cache: join(folder, "ebb") });
}

const programs: Readonly<Record<string, string>> = {
  npm: `while [ "$1" != --pack-destination ]; do shift; done; cp "$REGISTRY"/bun.tgz "$2"/bun-1.0.0.tgz`,
  "apt-get": `case "$*" in *download*) cp "$REGISTRY"/musl.deb . ;; esac`,
  go: `case "$1 $2" in
"env GOVERSION") echo go1.99.0 ;;
"mod download") echo '{"Dir":"/nothing"}' ;;
"mod verify") [ -z "$GO_VERIFY" ] || { echo "$GO_VERIFY"; exit 1; } ;;
build*) while [ "$1" != -o ]; do shift; done; echo "compiled from $3" > "$2" ;;
esac`,
};

/** The bytes of each file in a folder, by its path. */
function filesOf(folder: string): ReadonlyMap<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path)]));
}

/** The lowest bit of the byte in the middle. */
function damage(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(path, bytes);
}

function registryIn(folder: string): string {
  const registry = join(folder, "registry");
  mkdirSync(registry, { recursive: true });
  return registry;
}

function run(...words: readonly string[]): void {
  const { success, stderr } = Bun.spawnSync([...words]);
  if (!success) throw new Error(`${words[0]}: ${stderr}`);
}

/** The path of its archive in the registry. */
function packBun(folder: string, program: string): string {
  const archive = join(registryIn(folder), "bun.tgz");
  mkdirSync(join(folder, "package", "bin"), { recursive: true });
  writeFileSync(join(folder, "package", "bin", "bun"), program);
  run("tar", "-czf", archive, "-C", folder, "package");
  return archive;
}

function bunCache(folder: string): Cache {
  const archive = readFileSync(packBun(folder, "a program"));
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  return {
    use: `${from("build/link/pinned-bun.ts")}.fetchBun("bun", ${JSON.stringify({ version: "1.0.0", integrity })})`,
  };
}

function compiledCache(folder: string): Cache {
  const source = join(folder, "app.c");
  writeFileSync(source, "int main(void) { return 0; }\n");
  return { use: `${from("test/harness/compiled.ts")}.compiled(${JSON.stringify(source)})` };
}

/** A wheel of one program, made by the rules of the format. */
const makeWheel = `
import base64, hashlib, sys, zipfile
info = 'tiny-1.0.0.dist-info/'
files = {
  'tiny/bin/tiny': (b'#!/bin/sh\\n', 0o755),
  'tiny/library': (b'code', 0o644),
  info + 'METADATA': (b'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0.0\\n', 0o644),
  info + 'WHEEL': (b'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n', 0o644),
}
digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')
record = ''.join(f'{name},sha256={digest(data)},{len(data)}\\n' for name, (data, _) in files.items())
files[info + 'RECORD'] = ((record + info + 'RECORD,,\\n').encode(), 0o644)
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
  for name, (data, mode) in files.items():
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (0o100000 | mode) << 16
    wheel.writestr(entry, data)`;

function wheelCache(folder: string): Cache {
  const path = join(registryIn(folder), "tiny-1.0.0-py3-none-any.whl");
  run("python3", "-c", makeWheel, path);
  const digests = [createHash("sha256").update(readFileSync(path)).digest("hex")];
  const [version, executable] = ["1.0.0", "tiny/bin/tiny"];
  const wheel = { name: "tiny", package: "tiny", version, digests, executable, versionWord: "-v", setUpBy: "tiny" };
  const call = (name: string) => `${from("build/setup/pip.mjs")}.${name}(${JSON.stringify(wheel)})`;
  return { use: call("wheelPath"), fetch: call("installWheel") };
}

function muslCache(folder: string): Cache {
  const root = join(folder, "musl-dev");
  const libraries = join(root, "usr", "lib", otherArch === "arm64" ? "aarch64-linux-musl" : "x86_64-linux-musl");
  mkdirSync(libraries, { recursive: true });
  mkdirSync(join(root, "DEBIAN"));
  const control = "Package: musl-dev\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: none\n";
  writeFileSync(join(root, "DEBIAN", "control"), control);
  for (const name of ["libc.a", "crt1.o"]) writeFileSync(join(libraries, name), name);
  run("dpkg-deb", "--build", root, join(registryIn(folder), "musl.deb"));
  const call = (name: string) => `${from("build/setup/cross.mjs")}.${name}(${JSON.stringify(otherArch)})`;
  return { use: call("muslFolder"), fetch: call("fetchMusl") };
}
