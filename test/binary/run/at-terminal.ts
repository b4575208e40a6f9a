import { readdirSync, readFileSync } from "node:fs";
import { until } from "../../harness/ebb.ts";

/** A command at a terminal of its own. */
export interface AtTerminal extends AsyncDisposable {
  /** Returns the text that was sent to the terminal, without `\r` and colours. */
  readonly screen: () => string;
  /** Returns the text that was sent to the terminal, without colours. */
  readonly sent: () => string;
  /** Returns the text that was sent to the terminal. */
  readonly coloured: () => string;
  readonly type: (text: string) => void;
  readonly resize: (columns: number, rows: number) => void;
  /** Resolves with the match once `screen()` has the text. Rejects after 20 s. */
  readonly shows: (text: string | RegExp) => Promise<RegExpExecArray>;
  /** The exit code; 128+n if signal n ended it. */
  readonly exited: Promise<number>;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a colour is one
const colours = /\x1b\[[\d;]*m/g;

/**
 * Starts a command as the leader of a session with a terminal, as `kubectl exec -it` and a login do. `await using` it:
 * all processes of the session are killed.
 */
export function startAtTerminal(...command: readonly string[]): AtTerminal {
  let text = "";
  const decoder = new TextDecoder();
  const started = Bun.spawn([...command], {
    env: { PATH: process.env.PATH ?? "", TERM: "xterm", PS1: "$ " },
    terminal: {
      data(_, bytes) {
        text += decoder.decode(bytes, { stream: true });
      },
    },
  });
  const screen = () => text.replaceAll("\r", "").replace(colours, "");
  return {
    screen,
    sent: () => text.replace(colours, ""),
    coloured: () => text,
    type: (typed) => void started.terminal?.write(typed),
    resize: (columns, rows) => started.terminal?.resize(columns, rows),
    async shows(wanted) {
      const show = until(`the terminal shows ${wanted}`, () => shown(screen(), wanted), 20_000);
      return await show.catch((error: Error) => {
        throw new Error(`${error.message}, but: ${screen()}`);
      });
    },
    exited: started.exited,
    async [Symbol.asyncDispose]() {
      for (const pid of sessionOf(started.pid)) end(pid);
      await started.exited;
      started.terminal?.close();
    },
  };
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

/** Returns the processes of a leader's session, the leader too while it lives. */
function sessionOf(leader: number): readonly number[] {
  const pids = readdirSync("/proc").map(Number).filter(Boolean);
  return pids.filter((pid) => {
    try {
      return Number(/\) \S \d+ \d+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1]) === leader;
    } catch {
      return false; // it has ended
    }
  });
}

function shown(screen: string, wanted: string | RegExp): RegExpExecArray | null {
  return (typeof wanted === "string" ? new RegExp(RegExp.escape(wanted)) : wanted).exec(screen);
}
