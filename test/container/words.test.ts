import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { injectPod } from "../../src/cluster/inject/core/inject-pod.ts";
import { compiled } from "../harness/compiled.ts";
import { ebbPath, temporaryFolder } from "../harness/ebb.ts";
import { type Loose, podIn, podOf, policy } from "../unit/cluster/inject/core/injection.ts";
import { expand } from "../unit/cluster/inject/core/kubelet.ts";
import { imageSays } from "../unit/cluster/inject/core/registry.ts";
import { obstacle, runFolder, storage } from "./images.ts";
import { imageConfig, startContainer } from "./podman.ts";

setDefaultTimeout(60_000);

const lacking = process.env.CI === undefined ? obstacle() : undefined; // never skipped in CI
const why = lacking === undefined ? "" : ` (skipped: containers need ${lacking})`;

const choices = [false, true];
const variables = { PORT: "80" };
/** The program that prints its words, and words that the kubelet would expand, or break. */
const words = (name: string) => ["/argv", `${name} $(PORT)`, "$$", "$$(PORT) $é", "$(date) 5$"];
const nameOf = (entrypoint: boolean, cmd: boolean) => `localhost/ebb-words:entrypoint-${entrypoint}-cmd-${cmd}`;

describe.skipIf(lacking !== undefined)(`an image's command under ebb${why}`, () => {
  const images = choices.flatMap((entrypoint) => choices.map((cmd) => ({ entrypoint, cmd })));
  beforeAll(() => images.map(({ entrypoint, cmd }) => buildImage(entrypoint, cmd)), { timeout: 120_000 });
  afterAll(() => {
    const names = images.map(({ entrypoint, cmd }) => nameOf(entrypoint, cmd));
    spawnSync("buildah", [...storage, "rmi", "--force", ...names]);
  });

  const sixteen = choices.flatMap((command) =>
    choices.flatMap((args) => images.map((image) => ({ command, args, ...image }))),
  );
  test.each(sixteen)("has the words that it has without: %j", async (is) => {
    const name = nameOf(is.entrypoint, is.cmd);
    const { Entrypoint, Cmd } = await imageConfig(name);
    const container = {
      name: "app",
      image: name,
      ...(is.command ? { command: words("command") } : {}),
      ...(is.args ? { args: words("args") } : {}),
    };
    const said = imageSays({ entrypoint: listOf(Entrypoint), cmd: listOf(Cmd) });
    const pod = podOf({ containers: [container], spec: { restartPolicy: "Never" } });
    const injection = injectPod(pod, { ...policy, ...said });
    await using before = start(name, container);
    const { code, stdout } = await before.ended;
    if (!Object.values(is).includes(true)) {
      expect([code !== 0, injection.kind]).toEqual([true, "skipped"]);
      return;
    }
    await using after = start(name, podIn(injection).spec.containers[0]);
    expect(await after.ended).toEqual({ code, stdout, stderr: "" });
    expect([code, stdout.split("\n")[0]]).toEqual([0, "/argv"]);
  });
});

/** Starts a container as the kubelet would: it expands `command` and `args`. */
function start(image: string, { command, args, env = [] }: Loose) {
  const expanded = (list: readonly string[]) => list.map((word) => expand(word, variables));
  const own = Object.fromEntries(env.map(({ name, value }: Loose) => [name, value]));
  return startContainer(image, expanded(args ?? []), {
    env: { ...variables, ...own, EBB_SIDECAR: "none", EBB_QUIET: "true" },
    mounts: [`${ebbPath}:/ebb.dev/ebb:ro`],
    ...(command === undefined ? {} : { command: expanded(command) }),
  });
}

function listOf(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[];
}

function buildImage(entrypoint: boolean, cmd: boolean): void {
  mkdirSync(runFolder, { recursive: true });
  using folder = temporaryFolder();
  copyFileSync(compiled(join(import.meta.dirname, "../fixtures/argv.c")), join(folder.path, "argv"));
  const lines = [
    "FROM scratch",
    "COPY argv /argv",
    ...(entrypoint ? [`ENTRYPOINT ${JSON.stringify(words("entrypoint"))}`] : []),
    ...(cmd ? [`CMD ${JSON.stringify(words("cmd"))}`] : []),
  ];
  writeFileSync(join(folder.path, "Containerfile"), `${lines.join("\n")}\n`);
  const call = [...storage, "bud", "--pull-never", "-t", nameOf(entrypoint, cmd), folder.path];
  const { status, stderr } = spawnSync("buildah", call, { encoding: "utf8" });
  if (status !== 0) throw new Error(`buildah ${call.join(" ")}: ${stderr}`);
}
