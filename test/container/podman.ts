import { join } from "node:path";
import { collect, until } from "../harness/ebb.ts";
import { runFolder, storage } from "./images.ts";

const podman = ["podman", ...storage, "--tmpdir", join(runFolder, "libpod"), "--cgroup-manager", "cgroupfs"];

/** The flags of all containers: each is removed at its end, which is after 2 minutes at the latest. */
const always = [
  ...["--rm", "--timeout", "120", "--runtime", "runc"],
  ...["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"],
];

/** The flags for a strict pod's securityContext: nothing can be written, no capability is there or can be gained. */
const restricted = [
  "--read-only",
  "--read-only-tmpfs=false",
  "--cap-drop",
  "ALL",
  "--security-opt",
  "no-new-privileges",
];

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Container extends AsyncDisposable {
  readonly name: string;
  /** Resolves once its stdout or stderr has this text. Rejects if it ends without, or after 30 s. */
  readonly says: (text: string) => Promise<void>;
  /** Resolves with the pid of its PID 1, as this machine sees it. */
  readonly pid: () => Promise<number>;
  /** Runs a further process in it to the end, as an exec hook or `kubectl exec` does. */
  readonly exec: (...words: readonly string[]) => Promise<Outcome>;
  /** Sends SIGTERM, and SIGKILL 20 s later; resolves at the end. */
  readonly stop: () => Promise<Outcome>;
  /** Resolves with its exit code and output at its end. */
  readonly ended: Promise<Outcome>;
}

export interface ContainerOptions {
  /** The container whose network it shares, as those of a pod do; by default it has only a loopback. */
  readonly beside?: Container;
  /** Files of this machine: PATH_HERE:PATH_THERE. */
  readonly mounts?: readonly string[];
  /** What takes the place of the image's ENTRYPOINT and CMD, as a container's `command` does. */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether a terminal is its stdin, stdout and stderr. */
  readonly terminal?: boolean;
  /** podman's flags for rights and limits; by default those of a strict pod. */
  readonly security?: readonly string[];
}

let count = 0;

/**
 * Starts a container, by default like that of a strict pod. `await using` it: if the test ends first, it is removed.
 */
export function startContainer(image: string, args: readonly string[], options: ContainerOptions = {}): Container {
  count += 1;
  const name = `ebb-test-${process.pid}-${count}`;
  const network = options.beside === undefined ? "none" : `container:${options.beside.name}`;
  const flags = [
    ...["--name", name, "--network", network, ...always],
    ...(options.security ?? restricted),
    ...(options.mounts ?? []).flatMap((mount) => ["--volume", mount]),
    ...(options.terminal ? ["--tty"] : []),
    ...(options.command === undefined ? [] : ["--entrypoint", JSON.stringify(options.command)]),
    ...Object.entries(options.env ?? {}).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
  ];
  const { says, ended } = spawn(["run", ...flags, image, ...args]);
  return {
    name,
    says,
    ended,
    pid: () => until(`${name} has a process`, () => pidOf(name), 30_000),
    exec: (...words) => spawn(["exec", name, ...words]).ended,
    stop: () => spawn(["stop", "--time", "20", name]).ended,
    async [Symbol.asyncDispose]() {
      await spawn(["rm", "--force", "--ignore", "--time", "0", name]).ended;
      await ended;
    },
  };
}

async function pidOf(name: string): Promise<number | undefined> {
  const { stdout } = await spawn(["inspect", name, "--format", "{{.State.Pid}}"]).ended;
  return Number(stdout) || undefined;
}

/** Mounts the root folder of an image, to be looked at, until the result is disposed of. */
export async function imageFolder(image: string): Promise<AsyncDisposable & { readonly path: string }> {
  const { stdout } = await spawn(["image", "mount", image]).ended;
  return {
    path: stdout.trim(),
    async [Symbol.asyncDispose]() {
      await spawn(["image", "unmount", image]).ended;
    },
  };
}

/** Returns an image's configuration, which its containers inherit. */
export async function imageConfig(image: string): Promise<Readonly<Record<string, unknown>>> {
  const { stdout } = await spawn(["image", "inspect", image, "--format", "{{json .Config}}"]).ended;
  return JSON.parse(stdout);
}

/** Returns Debian's name of the architecture of an image: `amd64`. */
export async function imageArchitecture(image: string): Promise<string> {
  const { stdout } = await spawn(["image", "inspect", image, "--format", "{{.Architecture}}"]).ended;
  return stdout.trim();
}

function spawn(args: readonly string[]): Pick<Container, "says" | "ended"> {
  const program = Bun.spawn([...podman, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const stdout = collect(program.stdout);
  const stderr = collect(program.stderr);
  const end = async (): Promise<Outcome> => {
    const code = await program.exited;
    await Promise.all([stdout.done, stderr.done]);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
  const ended = end();
  const hasSaid = (text: string) => stdout.text().includes(text) || stderr.text().includes(text);
  const says = async (text: string): Promise<void> => {
    const isOver = () => program.exitCode !== null || program.signalCode !== null;
    await until(`${args.join(" ")} says ${text}`, () => hasSaid(text) || isOver(), 30_000);
    if (!hasSaid(text) && isOver()) throw new Error(`ended without ${text}: ${JSON.stringify(await ended)}`);
  };
  return { says, ended };
}
