// node build/task.mjs TASK [ARG...] does what `npm run TASK -- ARG...` asks for: it sets this machine up, builds, and
// runs. Plain Node.js, because nothing else is there yet; so --help answers at once.
import { spawn } from "node:child_process";
import { availableParallelism, homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { canShow, runShown, runTests } from "./setup/progress.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** The working directory and the environment of the commands. */
const place = { cwd: root, env: { ...process.env, PATH: `${root}/node_modules/.bin:${process.env.PATH}` } };
const testing = [
  "bun",
  "test",
  "--preload",
  "./test/harness/same-cases.ts",
  "--timeout",
  "60000",
  "--max-concurrency",
  "4",
];
/** The file with the time that each test file took: the slowest files of the last run start first. */
const timings = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "ebb", "test-timings.json");
/** Most tests wait for time to pass, so there are more workers than processors. */
const manyFiles = [
  `--parallel=${3 * availableParallelism()}`,
  "--no-isolate",
  "--timings",
  timings,
  "--update-timings",
];
const apart = ["cluster", "container", "orchestrators", "release", "sidecars", "targets"].flatMap((folder) => [
  "--path-ignore-patterns",
  `test/${folder}/**`,
]);
const checks = [["biome", "check"], ["tsc"], ["bun", "build/arrows.ts"], ["bun", "build/regexps.ts"]];

/**
 * The tasks, by name. `setup`: the arguments of build/setup.mjs; `build`: those of build/build.ts, without which
 * nothing is built; `run`: the commands; `alone`: the command that gets the arguments, if there are any, in place of
 * `run`; `check`: lint and types run meanwhile; `ownHelp`: the first command prints the help. Of setup and build, a
 * `brief` task shows at a terminal only that they go on.
 */
const tasks = {
  start: {
    setup: ["envoy"],
    build: [],
    brief: true,
    run: [["bun", "test/demo/demo.ts"]],
    help: "npm start\n  sets up, builds dist/ebb, and shows a Job next to a real Envoy",
  },
  build: {
    setup: (args) => args,
    build: (args) => args,
    run: [],
    help: `npm run build -- [--all] [--target NAME] [--bun PATH] [--outfile FILE] [--outdir FOLDER]
  builds dist/ebb; with --all for each processor, and for macOS, in dist/
  NAME is one of build/targets.ts: arm64, darwin-arm64, ...; desk: what macOS gets, for this machine`,
  },
  check: {
    setup: [],
    check: true,
    run: [],
    help: "npm run check\n  lint, arrows between the folders of src, types, regular expressions of more than linear time",
  },
  unit: {
    setup: [],
    native: true,
    run: [[...testing, ...manyFiles, "test/unit", "test/docs"]],
    alone: [...testing],
    help: "npm run unit -- [FILE...]\n  the tests that need no executable",
  },
  watch: {
    setup: [],
    native: true,
    run: [["bun", "test", "--watch", "test/unit"]],
    alone: ["bun", "test", "--watch"],
    help: "npm run watch -- [FILE...]\n  runs the unit tests, or those of a file, again at each change",
  },
  binary: {
    setup: ["envoy"],
    build: [],
    run: [[...testing, ...manyFiles, "test/binary"]],
    alone: [...testing],
    help: "npm run binary -- [FILE...]\n  builds, and runs the tests of the executable from outside",
  },
  test: {
    setup: ["envoy", "registry", "shells", "inits"],
    build: [],
    check: true,
    run: [[...testing, ...manyFiles, ...apart]],
    help: "npm test -- [FILE...]\n  sets up, builds, and runs all tests but those of the tasks test:NAME",
  },
  "test:all": {
    setup: ["apps"],
    run: [["node", "build/suites.mjs"]],
    help: `npm run test:all
  runs all tests, and each fuzzer for 20 s: some 90 min on two cores; the first time it downloads and compiles for some
  40 min more
  as root it installs nginx, PHP-FPM, Apache, uWSGI and gunicorn from Debian, and what the other tasks need
  goes on after a failure; the last line counts what passed and failed
  without root it runs test, test:builds, test:faults, fuzz and test:syscalls, and says what it leaves out`,
  },
  "test:cluster": {
    setup: ["envoy", "cluster", "registry"],
    build: [],
    run: [["bun", "test/cluster/run.ts"]],
    ownHelp: true,
  },
  "test:orchestrators": {
    setup: ["envoy", "cluster"],
    build: [],
    run: [["bun", "test/orchestrators/run.ts"]],
    ownHelp: true,
  },
  "test:release": {
    setup: ["envoy", "cluster", "monitoring", "release"],
    build: [],
    run: [["bun", "test/release/run.ts"]],
    ownHelp: true,
  },
  "test:sidecars": { setup: ["envoy", "sidecars"], build: [], run: [["bun", "test/sidecars/run.ts"]], ownHelp: true },
  "test:builds": {
    setup: ["container", "targets"],
    build: [],
    run: [[...testing, ...manyFiles, "test/container", "test/targets"]],
    alone: [...testing],
    help: `npm run test:builds -- [FILE...]
  builds the image, and ebb for every processor and for macOS; runs them in containers, in gVisor, and by an emulator`,
  },
  "test:faults": { setup: [], build: [], run: [["bun", "test/faults/faults.ts"]], ownHelp: true },
  "test:syscalls": { setup: [], build: [], run: [["bun", "test/syscalls/syscalls.ts"]], ownHelp: true },
  release: {
    setup: [],
    run: [["bun", "build/release/release.ts"]],
    help: `npm run release -- [--name REGISTRY/NAME] [--url URL]
  builds this commit for each processor in two folders, compares what came of it, and writes all that is published:
  dist/release
  --name  the image's (default: localhost/ebb)
  --url   the folder from which the files will be downloaded: adds krew's manifest (ebb.yaml) and archives`,
  },
  "release:push": {
    setup: [],
    run: [["bun", "build/release/push.ts"]],
    help: `npm run release:push -- [--from FOLDER]
  pushes the image and the chart of dist/release to the registry of its --name, signs them and SHA256SUMS, and attests the
  image's bills of materials; needs skopeo, helm and cosign
  cosign signs with the key of COSIGN_KEY or, without it, as the workflow that runs this; any flag of it is a variable:
  COSIGN_USE_SIGNING_CONFIG=false COSIGN_TLOG_UPLOAD=false for no transparency log`,
  },
  image: {
    setup: ["--all"],
    build: ["--all"],
    run: [["bun", "build/image/image.ts"]],
    help: `npm run image -- [--tar] [--zstd] [--baseline] [--platform LIST] [--name NAME] [--from FOLDER] [--out FOLDER]
  builds for each processor, and writes an OCI image without a container engine: dist/image
  --tar            one archive too: dist/image.tar
  --zstd           smaller layers
  --baseline       the executable for processors without AVX2
  --platform LIST  of linux/amd64,linux/arm64`,
  },
  chart: {
    setup: [],
    native: true,
    run: [["bun", "build/release/chart.ts"]],
    help: `npm run chart -- [--repository NAME] [--out FOLDER]
  packs the Helm chart of build/chart, and bases for Kustomize of what ebb manifests prints: chart/, kustomize/ and an
  archive of each in dist/
  --repository NAME  the image that they have as default, without its tag`,
  },
  fuzz: {
    setup: [],
    run: [["bun", "test/fuzz/fuzz.ts"]],
    help: `npm run fuzz -- [NAME...] [--for 10m] [--seed N]
  feeds each parser, so long, what its grammar makes by seed; stops at the first input that it does not take, or takes
  too long for
  NAME is one of test/fuzz/grammars.ts (all); another word lists them`,
  },
  bench: {
    setup: [],
    run: [["bun", "test/bench/bench.ts"]],
    help: `npm run bench -- [--rival NAME=PATH]... [--quick] [--for 1h] [--file FILE] [FIGURE]...
  measures dist/ebb (or EBB=PATH) next to other tools; nothing else should run meanwhile; another word lists the figures
  rolls counts the requests that are lost when pods go, for 5 minutes or --for, and adds to what FILE
  (~/.cache/ebb/rolls.jsonl) has of the same executable; Ctrl-C loses only the rolls under way
  soak has a webhook and a reaper work under load for 2 hours or --for, and adds to FILE (~/.cache/ebb/soak.jsonl)`,
  },
  conformance: {
    setup: [],
    build: [],
    run: [["bun", "test/conformance/conformance.ts"]],
    help: `npm run conformance -- [--rival NAME=PATH]... [--only TEXT]
  runs ebb's cases against the tools in whose place it stands; each difference must be a known one`,
  },
  format: {
    setup: [],
    run: [["biome", "check", "--write"]],
    help: "npm run format\n  formats, and mends what biome can",
  },
};

const [, , name = "", ...args] = process.argv;
const task = tasks[name];
if (task === undefined) fail(`${name}: expected any of ${Object.keys(tasks).join(", ")}`);
if (args.includes("--help") || args.includes("-h")) await help();
else await perform();

async function perform() {
  await prepare(["node", "build/setup.mjs", ...given(task.setup)], "setup", {
    done: () => undefined,
    keeps: "setup: ",
  });
  const checked = task.check === true ? checks.map((command) => tryRun(command, "pipe")) : [];
  if (task.native === true) await run(["bun", "build/link/native.ts"]);
  if (task.build !== undefined)
    await prepare(["bun", "build/build.ts", ...given(task.build)], "building dist/ebb", { done: builtLine });
  const failed = (await Promise.all(checked)).find((code) => code !== 0); // each has said what it found
  if (failed !== undefined) process.exit(failed);
  if (task.alone !== undefined && args.length > 0) return run([...task.alone, ...args]);
  for (const command of task.run) await run([...command, ...args]);
}

/** Runs a command of setup or build. For a `brief` task a terminal shows only that it goes on, and what came of it. */
async function prepare(command, what, shown) {
  if (task.brief !== true || !canShow) return run(command);
  const code = await codeOf(command, runShown(what, command, place, shown));
  if (code !== 0) process.exit(code);
}

/**
 * Returns a summary from the last lines of the build: `ebb      77.1 MB, statically linked, 479 relocations applied`.
 */
function builtLine(output) {
  return `dist/ebb: ${/^ebb +([^,]*, [^,\n]*)/m.exec(output)?.[1] ?? "built"}`;
}

function given(words) {
  return typeof words === "function" ? words(args) : words;
}

/** Prints the task's help. For an `ownHelp` task Bun and the packages are installed before, and nothing else. */
async function help() {
  if (task.ownHelp !== true) return console.log(task.help);
  await run(["node", "build/setup.mjs", "--modules"]);
  await run([...task.run[0], "--help"]);
}

/** Runs a command, and ends this process as the command ended if it fails. A terminal shows how far many tests are. */
async function run(command) {
  const isShown = canShow && command.includes(manyFiles[0]);
  const code = isShown ? await codeOf(command, runTests(command, place)) : await tryRun(command);
  if (code !== 0) process.exit(code);
}

/** Resolves with the exit code of a command that is shown while it runs. */
async function codeOf([program], running) {
  const { status, error } = await running;
  if (error !== undefined) fail(`${program}: ${error.message}`);
  return status ?? 1;
}

/**
 * Runs a command, and resolves with its exit code. With `output` "pipe" its output is shown when it has ended, because
 * the lines of commands that run at once would mix.
 */
async function tryRun([program, ...words], output = "inherit") {
  const child = spawn(program, words, { ...place, stdio: ["inherit", output, output] });
  const printed = [];
  child.stdout?.on("data", (bytes) => printed.push(bytes));
  child.stderr?.on("data", (bytes) => printed.push(bytes));
  const code = await new Promise((resolve) => {
    child.on("error", ({ message }) => fail(`${program}: ${message}`));
    child.on("close", (status) => resolve(status ?? 1));
  });
  process.stdout.write(Buffer.concat(printed));
  return code;
}

function fail(reason) {
  console.error(`task: ${reason}`);
  process.exit(64);
}
