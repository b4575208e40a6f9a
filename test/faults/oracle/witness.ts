import type { Socket } from "bun";
import { until } from "../../harness/ebb.ts";
import { now } from "../clock.ts";

/** Something that a process of the application has told. */
export interface Fact {
  /** The time, in ms of CLOCK_MONOTONIC, by the process itself. */
  readonly at: number;
  readonly pid: number;
  readonly what: string;
}

/** A process of an application, from its first word to its end. */
export interface Life {
  readonly pid: number;
  readonly facts: readonly Fact[];
  /** The time when its end was seen here, which is after it; missing while it runs. */
  endedAt?: number;
}

/** The patience with a machine that stands still. */
const SETTLED_MS = 60_000;

/** A server to which the processes of applications tell what happens to them. */
export interface Witness extends Disposable {
  /** The path of its socket. */
  readonly path: string;
  /** Calls `hear` with each fact that the processes of a run tell. Returns their lives, to which new ones are added. */
  listen(run: string, hear: (life: Life, fact: Fact) => void): readonly Life[];
  /** Ends that. */
  forget(run: string): void;
  /** Resolves when all that was told before has been heard. Rejects after a minute. */
  settled(): Promise<void>;
}

interface Told {
  readonly lives: Life[];
  readonly hear: (life: Life, fact: Fact) => void;
}

interface Connection {
  text: string;
  life?: Life & { readonly facts: Fact[] };
}

/** Starts a witness at a path. A process that ends also ends its connection, so that no end is missed. */
export function callWitness(path: string): Witness {
  const runs = new Map<string, Told>();
  const silent = new Set<Connection>();
  const settling = new Map<string, () => void>();
  let settled = 0;
  const hear = (connection: Connection, line: string): void => {
    silent.delete(connection);
    settling.get(line)?.();
    settling.delete(line);
    const [, run = "", ns = "", pid = "", what = ""] = /^(\S+) (\d+) (\d+) (.*)$/.exec(line) ?? [];
    const told = runs.get(run);
    if (told === undefined) return;
    if (connection.life === undefined) {
      connection.life = { pid: Number(pid), facts: [] };
      told.lives.push(connection.life);
    }
    const fact: Fact = { at: Number(ns) / 1e6, pid: Number(pid), what };
    connection.life.facts.push(fact);
    told.hear(connection.life, fact);
  };
  const end = ({ data }: Socket<Connection>): void => {
    silent.delete(data);
    if (data.life !== undefined) data.life.endedAt ??= now();
  };
  const listener = Bun.listen<Connection>({
    unix: path,
    socket: {
      open(socket) {
        socket.data = { text: "" };
        silent.add(socket.data);
      },
      data(socket, bytes) {
        const lines = (socket.data.text + bytes.toString("latin1")).split("\n");
        socket.data.text = lines.pop() ?? "";
        for (const line of lines) hear(socket.data, line);
      },
      end: (socket) => void socket.end(),
      close: end,
      error: end,
    },
  });
  return {
    path,
    listen(run, hear) {
      const lives: Life[] = [];
      runs.set(run, { lives, hear });
      return lives;
    },
    forget: (run) => void runs.delete(run),
    async settled() {
      // connections are accepted in their order: when one more is accepted, all before it are
      const { promise: accepted, resolve } = Promise.withResolvers<void>();
      const name = `last ${settled++}`;
      settling.set(name, resolve);
      const last = await Bun.connect({ unix: path, socket: { data: () => undefined } });
      last.write(`${name}\n`);
      await accepted;
      last.end();
      const before = [...silent];
      await until("all have said a word", () => !before.some((connection) => silent.has(connection)), SETTLED_MS);
    },
    [Symbol.dispose]: () => listener.stop(true),
  };
}
