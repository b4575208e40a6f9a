import { expect, test } from "bun:test";
import { drainLineOf, ebb, until } from "../harness/ebb.ts";
import { takes } from "../harness/time.ts";
import { describeAgainstEnvoy } from "./against-envoy.ts";
import { startEnvoy } from "./envoy.ts";

/** Calls /slow twice on a connection and, told so, /second; prints what happens. Node.js: Bun's client hides GOAWAY. */
const client = `
const session = require("node:http2").connect(process.argv[1]);
session.on("goaway", () => console.log("goaway")).on("close", () => console.log("closed"));
const call = (path) => session.request({ ":path": path }).on("end", () => console.log(path)).resume().end();
call("/slow"); call("/slow"); process.stdin.once("data", () => call("/second"));`;

describeAgainstEnvoy("a drain with HTTP/2", () => {
  test("counts each call, sends GOAWAY with the next one, and lets those under way end", async () => {
    const fetch = async ({ url }: Request) => {
      if (url.endsWith("/slow")) await takes(3000);
      return new Response("answered");
    };
    await using upstream = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch });
    await using envoy = await startEnvoy({ upstreamPort: upstream.port as number });
    const calls = Bun.spawn(["node", "-e", client, envoy.url], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    await until("the calls are under way", () => upstream.pendingRequests === 2);
    const draining = ebb(["drain", "--admin", envoy.admin, "--drain", "20s", "--min-drain", "0s"]);
    await takes(500);
    calls.stdin.write("now");
    calls.stdin.end();
    const drained = await draining;
    expect(drainLineOf(drained).outcome).toBe("drained");
    expect(drained.log.find(({ msg }) => msg === "ebb: in flight")).toMatchObject({ requests: 2, connections: 0 });
    const said = (await new Response(calls.stdout).text()).split("\n");
    expect(said.slice(0, 4)).toEqual(["goaway", "/second", "/slow", "/slow"]);
  });
});
