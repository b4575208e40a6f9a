import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../build/setup/cache.mjs";
import { collect, ebbPath, type Started, type StartOptions, startEbb, until } from "../harness/ebb.ts";
import { childrenOf, isEbb } from "../harness/processes.ts";
import { runTool } from "./tool.ts";

/** A main process with the processes that it starts, in a PID namespace of its own and the network of its pod. */
export interface Container {
  /** The pid of its process 1, as the test sees it. */
  readonly pid: number;
  /** Returns all that it has written, to stdout and then to stderr. */
  log(): string;
  /** Resolves with its exit code when it has ended; 128+n if signal n ended it. */
  readonly ended: Promise<number>;
  isRunning(): boolean;
  /** Sends a signal to its process 1, as the kubelet does. */
  kill(signal: NodeJS.Signals): void;
  /** Runs a program beside its process 1, as `kubectl exec` does, and resolves with its stdout. Rejects if it fails. */
  run(...words: readonly string[]): Promise<string>;
  /** Starts ebb beside its process 1, as an exec hook does. */
  startEbb(args: readonly string[], options?: StartOptions): Started;
}

export interface Answer {
  /** `cut` if the connection ended before the answer did. */
  readonly status: number | "cut";
  readonly body: string;
}

export interface ContainerOptions {
  /** Variables besides PATH. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory; by default `/`. */
  readonly cwd?: string;
  /** The user; by default root. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/** Containers that have a network of their own, as in Kubernetes: only processes in it see its loopback. */
export interface Pod extends AsyncDisposable {
  /** The address by which others reach it. */
  readonly address: string;
  /** The path of the folder that its containers see as /tmp. */
  readonly temporary: string;
  /** The address by which it reaches the test, and servers of the test. */
  readonly outside: string;
  /** Starts a container. Resolves once its process 1 is there. */
  start(command: readonly string[], options?: ContainerOptions): Promise<Container>;
  /** Runs a tool in its network, and resolves with its stdout. Rejects if it fails. */
  run(...words: readonly string[]): Promise<string>;
  /** Starts ebb as the main process of a container. */
  startEbb(args: readonly string[], options?: StartOptions): Started;
  /**
   * Sends a request to a port of its loopback, `POST 15020/drain`. Resolves with the answer, undefined if it is
   * refused.
   */
  request(text: string): Promise<Answer | undefined>;
}

let count = 0;

/** Creates a pod; `await using` it. The networks are those for tests of devices (RFC 2544), which no machine routes. */
export async function startPod(): Promise<Pod> {
  count += 1;
  const [name, network] = [`pod${count}`, `198.19.${count}`];
  const [outside, address] = [`${network}.1`, `${network}.2`];
  await runTool("ip", "netns", "add", name);
  await runTool("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name);
  await runTool("ip", "address", "add", `${outside}/24`, "dev", name);
  await runTool("ip", "link", "set", name, "up");
  const inside = `ip link set lo up; ip address add ${address}/24 dev eth0; ip link set eth0 up; ip route add default via ${outside}`;
  const enter = ["nsenter", `--net=/run/netns/${name}`];
  mkdirSync(temporaryOf(name), { recursive: true, mode: 0o777 });
  await runTool(...enter, "sh", "-ec", inside);
  const containers: Container[] = [];
  return {
    ...{ address, outside, temporary: temporaryOf(name) },
    async start(command, options = {}) {
      const container = await startContainer([...enter, ...own(name)], command, options);
      containers.push(container);
      return container;
    },
    run: (...words) => runTool(...enter, ...words),
    startEbb: (args, options = {}) => startEbb(args, { ...options, through: [...enter, ...own(name)] }),
    request: (text) => request(enter, text),
    async [Symbol.asyncDispose]() {
      for (const container of containers) if (container.isRunning()) container.kill("SIGKILL");
      await Promise.all(containers.map(({ ended }) => ended));
      await runTool("ip", "netns", "delete", name);
    },
  };
}

/** Sends a signal to an ebb that pod.startEbb has started, once it is there. */
export async function signalEbb({ pid }: Started, signal: NodeJS.Signals): Promise<void> {
  process.kill(await until("ebb is there", () => childrenOf(pid).find(isEbb)), signal);
}

/** The folders of the machine's own /tmp that containers need: a checkout in it, or a cache. */
const kept = [join(import.meta.dirname, "..", ".."), ebbPath, cacheFolder()].flatMap(
  (path) => /^\/tmp\/([^/]+)/.exec(path)?.[1] ?? [],
);

/** Returns the command that runs another one in a PID namespace of its own, with the pod's /tmp. */
function own(pod: string): readonly string[] {
  const mounts = [...new Set(kept)].map((name) => `mkdir -p "$0/${name}" && mount --rbind "/tmp/${name}" "$0/${name}"`);
  const script = [...mounts, 'mount --rbind "$0" /tmp', 'exec "$@"'].join(" && ");
  return ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script, temporaryOf(pod)];
}

/** Returns the path of the folder that a pod's containers see as /tmp. */
function temporaryOf(pod: string): string {
  return join("/run/pods", pod);
}

async function startContainer(
  within: readonly string[],
  command: readonly string[],
  { env = {}, cwd = "/", user }: ContainerOptions,
): Promise<Container> {
  const as = user === undefined ? [] : ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  const words = [...within, ...as, ...command];
  const all = { PATH: process.env.PATH ?? "", ...env };
  const starter = Bun.spawn(words, { env: all, cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const streams = [collect(starter.stdout), collect(starter.stderr)];
  const log = (): string => streams.map(({ text }) => text()).join("");
  const pid = await until(`${command[0]} starts`, () => childrenOf(starter.pid)[0]);
  const enter = ["nsenter", "--target", `${pid}`, "--net", "--pid", "--mount"];
  return {
    ...{ pid, log, ended: starter.exited },
    isRunning: () => starter.exitCode === null && starter.signalCode === null,
    kill(signal) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // it has ended, which its starter has not noticed yet
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    },
    run: (...program) => runTool(...enter, ...program),
    startEbb: (args, options = {}) => startEbb(args, { ...options, through: enter }),
  };
}

async function request(enter: readonly string[], text: string): Promise<Answer | undefined> {
  const said = await runTool(...enter, process.execPath, join(import.meta.dirname, "ask.ts"), text);
  return said === "" ? undefined : (JSON.parse(said) as Answer);
}
