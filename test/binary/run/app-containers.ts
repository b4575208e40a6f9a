import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatRecord, type PeerRecord } from "../../../src/pod/run/core/peers.ts";
import { native } from "../../../src/shared/native/native.ts";
import { type Ended, type Started, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { childrenOf } from "../../harness/processes.ts";
import type { FakeSidecar } from "../../stand-in/sidecar.ts";

/** A pod's volume for `--last-of`, and how its app containers end. */
interface Pod extends Disposable {
  /** The volume, as the node sees it. */
  readonly volume: string;
  /** Starts an app container in a mount namespace and a PID namespace of its own; resolves when its app runs. */
  start(name: string, options?: ContainerOptions): Promise<Container>;
  /** Starts one, and does not wait for its app. */
  begin(name: string, options?: ContainerOptions): Container;
  /** Returns the path of a container's record, as the node sees it. */
  recordOf(name: string): string;
}

interface ContainerOptions {
  readonly flags?: readonly string[];
  /** The other names of --last-of; by default all others of the pod. */
  readonly lastOf?: string;
  /** The user and group; by default one for each container. */
  readonly user?: number;
  /** A shell command that is run before the volume is mounted, or in place of that (`mounts: false`). */
  readonly before?: string;
  readonly mounts?: boolean;
  /** A command that starts ebb, as in `StartOptions`. */
  readonly through?: readonly string[];
  /** The file whose content, an exit code, ends the app; by default the container's own. */
  readonly ends?: string;
}

interface Container extends AsyncDisposable {
  readonly ebb: Started;
  /** Returns the pid of ebb itself. */
  pid(): number;
  /** Ends the app with an exit code, and resolves when ebb has ended. */
  end(code: number): Promise<Ended>;
  /** Kills the container as the kubelet or the kernel does. */
  crash(): Promise<unknown>;
}

/** A root folder of its own, below /mnt: the machine's. */
const root = `for each in /*; do
  [ -L "$each" ] && { cp -d "$each" /mnt/; continue; }
  [ -d "$each" ] && [ "$each" != /mnt ] && mkdir "/mnt$each" && mount --rbind "$each" "/mnt$each"
done`;
/** The folders of the volume, as a container has them. */
const mounts = `mkdir /mnt/ebb.dev-apps /mnt/ebb.dev-own
mount --bind "$0" /mnt/ebb.dev-apps && mount -o remount,bind,ro /mnt/ebb.dev-apps && mount --bind "$0/$NAME" /mnt/ebb.dev-own || exit 99`;

/** What makes an ebb the container `a` of a pod. */
interface Beside extends Disposable {
  readonly flags: readonly string[];
  /** The command that starts ebb. */
  readonly through: readonly string[];
}

/** Makes ebb the container `a` of a pod whose container `b` has this record. Without a record there is no `b`. */
export function beside(peer: PeerRecord | undefined): Beside {
  if (peer === undefined) return { flags: [], through: [], [Symbol.dispose]: () => undefined };
  const { path: volume, [Symbol.dispose]: remove } = temporaryFolder();
  for (const name of ["a", "b"]) mkdirSync(join(volume, name));
  const lock = native.lock(join(volume, "b", "state"), 1);
  native.writeRecord(lock, new TextEncoder().encode(formatRecord(peer)));
  const isRunning = peer.state === "started";
  if (!isRunning) native.unlock(lock);
  const script = `NAME=a; mount -t tmpfs root /mnt; ${root}; ${mounts}; exec chroot /mnt "$@"`;
  return {
    flags: ["--last-of", "a,b"],
    through: ["unshare", "--mount", "sh", "-c", script, volume],
    [Symbol.dispose]() {
      if (isRunning) native.unlock(lock);
      remove();
    },
  };
}

/** Creates the volume of a pod beside a sidecar, with these app containers. */
export function podOf(sidecar: FakeSidecar, names: readonly string[]): Pod {
  const folder = temporaryFolder();
  const volume = join(folder.path, "volume");
  for (const path of [folder.path, volume, ...names.map((name) => join(volume, name))]) {
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o777); // as the kubelet makes emptyDirs and their subPaths
  }
  const begin = (name: string, options: ContainerOptions = {}): Container => {
    const {
      flags = [],
      user = 1000 + names.indexOf(name),
      before = ":",
      ends = join(folder.path, `end-${name}`),
    } = options;
    const { lastOf = [name, ...names.filter((each) => each !== name)].join() } = options;
    const script = `mount -t tmpfs root /mnt; ${root}; ${before}; ${options.mounts === false ? ":" : mounts}; exec chroot /mnt "$@"`;
    const as = ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
    const namespace = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
    const through = [...namespace, "sh", "-c", script, volume, ...as, ...(options.through ?? [])];
    const app = `echo runs; while [ ! -s "${ends}" ]; do sleep 0.01; done; exit $(cat "${ends}")`;
    const all = ["--sidecar", "envoy", "--admin", sidecar.url, "--last-of", lastOf, ...flags];
    const ebb = startEbb(["run", ...all, "--", "sh", "-c", app], {
      through,
      env: { NAME: name, PATH: process.env.PATH ?? "" },
    });
    // setpriv has ended what unshare --kill-child has arranged
    const kill = (): void => {
      for (const pid of childrenOf(ebb.pid)) process.kill(pid, "SIGKILL");
    };
    return {
      ebb,
      pid: () => childrenOf(ebb.pid)[0] as number,
      end(code) {
        writeFileSync(ends, `${code}\n`);
        return ebb.ended;
      },
      crash() {
        kill(); // ebb is PID 1 of the namespace, and with it goes all in that
        return ebb.ended;
      },
      async [Symbol.asyncDispose]() {
        kill();
        await ebb[Symbol.asyncDispose]();
      },
    };
  };
  return {
    volume,
    recordOf: (name) => join(volume, name, "state"),
    begin,
    async start(name, options) {
      const container = begin(name, options);
      try {
        await until(`the app of ${name} runs`, () => container.ebb.stdout() === "runs\n");
        return container;
      } catch (error) {
        await container[Symbol.asyncDispose]();
        throw new Error(container.ebb.stderr(), { cause: error });
      }
    },
    [Symbol.dispose]: folder[Symbol.dispose],
  };
}

/** Returns why the sidecars were kept; undefined if they were not. */
export function keptBecause({ log }: Ended): unknown {
  return log.find(({ msg }) => msg === "ebb: kept the sidecars running")?.reason;
}
