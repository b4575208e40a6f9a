import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { issueAuthority } from "../../src/cluster/certificates/issue.ts";
import { type Ended, ebb, type StartOptions, startEbb, temporaryFolder, until } from "../harness/ebb.ts";
import { buildahMissing, createBuildah } from "./buildah.ts";
import { type Registry, registryMissing, startRegistry } from "./registry.ts";
import { user } from "./token-server.ts";

setDefaultTimeout(60_000);

const lacking = process.env.CI === undefined ? (registryMissing() ?? buildahMissing()) : undefined; // never skipped in CI
if (lacking !== undefined) console.log(`skipped: a real registry and its images need ${lacking}`);

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Asks a registry for an image by the executable. Nothing of this user's files is read. */
function image(
  registry: Registry,
  name: string,
  flags: readonly string[] = [],
  options: StartOptions = {},
): Promise<Ended> {
  const { env, ...rest } = options;
  return ebb(["image", "--ca-file", registry.ca, ...flags, `${registry.host}/${name}`], {
    ...rest,
    env: { HOME: "/nowhere", ...env },
  });
}

/** Resolves with what `ebb image --json` prints. */
async function shown(registry: Registry, name: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await image(registry, name, ["--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

describe.skipIf(lacking !== undefined)("images of a registry", () => {
  let registry: Registry;

  beforeAll(async () => {
    using buildah = createBuildah();
    registry = await startRegistry({ auth: "none" });
    const amd64 = (dockerfile: string) => ({ platforms: { "linux/amd64": dockerfile } });
    const exec =
      'FROM scratch\nENTRYPOINT ["/app"]\nCMD ["serve", "--port", "80"]\nWORKDIR /srv\nUSER 65532\nSTOPSIGNAL SIGQUIT\n';
    await buildah.push(registry, "exec:1", amd64(exec));
    await buildah.push(registry, "docker:1", { ...amd64(exec), format: "docker" });
    await buildah.push(registry, "shell:1", amd64("FROM scratch\nENTRYPOINT exec /app $PORT\n"));
    await buildah.push(registry, "cmd:1", amd64('FROM scratch\nCMD ["/app", "a b", "$(X)"]\n'));
    await buildah.push(registry, "none:1", amd64("FROM scratch\nLABEL a=b\n"));
    const [same, other] = ['FROM scratch\nENTRYPOINT ["/app"]\n', 'FROM scratch\nENTRYPOINT ["/app-arm64"]\n'];
    await buildah.push(registry, "same:1", { platforms: { "linux/amd64": same, "linux/arm64": same } });
    await buildah.push(registry, "differ:1", { platforms: { "linux/amd64": same, "linux/arm64": other } });
    await buildah.push(registry, "elsewhere:1", { platforms: { "linux/s390x": same } });
  });

  afterAll(() => registry[Symbol.asyncDispose]());

  const started = { entrypoint: [], cmd: [], workingDir: null, user: null, stopSignal: null };

  test.each([
    [
      "exec:1",
      {
        entrypoint: ["/app"],
        cmd: ["serve", "--port", "80"],
        workingDir: "/srv",
        user: "65532",
        stopSignal: "SIGQUIT",
      },
    ],
    [
      "docker:1",
      {
        entrypoint: ["/app"],
        cmd: ["serve", "--port", "80"],
        workingDir: "/srv",
        user: "65532",
        stopSignal: "SIGQUIT",
      },
    ],
    ["shell:1", { ...started, entrypoint: ["/bin/sh", "-c", "exec /app $PORT"] }],
    ["cmd:1", { ...started, cmd: ["/app", "a b", "$(X)"] }],
    ["none:1", started],
  ])("%s starts what its Dockerfile says", async (name, starts) => {
    expect(await shown(registry, name)).toEqual({
      image: `${registry.host}/${name}`,
      askedAt: `${registry.host}/${name.slice(0, -2)}`,
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      platforms: ["linux/amd64"],
      starts: [{ platform: "linux/amd64", ...starts }],
    });
  });

  test("the digest names the same image", async () => {
    const { digest, starts } = await shown(registry, "differ:1");
    expect(await shown(registry, `differ@${digest}`)).toMatchObject({ digest, starts });
  });

  test("is shown once if it starts the same on all platforms", async () => {
    const { code, stdout } = await image(registry, "same:1");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^image +localhost:\d+\/same:1\nasked at +localhost:\d+\/same\ndigest +sha256:\w+\nplatforms +linux\/amd64, linux\/arm64(\/v8)?\nentrypoint +\["\/app"\]\ncmd +none\nworkdir +\/\nuser +root\nstop signal none: SIGTERM\n$/,
    );
  });

  test("is shown for each platform if it differs", async () => {
    const { code, stdout } = await image(registry, "differ:1");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /\n\non +linux\/amd64\nentrypoint +\["\/app"\]\n[\s\S]*\n\non +linux\/arm64(\/v8)?\nentrypoint +\["\/app-arm64"\]\n/,
    );
  });

  test.each([
    ["elsewhere:1", [], 69, "is for linux/s390x only: ebb runs on linux/amd64 and linux/arm64"],
    [
      "nowhere:1",
      [],
      69,
      "has no nowhere:1 (404): check the name and the tag; it says: MANIFEST_UNKNOWN: manifest unknown",
    ],
    ["exec:2", [], 69, "has no exec:2 (404)"],
    ["exec:1", ["--registries", "quay.io"], 69, "is not among --registries"],
    ["exec:1", ["--registries", "a b"], 64, "expected all, none, or registries"],
    ["exec:1", ["--registry-mirror", "x"], 64, "expected a registry and its mirror"],
    ["exec:1", ["--registry-config", "/nowhere"], 64, "--registry-config: /nowhere: no such file"],
    ["exec:1", ["--ca-file", "/nowhere"], 64, "--ca-file: expected a file with certificates"],
    ["exec:1", ["--ca-file", "/etc/hostname"], 64, "--ca-file: expected a file with certificates"],
    ["Exec:1", [], 64, "image: expected a name such as nginx:1.29 or registry.example.com/team/app, got "],
    ["Exec:1", [], 64, '/Exec:1": lower case only'],
  ])("%s with %j fails with %i and says what to do", async (name, flags, code, words) => {
    const ended = await image(registry, name, flags);
    expect(ended).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(words) });
  });

  test("a CA that is not known is named as the cause", async () => {
    const { code, stderr } = await ebb(["image", `${registry.host}/exec:1`], { env: { HOME: "/nowhere" } });
    expect(code).toBe(69);
    expect(stderr).toContain("is not trusted");
    expect(stderr).toContain("--ca-file");
  });

  test("CAs of NODE_EXTRA_CA_CERTS are trusted, also beside --ca-file", async () => {
    using folder = temporaryFolder();
    const other = join(folder.path, "other.pem");
    writeFileSync(other, issueAuthority({ fromMs: Date.now(), untilMs: Date.now() + 60_000 }).cert);
    const env = { HOME: "/nowhere", NODE_EXTRA_CA_CERTS: registry.ca };
    expect(await ebb(["image", `${registry.host}/exec:1`], { env })).toMatchObject({ code: 0 });
    expect(await ebb(["image", "--ca-file", other, `${registry.host}/exec:1`], { env })).toMatchObject({ code: 0 });
  });

  test("a mirror is asked in the place of a registry", async () => {
    const flags = ["--json", "--registries", "none", "--registry-mirror", `quay.io=${registry.host}`];
    const { stdout } = await ebb(["image", "--ca-file", registry.ca, ...flags, "quay.io/exec:1"]);
    expect(JSON.parse(stdout)).toMatchObject({ image: "quay.io/exec:1", askedAt: `${registry.host}/exec` });
  });

  test.each(["SIGTERM", "SIGINT"] as const)("%s ends it while a registry is silent", async (signal) => {
    let connections = 0;
    const open = () => {
      connections += 1;
    };
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {}, open } });
    await using asking = startEbb(["image", `localhost:${silent.port}/app`], { env: { HOME: "/nowhere" } });
    await until("the registry is asked", () => connections > 0);
    asking.kill(signal);
    expect((await asking.ended).code).toBe(signal === "SIGTERM" ? 143 : 130);
    silent.stop(true);
  });
});

describe.skipIf(lacking !== undefined).each(["basic", "token"] as const)(
  "a registry that wants to know who asks (%s)",
  (auth) => {
    let registry: Registry;
    const folder = temporaryFolder();
    const write = (name: string, value: unknown): string => {
      const path = join(folder.path, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
      return path;
    };
    const configFor = (password: string, host = registry.host) => ({
      auths: { [host]: { auth: base64(`${user.name}:${password}`) } },
    });

    beforeAll(async () => {
      using buildah = createBuildah();
      registry = await startRegistry({ auth });
      const platforms = { "linux/amd64": 'FROM scratch\nENTRYPOINT ["/app"]\n' };
      for (const name of ["public/app:1", "team/app:1"]) await buildah.push(registry, name, { platforms });
    });

    afterAll(async () => {
      await registry[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    });

    test("is told by --registry-config, by the most specific entry", async () => {
      const { auths } = configFor("wrong");
      const config = write("both.json", {
        auths: { ...auths, ...configFor(user.password, `${registry.host}/team`).auths },
      });
      expect(await image(registry, "team/app:1", ["--registry-config", config])).toMatchObject({ code: 0, stderr: "" });
    });

    test("is told by Docker's own file", async () => {
      write("docker/config.json", configFor(user.password));
      const env = { DOCKER_CONFIG: join(folder.path, "docker") };
      expect(await image(registry, "team/app:1", [], { env })).toMatchObject({ code: 0, stderr: "" });
    });

    test("is told by podman's file", async () => {
      write("home/.config/containers/auth.json", configFor(user.password));
      expect(await image(registry, "team/app:1", [], { env: { HOME: join(folder.path, "home") } })).toMatchObject({
        code: 0,
      });
    });

    test.each(["credHelpers", "credsStore"])("is told by a program that Docker's file names (%s)", async (field) => {
      const helper = write(
        "bin/docker-credential-test",
        `#!/bin/sh\n[ "$1" = get ] && [ "$(cat)" = "${registry.host}" ] && [ -z "$EBB_SECRET" ] &&\necho '${JSON.stringify({ Username: user.name, Secret: user.password })}'\n`,
      );
      chmodSync(helper, 0o755);
      write("helped/config.json", { [field]: field === "credsStore" ? "test" : { [registry.host]: "test" } });
      const env = {
        DOCKER_CONFIG: join(folder.path, "helped"),
        PATH: `${join(folder.path, "bin")}:${process.env.PATH}`,
        EBB_SECRET: "x",
      };
      const { code, stdout } = await image(registry, "team/app:1", [], { env });
      expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("/app") });
    });

    test.each([
      ["fails", "echo oops; exit 3"],
      ["is not there", undefined],
      ["prints something else", "echo '{}'"],
    ])("asks all the same if a program %s, and the log says so", async (_, script) => {
      if (script !== undefined) chmodSync(write("bad/docker-credential-bad", `#!/bin/sh\n${script}\n`), 0o755);
      write("bad-docker/config.json", { credsStore: script === undefined ? "none" : "bad" });
      const env = {
        DOCKER_CONFIG: join(folder.path, "bad-docker"),
        PATH: `${join(folder.path, "bad")}:${process.env.PATH}`,
      };
      const { code, log } = await image(registry, "public/app:1", [], { env });
      expect(code).toBe(auth === "token" ? 0 : 69);
      expect(log).toContainEqual(
        expect.objectContaining({ level: "warn", msg: "ebb: cannot read credentials of registries" }),
      );
    });

    test("is asked without credentials if a program has empty ones", async () => {
      const script = `#!/bin/sh\necho '{"Username": "", "Secret": ""}'\n`;
      chmodSync(write("empty/docker-credential-empty", script), 0o755);
      write("empty-docker/config.json", { credsStore: "empty" });
      const env = {
        DOCKER_CONFIG: join(folder.path, "empty-docker"),
        PATH: `${join(folder.path, "empty")}:${process.env.PATH}`,
      };
      const { code, stderr } = await image(registry, "team/app:1", [], { env });
      expect([code, stderr]).toEqual([69, expect.stringContaining("without credentials (401)")]);
    });

    test.each([
      ["without credentials", undefined],
      ["with a wrong password", "s3cret"],
    ])("refuses %s; the reason says so, and shows none", async (_, password) => {
      const flags = password === undefined ? [] : ["--registry-config", write("wrong.json", configFor(password))];
      const { code, stderr } = await image(registry, "team/app:1", flags);
      expect(code).toBe(69);
      expect(stderr).toContain("401");
      expect(stderr).toContain("--registry-config");
      expect(stderr).not.toContain("s3cret");
      expect(stderr).not.toContain(base64(`${user.name}:s3cret`));
    });
  },
);

describe.skipIf(lacking !== undefined)("a registry with tokens", () => {
  test("gives one to nobody for what is public, and one for a refresh token", async () => {
    using buildah = createBuildah();
    using folder = temporaryFolder();
    await using registry = await startRegistry({ auth: "token" });
    const platforms = { "linux/amd64": 'FROM scratch\nENTRYPOINT ["/app"]\n' };
    for (const name of ["public/app:1", "team/app:1"]) await buildah.push(registry, name, { platforms });
    expect(await image(registry, "public/app:1")).toMatchObject({ code: 0, stderr: "" });
    const config = join(folder.path, "config.json");
    writeFileSync(
      config,
      JSON.stringify({ auths: { [registry.host]: { auth: base64("id:"), identitytoken: "refresh me" } } }),
    );
    expect(await image(registry, "team/app:1", ["--registry-config", config])).toMatchObject({ code: 0, stderr: "" });
  });
});
