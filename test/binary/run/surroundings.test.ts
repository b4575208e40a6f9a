import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";
import { startRawServer } from "../../stand-in/raw-server.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

// What surrounds ebb and is none of its business.

test("proxy variables have no effect: the proxy gets nothing", async () => {
  await using proxy = await startRawServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"));
  await using sidecar = await fakeSidecar();
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  const env = Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${proxy.port}`]));
  const targets = ["--admin", sidecar.url, "--ready", `http://localhost:${sidecar.port}/ready`];
  const { code } = await ebb(["run", "--sidecar", "envoy", ...targets, "--", childPath(), "exit", "5"], { env });
  expect({ code, requests: sidecar.requests }).toEqual({ code: 5, requests: ["POST /quitquitquit"] });
  await ebb(["wait", "--sidecar", "none", "--wait-timeout", "200ms", `https://127.0.0.1:1/ready`], { env });
  expect(proxy.received()).toBe(0);
});

test("variables that would change Bun have no effect, and say nothing", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "preload.js"), 'console.log("preloaded"); console.error("preloaded");\n');
  const env = {
    BUN_OPTIONS: `--preload ${join(folder.path, "preload.js")}`,
    BUN_BE_BUN: "1",
    BUN_INSPECT: "1",
    BUN_INSPECT_PRELOAD: join(folder.path, "preload.js"),
    BUN_CONFIG_VERBOSE_FETCH: "curl",
    BUN_CONFIG_MAX_HTTP_REQUESTS: "none",
    BUN_DEBUG_QUIET_LOGS: "0",
    BUN_JSC_dumpOptions: "2",
    BUN_GARBAGE_COLLECTOR_LEVEL: "2",
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: join(folder.path, "cache"),
    NODE_OPTIONS: `--nonsense --require ${join(folder.path, "preload.js")}`,
    NODE_EXTRA_CA_CERTS: "/no/such/file",
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
    NODE_V8_COVERAGE: join(folder.path, "coverage"),
    NODE_DEBUG: "*",
    DEBUG: "*",
    JSC_dumpOptions: "2",
    MIMALLOC_VERBOSE: "1",
    MIMALLOC_SHOW_STATS: "1",
    FORCE_COLOR: "1",
    TZ: ":/none",
    LANG: "xx_XX.UTF-16",
    HOME: "/none",
    TMPDIR: "/none",
  };
  await using sidecar = await fakeSidecar();
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--quiet"];
  const ended = await ebb(["run", ...flags, "--", childPath(), "exit", "5"], { env });
  expect(ended).toMatchObject({ code: 5, stdout: "", stderr: "" });
  expect(sidecar.requests).toEqual(["POST /quitquitquit"]);
  const files = [...new Bun.Glob("*").scanSync({ cwd: folder.path, onlyFiles: false })];
  expect(files).toEqual(["preload.js"]);
});

test("files that Bun reads in a project have no effect: .env, bunfig.toml, package.json, tsconfig.json", async () => {
  using folder = temporaryFolder();
  const files = {
    ".env": "EBB_GRACE=nonsense\nFROM_FILE=1\n",
    ".env.local": "EBB_SIDECAR=nonsense\n",
    ".env.production": "EBB_SIDECAR=nonsense\n",
    ".env.development": "EBB_SIDECAR=nonsense\n",
    "bunfig.toml": 'preload = ["./preload.js"]\nlogLevel = "debug"\n',
    "preload.js": 'console.log("preloaded");\n',
    "package.json": "{ broken",
    "tsconfig.json": "{ broken",
    ".npmrc": "broken[\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  mkdirSync(join(folder.path, "node_modules/zod"), { recursive: true });
  const app = ["run", "--sidecar", "none", "--quiet", "--", childPath(), "environment"];
  const ended = await ebb(app, { cwd: folder.path, env: { PATH: "/bin" } });
  expect(ended).toMatchObject({ code: 0, stdout: "PATH=/bin\n", stderr: "" });
});

test("an empty environment is enough", async () => {
  const through = ["env", "-i"];
  const app = ["run", "--sidecar", "none", "--quiet", "--", childPath(), "environment"];
  expect(await ebb(app, { through })).toMatchObject({ code: 0, stdout: "", stderr: "" });
});
