import { programPath } from "./programs.ts";

/** What a sidecar saw of one life: CLOCK_MONOTONIC in ns, 0 where it did not come to that. */
export interface SidecarLife {
  readonly readyNs: number;
  readonly quitNs: number;
  readonly answeredNs: number;
  readonly quits: number;
}

/** sidecar.c, in a process of its own: one life after the other, each at a port of its own. */
export interface Sidecar extends AsyncDisposable {
  /** Starts a life that is ready after `readyInMs`, and answers 503 until then, or does not listen. Returns its URL. */
  open(readyInMs: number, until?: "unready" | "refused"): Promise<string>;
  /** Ends the life. */
  close(): Promise<SidecarLife>;
}

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
