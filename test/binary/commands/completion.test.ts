import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands } from "../../../src/commands.ts";
import { sidecarNames } from "../../../src/shared/sidecars/core/registry.ts";
import { ebb, ebbPath, isListed, temporaryFolder } from "../../harness/ebb.ts";

const fixtures = join(import.meta.dirname, "../../fixtures");

/** How each shell is asked what it proposes at the end of a line, once the script is sourced. */
const shells = {
  // bash splits at =, which is in COMP_WORDBREAKS
  bash: (script: string, line: string) => [
    ["bash", "--norc", join(fixtures, "complete.bash"), script, ...line.split(/ |(?==)|(?<==)(?=.)/)],
    /<(.*)>/g,
  ],
  zsh: (script: string, line: string) => [["zsh", "-f", join(fixtures, "complete.zsh"), script, line], /<([^>]*)>/g],
  fish: (script: string, line: string) => [
    ["fish", "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, script, line],
    /^([^\t\n]+)/gm,
  ],
} satisfies Record<string, (script: string, line: string) => [string[], RegExp]>;

const place = temporaryFolder();
afterAll(() => place[Symbol.dispose]());
const [files, programs] = [join(place.path, "files"), join(place.path, "programs")];
mkdirSync(join(files, "folder"), { recursive: true });
writeFileSync(join(files, "file"), "");
mkdirSync(programs);
writeFileSync(join(programs, "ebb-test-program"), "", { mode: 0o755 });
symlinkSync(ebbPath, join(programs, "ebb"));
for (const shell of Object.keys(shells)) {
  writeFileSync(join(place.path, shell), (await ebb(["completion", shell])).stdout);
}

const names = Object.keys(commands).filter(isListed);
/** Whether this build lists all commands that a line names. */
const knowsWords = (line: string) => line.split(" ").every((word) => !Object.hasOwn(commands, word) || isListed(word));
const flagsOf = (name: string) => Object.values(commands[name]?.options ?? {}).map(({ flag }) => `--${flag}`);

describe.each(Object.entries(shells))("completion in %s", (shell, ask) => {
  // named in the title, because a test that is skipped says nothing else
  const isMissing = Bun.which(shell) === null;
  const why = isMissing ? ` (skipped: ${shell} is not installed)` : "";

  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["", [...names, "help"]],
    ["co", ["config", "completion"]],
    ["help ", names],
    ["help doc", ["doctor"]],
    ["completion ", ["bash", "zsh", "fish"]],
    ["quit --", [...flagsOf("quit"), "--help"]],
    ["sleep --", ["--help"]],
    ["--vers", ["--version"]],
    ["--lic", ["--licenses"]],
    ["--version --", ["--json"]],
    ["--licenses --", []],
    ["--he", ["--help"]],
    ["--quit-o", []],
    ["run --quit-on ", ["always", "success", "never"]],
    ["run --quit-on=al", ["always"]],
    ["run --grace 5s --quit-on n", ["never"]],
    ["run --grace=5s --quit-on=n", ["never"]],
    ["run --signal-group --log-format ", ["auto", "json", "text"]],
    ["wait tcp://db:5432 --on-wait-timeout ", ["fail", "start"]],
    ["quit --sidecar ", ["auto", "none", ...sidecarNames]],
    ["quit --sidecar istio,v", ["istio,vault-agent"]],
    ["drain --then", ["--then-quit"]],
    ["wait --grac", []],
    ["run --grace ", []],
    ["install FOLDER/", ["file", "folder"]],
    ["run --termination-log FOLDER/fi", ["file"]],
    ["run --termination-log=FOLDER/fi", ["file"]],
    ["run -- cat FOLDER/fi", ["file"]],
    ["run --grace 5s cat FOLDER/fi", ["file"]],
    ["run -- ebb-test-pro", ["ebb-test-program"]],
    ["run --quit-on never ebb-test-pro", ["ebb-test-program"]],
    ["-- ebb-test-pro", []],
    ["wait --quiet -- ebb-test-pro", ["ebb-test-program"]],
  ];
  test.skipIf(isMissing).each(cases.filter(([line]) => knowsWords(line)))(`ebb %s: %j${why}`, (line, expected) => {
    expect(proposed(`ebb ${line.replace("FOLDER", files)}`, `${process.env.PATH}:${programs}`)).toEqual(
      new Set(expected),
    );
  });

  test.skipIf(isMissing).each([[`${programs}/ebb`], ["~/programs/ebb"]])(
    `asks the ebb that is called: %s${why}`,
    (called) => {
      expect(proposed(`${called} completion ba`, process.env.PATH)).toEqual(new Set(["bash"]));
    },
  );

  test.skipIf(isMissing)(`proposes nothing, and says nothing, where no ebb is${why}`, () => {
    expect(proposed("/nosuch/ebb completion ba", process.env.PATH)).toEqual(new Set());
  });

  function proposed(line: string, path = ""): ReadonlySet<string> {
    const [command, found] = ask(join(place.path, shell), line);
    const env = { PATH: path, HOME: place.path, TERM: "dumb" };
    const { stdout, stderr } = Bun.spawnSync(command, { env, stdin: "ignore", timeout: 20_000 });
    expect(stderr.toString()).toBe("");
    return new Set([...stdout.toString().matchAll(found)].map(([, word = ""]) => nameOf(word)));
  }
});

/** Some shells propose `--flag=word` or a whole path, others only what is left to type. */
function nameOf(word: string): string {
  return word.replace(/^.*=/, "").replace(/\/$/, "").replace(/^.*\//, "").trim();
}

test.each([[[]], [["tcsh"]], [["bash", "zsh"]], [["--nonsense", "bash"]]])(
  "ebb completion %j is exit code 64",
  async (args) => {
    expect(await ebb(["completion", ...args])).toMatchObject({
      code: 64,
      stdout: "",
      stderr: expect.stringMatching(/^ebb: .+\n$/),
    });
  },
);
