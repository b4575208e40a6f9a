import { programPath } from "./programs.ts";

/** What a sidecar saw in a life. Times are nanoseconds of CLOCK_MONOTONIC, 0 if it did not happen. */
interface SidecarLife {
  /** The time when it was ready. */
  readonly readyNs: number;
  /** The time when the first quit came. */
  readonly quitNs: number;
  /** The time when that quit was answered. */
  readonly answeredNs: number;
  /** The number of quits. */
  readonly quits: number;
}

/** A sidecar (sidecar.c) in a process of its own: it has one life after the other, each at another port. */
export interface Sidecar extends AsyncDisposable {
  /**
   * Starts a life that is ready after `readyInMs`; until then it answers 503 (`unready`), or does not listen
   * (`refused`). Resolves with its URL.
   */
  open(readyInMs: number, until?: "unready" | "refused"): Promise<string>;
  /** Ends the life, and resolves with what it saw. */
  close(): Promise<SidecarLife>;
}

/** Starts the process of a sidecar, without a life. */
export function startSidecar(): Sidecar {
  const { stdin, stdout, exited } = Bun.spawn([programPath("sidecar")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = linesOf(stdout);
  const ask = async (line: string): Promise<string> => {
    stdin.write(`${line}\n`);
    await stdin.flush();
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`the sidecar ended at: ${line}`);
    return value;
  };
  return {
    open: async (readyInMs, until = "unready") => `http://127.0.0.1:${await ask(`open ${readyInMs} ${until}`)}`,
    async close() {
      const [readyNs = 0, quitNs = 0, answeredNs = 0, quits = 0] = (await ask("close")).split(" ").map(Number);
      return { readyNs, quitNs, answeredNs, quits };
    },
    async [Symbol.asyncDispose]() {
      stdin.end();
      await exited;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}
