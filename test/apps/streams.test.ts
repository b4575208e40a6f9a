import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { goPath } from "../../build/setup/go.mjs";
import { isInPath } from "../../build/setup/packages.mjs";
import { type Place, withPlace } from "./place.ts";
import { type StoppedStreams, stopDuringStreams } from "./streams.ts";

// Rows of the table in the manual's page "apps", "Streams without an end". What is not installed is skipped.

setDefaultTimeout(60_000);

const asgi = `import asyncio
async def app(scope, receive, send):
    if scope["type"] == "lifespan": raise NotImplementedError
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/slow": await asyncio.sleep(2)
    if scope["path"] == "/events":
        left = asyncio.ensure_future(receive())
        while not left.done():
            await send({"type": "http.response.body", "body": b"data: 1\\n\\n", "more_body": True})
            await asyncio.sleep(.1)
    await send({"type": "http.response.body", "body": b"answered"})
`;

/** A server with a WebSocket that is as `ws` has it: a set `clients`, and a `close` that sends the code. */
const node = (port: number, handler: string) => `const { createServer } = require("node:http");
const { createHash } = require("node:crypto");
const streams = new Set(), sockets = { clients: new Set() };
const server = createServer((request, response) => {
  if (request.url === "/slow") return void setTimeout(() => response.end("answered"), 2000);
  if (request.url !== "/events") return void response.end("answered");
  streams.add(response);
  const timer = setInterval(() => response.writableEnded || response.write("data: 1\\n\\n"), 100);
  response.on("close", () => clearInterval(timer));
});
server.on("upgrade", (request, socket) => {
  const key = request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const accept = createHash("sha1").update(key).digest("base64");
  const head = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
  socket.write([...head, "Sec-WebSocket-Accept: " + accept, "", ""].join("\\r\\n"));
  socket.on("data", () => socket.end()); // the client's close frame
  sockets.clients.add({ close: (code) => socket.write(Buffer.from([0x88, 2, code >> 8, code & 255])) });
});
server.listen(${port}, "127.0.0.1");
${handler}`;

const page = readFileSync(join(import.meta.dirname, "../../src/manual/apps.md"), "utf8");
const handlerOfPage = /```js\n(.*?)```/s.exec(page)?.[1] ?? "";

const golang = (port: number, register: string) => `package main
import ("context"; "fmt"; "net/http"; "os"; "os/signal"; "syscall"; "time")
func main() {
	stopping, stop := context.WithCancel(context.Background())
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "answered") })
	http.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Second)
		fmt.Fprint(w, "answered")
	})
	http.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		for {
			fmt.Fprint(w, "data: 1\\n\\n")
			w.(http.Flusher).Flush()
			select {
			case <-stopping.Done(): return
			case <-r.Context().Done(): return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	server := &http.Server{Addr: "127.0.0.1:${port}"}
	${register}
	go server.ListenAndServe()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	<-signals
	server.Shutdown(context.Background())
	stop()
}
`;

const urlOf = ({ port }: Place) => `http://127.0.0.1:${port}`;

test.skipIf(!isInPath("uvicorn"))("uvicorn answers, and waits for a stream as long as its client does", () =>
  withPlace(async (place) => {
    place.write("app.py", asgi);
    const argv = ["uvicorn", "--app-dir", place.folder, "--port", String(place.port), "app:app"];
    const stopped = await stopDuringStreams(argv, urlOf(place), false);
    expect(stopped).toMatchObject({ wasAnswered: true, events: "went on" });
  }),
);

describe.skipIf(!isInPath("node"))("Node.js", () => {
  test.each<[string, string, StoppedStreams]>([
    ["without a handler cuts all", "", { code: 143, wasAnswered: false, events: "cut", webSocket: 1006 }],
    [
      "with server.close() answers, and its streams go on",
      'process.on("SIGTERM", () => server.close())',
      { code: 0, wasAnswered: true, events: "went on", webSocket: undefined },
    ],
    [
      "with the page's handler answers, and ends its streams",
      handlerOfPage,
      { code: 0, wasAnswered: true, events: "ended", webSocket: 1001 },
    ],
  ])("%s", async (_, handler, expected) => {
    await withPlace(async (place) => {
      const argv = ["node", place.write("server.js", node(place.port, handler))];
      expect(await stopDuringStreams(argv, urlOf(place), true)).toEqual(expected);
    });
  });
});

describe.skipIf(goPath() === undefined)("Go's Shutdown", () => {
  const build = (...args: readonly string[]) => {
    const { stderr, status } = spawnSync(goPath() ?? "", ["build", ...args], { encoding: "utf8" });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  };
  // Go compiles its own packages once for a machine
  beforeAll(() => build("net/http"), 600_000);

  test.each<[string, string, StoppedStreams["events"]]>([
    ["answers, and its streams go on", "", "went on"],
    ["answers, and ends the streams that listen to RegisterOnShutdown", "server.RegisterOnShutdown(stop)", "ended"],
  ])("%s", async (_, register, events) => {
    await withPlace(async (place) => {
      const [source, server] = [place.write("main.go", golang(place.port, register)), join(place.folder, "server")];
      build("-o", server, source);
      const stopped = await stopDuringStreams([server], urlOf(place), false);
      expect(stopped).toEqual({ code: 0, wasAnswered: true, events, webSocket: undefined });
    });
  });
});
