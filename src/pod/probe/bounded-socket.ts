import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { RequestFailed, tooLong } from "../../shared/http/request-failed.ts";
import { DEFAULT_MAX_ANSWER } from "../http/http.ts";
import { FRAME_TYPE_AT } from "./core/grpc-health.ts";

/** A socket of which an answer is expected, of a limited size. */
export interface BoundedSocket {
  readonly socket: Duplex;
  /** Lets it receive so many bytes more as an answer may have. */
  readonly allowAnswer: () => void;
}

/**
 * Returns a socket as one that fails when more bytes come than an answer may have: frames that nobody asked for would cost
 * a processor, and ebb its timers. `hear` gets the first bytes, and returns why they are not what is expected.
 */
export function bounded(socket: Socket, hear: (first: Buffer) => RequestFailed | undefined): BoundedSocket {
  let left = 0;
  let head: Buffer = Buffer.alloc(0);
  const outer = new Duplex({
    read: () => undefined,
    write(piece, _, done) {
      socket.write(piece, (error) => {
        if (!error) done(); // else the socket's own error says why
      });
    },
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (piece: Buffer) => {
    left -= piece.length;
    if (left < 0) return void outer.destroy(new RequestFailed("broken", tooLong(DEFAULT_MAX_ANSWER)));
    if (head.length < FRAME_TYPE_AT + 1) {
      head = Buffer.concat([head, piece]);
      const problem = head.length < FRAME_TYPE_AT + 1 ? undefined : hear(head);
      if (problem !== undefined) return void outer.destroy(problem);
    }
    outer.push(piece);
  });
  socket.on("end", () => void outer.push(null));
  socket.on("error", (error) => void outer.destroy(error));
  socket.on("close", () => void outer.destroy());
  const allowAnswer = (): void => {
    left = DEFAULT_MAX_ANSWER;
  };
  return { socket: outer, allowAnswer };
}
