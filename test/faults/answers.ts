import type { Socket } from "bun";
import { takes } from "../harness/time.ts";
import type { Answer } from "./plan/planned.ts";

/** What an answer can ask and do beside writing. */
interface Means {
  /** Reports whether the connection is still there. */
  readonly isOpen: () => boolean;
  /** Ends the proxy: nobody listens any more. */
  readonly die: () => void;
  /** Notes that all of an answer has been written. */
  readonly whole: () => void;
}

/**
 * Gives one answer, good or bad, on a connection; `body` is that of a good one. Resolves when nothing is left to write.
 */
export async function give<T>(socket: Socket<T>, answer: Answer, body: string, means: Means): Promise<void> {
  switch (answer.kind) {
    case "ok":
      if (answer.delayMs > 0) await takes(answer.delayMs);
      if (!means.isOpen()) return;
      socket.write(good(answer.form, body));
      means.whole();
      if (answer.form === "close") socket.end();
      return;
    case "ok, then die":
      socket.write(good("length", body));
      means.whole();
      if (answer.delayMs > 0) await takes(answer.delayMs);
      return means.die();
    case "drip":
      return await drip(socket, { text: good("length", body), ms: answer.ms }, means);
    case "status":
      socket.write(`HTTP/1.1 ${answer.status} No\r\nlocation: /elsewhere\r\ncontent-length: 3\r\n\r\nno\n`);
      return means.whole();
    case "hang":
      return;
    case "reset":
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf");
      return void socket.terminate();
    case "close":
      return void socket.end();
    case "half":
      return void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf");
    case "garbage":
      return void socket.end("\x00\x01 garbage \xff\n\n");
    case "endless":
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      return await pour(socket, means);
    case "die":
      return means.die();
  }
}

function good(form: "length" | "chunks" | "close", body: string): string {
  if (form === "close") return `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`;
  if (form === "length") return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const half = Math.ceil(body.length / 2);
  const chunks = [body.slice(0, half), body.slice(half)].filter((chunk) => chunk !== "");
  const coded = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
  return `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${coded}0\r\n\r\n`;
}

const PIECES = 8;

async function drip<T>(socket: Socket<T>, { text, ms }: { text: string; ms: number }, means: Means): Promise<void> {
  const size = Math.ceil(text.length / PIECES);
  for (let at = 0; at < text.length; at += size) {
    await takes(ms / PIECES);
    if (!means.isOpen()) return;
    socket.write(text.slice(at, at + size));
  }
  means.whole();
}

/** Writes chunks without end, 200 every 2 ms, until the connection is gone. */
async function pour<T>(socket: Socket<T>, { isOpen }: Means): Promise<void> {
  const line = "listener.0.0.0.0_8080.downstream_cx_active: 0\n";
  const text = `${line.length.toString(16)}\r\n${line}\r\n`.repeat(200);
  while (isOpen()) {
    socket.write(text);
    await takes(2);
  }
}
