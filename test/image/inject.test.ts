import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, ebb } from "../harness/ebb.ts";
import { buildahMissing, createBuildah } from "./buildah.ts";
import { type Registry, registryMissing, startRegistry } from "./registry.ts";

setDefaultTimeout(60_000);

const lacking = process.env.CI === undefined ? (registryMissing() ?? buildahMissing()) : undefined; // never skipped in CI
if (lacking !== undefined) console.log(`skipped: a real registry and its images need ${lacking}`);

const written = readFileSync(join(import.meta.dirname, "../fixtures/labelled-namespace.yaml"), "utf8");
const zeros = `sha256:${"0".repeat(64)}`;

describe.skipIf(lacking !== undefined)("ebb inject, of images that a registry knows,", () => {
  let registry: Registry;
  let labelled: string;

  beforeAll(async () => {
    using buildah = createBuildah();
    registry = await startRegistry({ auth: "none" });
    const push = (name: string, amd64: string, arm64 = amd64) =>
      buildah.push(registry, name, {
        platforms: { "linux/amd64": `FROM scratch\n${amd64}`, "linux/arm64": `FROM scratch\n${arm64}` },
      });
    await push("team/report:1.4", 'ENTRYPOINT ["/report"]\nCMD ["--help"]\n');
    await push("team/cleanup:latest", "CMD exec /cleanup --at $(date) $PORT\n");
    await push("team/shop:1", 'ENTRYPOINT ["/tini", "--"]\nCMD ["/shop"]\nSTOPSIGNAL SIGQUIT\n');
    await push("vendor/queue:3", 'ENTRYPOINT ["/queue"]\n');
    await push("debug:dev", 'CMD ["/bin/sh"]\n', 'CMD ["/bin/bash"]\n');
    const shop = await ebb(["image", "--json", "--ca-file", registry.ca, `${registry.host}/team/shop:1`]);
    labelled = written.replace(zeros, JSON.parse(shop.stdout).digest);
  });

  afterAll(() => registry[Symbol.asyncDispose]());

  /** Runs `ebb inject` on a text, with the registry as the mirror of those that the text names. */
  async function inject(text: string): Promise<Ended> {
    const mirrors = ["registry.example.com", "localhost:5000"].flatMap((from) => [
      "--registry-mirror",
      `${from}=${registry.host}`,
    ]);
    const through = ["sh", "-c", 'printf %s "$0" | "$@"', text];
    const known = ["--ca-file", registry.ca, "--registries", "none", ...mirrors];
    return await ebb(["inject", "--all", "--image", "ebb:1", ...known], {
      through,
      env: { HOME: "/nowhere" },
    });
  }

  test("starts in each pod what its image starts, on the processors of its nodes", async () => {
    const { code, stdout, stderr } = await inject(labelled);
    expect(code).toBe(0);
    expect(stderr).not.toContain("is unknown");
    expect(containersIn(stdout).map(({ command, args }) => [command?.slice(3), args])).toEqual([
      [["/report"], ["--month", "10"]],
      [["/bin/sh", "-c", "exec /cleanup --at $$(date) $PORT"], undefined],
      [["/tini", "--", "/shop"], undefined],
      [["/queue"], ["serve", "--port=$(PORT)"]],
      [["/bin/bash"], undefined],
    ]);
    expect(stdout).toContain("EBB_STOP_SIGNAL");
    expect(stdout).not.toContain(registry.host);
  });

  test("again, also without the registry, changes nothing; taken out, all is as it was", async () => {
    const injected = (await inject(labelled)).stdout;
    expect((await inject(injected)).stdout).toBe(injected);
    const through = ["sh", "-c", 'printf %s "$0" | "$@"', injected];
    const alone = ["inject", "--all", "--image", "ebb:1", "--registries", "none"];
    expect(await ebb(alone, { through })).toMatchObject({ code: 0, stdout: injected });
    expect(await ebb(["inject", "--remove"], { through })).toMatchObject({ code: 0, stdout: labelled });
  });

  test("says what it could not find out, and goes on: images that are not there, one of two commands", async () => {
    const text = written.replace("report:1.4", "report:9").replace("  nodeSelector: {kubernetes.io/arch: arm64}\n", "");
    const { code, stdout, stderr } = await inject(text);
    expect(code).toBe(0);
    expect(containersIn(stdout).map(({ command }) => command?.[0])).toEqual([
      ...[undefined, "/ebb.dev/ebb", undefined, "/ebb.dev/ebb", undefined],
    ]);
    expect(stderr).toMatch(
      /Job report: .*command: the command of "report" is unknown: .*404.*ebb\.dev\/entrypoint\.report/,
    );
    expect(stderr).toMatch(/Deployment shop: .*command of "shop" is unknown, so ebb only drains it: .*404/);
    expect(stderr).toMatch(
      /Pod debug: .*command of "debug" is unknown, so ebb only drains it: .*\/bin\/sh.* on amd64, .*\/bin\/bash.* on arm64/,
    );
  });
});

interface Container {
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
}

/** Returns the first container of each object. */
function containersIn(text: string): readonly Container[] {
  // biome-ignore lint/suspicious/noExplicitAny: manifests, written loosely
  const objects = Bun.YAML.parse(text) as any[];
  return objects.map(({ spec }) => {
    const { containers } = spec.jobTemplate?.spec.template.spec ?? spec.template?.spec ?? spec;
    return containers[0];
  });
}
