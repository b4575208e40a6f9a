import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { lineOf, logOf, type Started, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { type RawServer, startRawServer } from "../../stand-in/raw-server.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nLIVE\n";
const no = (body: string, header = "") => `HTTP/1.1 503 No\r\nContent-Length: ${body.length}\r\n${header}\r\n${body}`;

function startWaiting(target: string, flags: readonly string[] = []): Started {
  const child = ["--", childPath(), "exit", "5"];
  return startEbb(["run", "--sidecar", "none", "--ready", target, ...flags, ...child]);
}

const urlOf = ({ port }: RawServer) => `http://127.0.0.1:${port}/ready`;

function says(started: Started, reason: string): Promise<boolean> {
  return until(`"waiting until ready": ${reason}`, () =>
    started.stderr().includes(`"reason":${JSON.stringify(reason)}`),
  );
}

/** `run` that waits for a server which answers so, and how often that was asked. */
async function startBeside(answer: RawServer["answer"]) {
  let asked = 0;
  const server = await startRawServer((socket) => {
    asked += 1;
    answer(socket);
  });
  const started = startWaiting(urlOf(server));
  return { server, started, asked: () => asked };
}

test.each(["/there.sock", "/folder/there.sock"])("a unix socket that is not there yet (%s)", async (name) => {
  using folder = temporaryFolder();
  await using started = startWaiting(`unix:${folder.path}${name}`);
  await says(started, "connection refused");
  mkdirSync(join(folder.path, "folder"));
  const server = Bun.listen({ unix: `${folder.path}${name}`, socket: { data: () => undefined } });
  expect((await started.ended).code).toBe(5);
  server.stop(true);
});

describe("what is new is noticed, and said", () => {
  test("another reason, at once", async () => {
    const { server, started, asked } = await startBeside((socket) => socket.write(no("warming up")));
    await using _server = server;
    await using _started = started;
    await until("it was asked a few times", () => asked() > 20);
    server.answer = (socket) => socket.write(no("almost warm"));
    await says(started, 'HTTP 503 "almost warm"');
    await server.close();
    await says(started, "connection refused");
    server.answer = () => undefined;
    await server.open();
    await says(started, "no answer");
    server.answer = (socket) => socket.write(ok);
    expect((await started.ended).code).toBe(5);
  });

  test.each<[string, (socket: Socket, asked: number) => void]>([
    ["an answer that is never the same", (socket, asked) => socket.write(no(`${asked}`))],
    [
      "one that breaks off, now and then",
      (socket, asked) => (asked % 3 === 0 ? socket.end(no("warm").slice(0, 9)) : socket.write(no("warm"))),
    ],
  ])("%s", async (_, answer) => {
    const { server, started, asked } = await startBeside((socket) => answer(socket, asked()));
    await using _server = server;
    await using _started = started;
    await until("it was asked a hundred times", () => asked() > 100, 10_000);
    const lines = logOf(started.stderr()).filter(({ msg }) => msg === "ebb: waiting until ready");
    expect(lines.length).toBeLessThan(asked() / 5);
    expect(lines.filter(({ waitedMs }) => Number(waitedMs) < 1000).length).toBeLessThanOrEqual(3);
    server.answer = (socket) => socket.write(ok);
    expect((await started.ended).code).toBe(5);
  });
});

test.each([401, 403])("%i says what to set, in the log and in the termination log", async (status) => {
  using folder = temporaryFolder();
  const reason = join(folder.path, "reason");
  await using server = await startRawServer((socket) => socket.write(no("").replace("503", `${status}`)));
  const flags = ["--wait-timeout", "1s", "--termination-log", reason];
  await using started = startWaiting(urlOf(server), flags);
  const ended = await started.ended;
  expect(ended.code).toBe(69);
  expect(lineOf(ended, "waiting until ready").how).toContain("--header");
  expect(await Bun.file(reason).text()).toMatch(new RegExp(`/ready: HTTP ${status} \\(.*--header.*\\)\n$`));
});
