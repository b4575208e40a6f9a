import { expect, test } from "bun:test";
import { EventEmitter, once } from "node:events";
import type { Socket } from "node:net";
import { DEFAULT_MAX_ANSWER } from "../../../../src/pod/http/http.ts";
import { bounded } from "../../../../src/pod/probe/bounded-socket.ts";
import { RequestFailed } from "../../../../src/shared/http/request-failed.ts";

/** A bounded socket, the wire below it, what its first bytes were, and how many bytes it has passed on. */
function start(problem?: RequestFailed) {
  const wire = Object.assign(new EventEmitter(), { destroy: () => undefined });
  const heard: string[] = [];
  const { socket, allowAnswer } = bounded(wire as unknown as Socket, (first) => {
    heard.push(first.toString());
    return problem;
  });
  let passed = 0;
  socket.on("data", ({ length }: Buffer) => {
    passed += length;
  });
  const failure = once(socket, "error").then(([error]) => error);
  const receive = (text: string) => wire.emit("data", Buffer.from(text));
  return { socket, allowAnswer, receive, heard, failure, passed: () => passed };
}

test("the first bytes are heard once, when there are enough of them, however they come", () => {
  const { allowAnswer, receive, heard } = start();
  allowAnswer();
  for (const piece of ["ab", "c", "def", "ghi"]) receive(piece);
  expect(heard).toEqual(["abcdef"]);
});

test("first bytes that are not what is expected are its failure, and are not passed on", async () => {
  const problem = new RequestFailed("broken", "it speaks TLS");
  const { allowAnswer, receive, failure, passed } = start(problem);
  allowAnswer();
  receive("abcd");
  expect(await failure).toBe(problem);
  expect(passed()).toBe(0);
});

test("bytes that nobody asked for are its failure", async () => {
  const { receive, failure } = start();
  receive("a");
  expect(await failure).toMatchObject({ kind: "broken" });
});

test("each answer may have so many bytes, and one more is its failure", async () => {
  const { socket, allowAnswer, receive, failure } = start();
  for (const _ of [1, 2]) {
    allowAnswer();
    receive("a".repeat(DEFAULT_MAX_ANSWER));
  }
  expect(socket.destroyed).toBe(false);
  receive("a");
  expect(await failure).toMatchObject({ kind: "broken" });
});
