import { expect, test } from "bun:test";
import { drainLineOf, startEbb, until } from "../harness/ebb.ts";
import { describeAgainstEnvoy, says } from "./against-envoy.ts";
import { startEnvoy } from "./envoy.ts";

/** Calls /slow twice on a connection and, told so, /second; prints what happens. Node.js: Bun's client hides GOAWAY. */
const client = `
const session = require("node:http2").connect(process.argv[1]);
session.on("goaway", () => console.log("goaway")).on("close", () => console.log("closed"));
const call = (path) => session.request({ ":path": path }).on("end", () => console.log(path)).resume().end();
call("/slow"); call("/slow"); process.stdin.once("data", () => call("/second"));`;

describeAgainstEnvoy("a drain with HTTP/2", () => {
  test("counts each call, sends GOAWAY with the next one, and lets those under way end", async () => {
    const second = Promise.withResolvers<void>();
    const fetch = async ({ url }: Request) => {
      if (url.endsWith("/slow")) await second.promise;
      return new Response("answered");
    };
    await using upstream = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch });
    await using envoy = await startEnvoy({ upstreamPort: upstream.port as number });
    const calls = Bun.spawn(["node", "-e", client, envoy.url], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    await until("the calls are under way", () => upstream.pendingRequests === 2);
    await using draining = startEbb(["drain", "--admin", envoy.admin, "--drain", "20s", "--min-drain", "0s"]);
    await says(draining, "ebb: in flight");
    calls.stdin.write("now");
    calls.stdin.end();
    let said = "";
    for await (const text of calls.stdout.pipeThrough(new TextDecoderStream())) {
      said += text;
      if (said.includes("/second")) second.resolve();
    }
    const drained = await draining.ended;
    expect(drainLineOf(drained).outcome).toBe("drained");
    expect(drained.log.find(({ msg }) => msg === "ebb: in flight")).toMatchObject({ requests: 2, connections: 0 });
    expect(said.split("\n").slice(0, 4)).toEqual(["goaway", "/second", "/slow", "/slow"]);
  });
});
