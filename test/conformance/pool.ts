import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { childPath } from "../harness/compiled.ts";
import { canUnshare } from "../harness/ebb.ts";
import { appPath } from "./app.ts";
import type { Outcome } from "./run.ts";
import type { Answer, Job } from "./worker.ts";

const namespaces = ["--net", "--pid", "--fork", "--mount-proc", "--kill-child"];

/**
 * Returns the flags of unshare that work here: none for root, or those for a user namespace; undefined if none work.
 */
function findWay(): readonly string[] | undefined {
  return [[], ["--map-root-user"]].find((more) => canUnshare(...more, ...namespaces));
}

/** The flags by which namespaces are made here; undefined if they cannot be made. */
export const way = findWay();

/** Workers, each with a network and processes of its own: real ports are free, and no case sees another. */
export interface Pool extends AsyncDisposable {
  /** Runs a case as soon as a worker is free. Rejects if the case cannot be run. */
  run(job: Job): Promise<Outcome>;
}

/** Starts that many workers. */
export function startPool(width: number): Pool {
  appPath(); // compiled here once, not by all workers at the same time
  const waiting: Wish[] = [];
  const workers = Array.from({ length: width }, () => startWorker(waiting));
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        waiting.push({ job, resolve, reject });
        for (const worker of workers) worker.wake();
      }),
    async [Symbol.asyncDispose]() {
      waiting.length = 0;
      await Promise.all(workers.map((worker) => worker.end()));
    },
  };
}

interface Wish {
  readonly job: Job;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
}

function startWorker(waiting: Wish[]) {
  if (way === undefined) throw new Error("no namespaces: this needs root");
  const bun = [process.execPath, join(import.meta.dirname, "worker.ts")];
  const words = ["unshare", ...way, ...namespaces, childPath(), "loopback", ...bun];
  const worker = Bun.spawn(words, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const lines = createInterface({ input: Readable.fromWeb(worker.stdout as never) })[Symbol.asyncIterator]();
  let isBusy = false;
  const wake = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    for (let wish = waiting.shift(); wish !== undefined; wish = waiting.shift()) {
      worker.stdin.write(`${JSON.stringify(wish.job)}\n`);
      await worker.stdin.flush();
      settle(wish, await lines.next());
    }
    isBusy = false;
  };
  return {
    wake: () => void wake(),
    end: async () => {
      worker.kill("SIGKILL"); // and with it all that it has started
      await worker.exited;
    },
  };
}

function settle({ resolve, reject }: Wish, { value, done }: IteratorResult<string>): void {
  if (done) return reject(new Error("the worker has gone"));
  const answer = JSON.parse(value) as Answer;
  if ("error" in answer) reject(new Error(answer.error));
  else resolve(answer.outcome);
}
