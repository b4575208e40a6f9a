import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join, resolve } from "node:path";
import packageJson from "../../package.json";
import { startCluster } from "../binary/cluster/reaper.ts";
import { ebb, temporaryFolder } from "../harness/ebb.ts";

// The desk build for this machine. test:release runs all tests of its commands with it.

setDefaultTimeout(120_000);

const project = resolve(import.meta.dirname, "../..");
const place = temporaryFolder();
const program = join(place.path, "ebb");
afterAll(() => place[Symbol.dispose]());

beforeAll(() => {
  const words = [process.execPath, "build/build.ts", "--target", "desk", "--outfile", program];
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: project });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
});

test("it tells what it was built for, and names no libc that it is linked with", async () => {
  const {
    commit: _,
    dirty: __,
    webkit: ___,
    ...rest
  } = JSON.parse((await ebb(["--version", "--json"], { program })).stdout);
  const { version, devDependencies } = packageJson;
  expect(rest).toEqual({ name: "ebb", version, target: `linux-${process.arch}-desk`, bun: devDependencies.bun });
});

test.each([
  ["run -- true", "ebb run"],
  ["wait", "ebb wait"],
  ["webhook --image x", "ebb webhook"],
  ["install /x", "ebb install"],
  ["scuttle true", "scuttle"],
  ["reaper --dry-run", "ebb reaper without --once"],
  ["reaper -n once --once=false", "ebb reaper without --once"],
])("ebb %s is refused", async (call, what) => {
  expect(await ebb(call.split(" "), { program })).toMatchObject({
    code: 64,
    stdout: "",
    stderr: `ebb: ${what} works in Linux containers: call it in a pod, or in a container of ebb's image\n`,
  });
});

test("help and completion have the commands that work here", async () => {
  const { stdout } = await ebb(["--help"], { program });
  expect(stdout).toMatch(/^ {2}inject +add/m);
  expect(stdout).not.toMatch(/^ {2}run |ebb run \[/m);
  expect((await ebb(["__complete", "re"], { program })).stdout).toMatch(/^words\nreaper\t.*\n$/);
});

test.each([
  ["foo", "foo: no such command"],
  ["stat", "stat: no such command"],
  ["injct", 'injct: no such command; did you mean "ebb inject"?'],
  ["--quiet", "--quiet: a command comes first: write ebb COMMAND --quiet ..."],
  ["--quiet inject", "--quiet: a command comes first: write ebb inject --quiet ..."],
])("ebb %s proposes nothing that is refused", async (call, reason) => {
  expect(await ebb(call.split(" "), { program })).toMatchObject({ code: 64, stderr: `ebb: ${reason}\n` });
});

test.each(["run --help", "drain -h", "help drain", "reaper -h"])(
  "ebb %s prints what it prints everywhere",
  async (call) => {
    const { code, stdout } = await ebb(call.split(" "), { program });
    expect({ code, stdout }).toEqual({ code: 0, stdout: (await ebb(call.split(" "))).stdout });
  },
);

test("an API server of this machine is asked without the forward proxy of the environment", async () => {
  await using cluster = startCluster();
  let proxied = 0;
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      proxied += 1;
      return new Response("", { status: 502 });
    },
  });
  const url = String(proxy.url);
  const env = { HTTP_PROXY: url, http_proxy: url, ALL_PROXY: url };
  const [flag = "", path = ""] = cluster.flags;
  const { code } = await ebb(["reaper", "--once", "--all-jobs", flag, path], { program, env });
  expect([code, proxied]).toEqual([0, 0]);
});
