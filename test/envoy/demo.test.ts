import { expect, test } from "bun:test";
import { join } from "node:path";
import { envoyPath } from "../../build/setup/envoy.mjs";
import { ebbPath } from "../harness/ebb.ts";

test.concurrent.each([
  ["a real Envoy, where it is installed", {}, envoyPath() === undefined ? "stand-in" : "envoy"],
  ["a stand-in, where there is no Envoy", { XDG_CACHE_HOME: "/nothing" }, "stand-in"],
])("npm start shows the main job beside %s", async (_, changed, proxy) => {
  const words = [process.execPath, join(import.meta.dirname, "..", "demo", "demo.ts")];
  const env = { ...process.env, EBB: ebbPath, ...changed };
  const demo = Bun.spawn(words, { env, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const text = await demo.stdout.text();
  const said = text.split("\n").flatMap((line) => / {2}(\S+) {2,}(.*)/.exec(line)?.slice(1).join(": ") ?? []);
  const story = [
    "job: 0 of 3 requests answered",
    "ebb: waiting until ready",
    "ebb: ready",
    "ebb: started the command",
    "job: 100 of 100 requests answered",
    "ebb: asked the sidecar to exit",
    "ebb: exit code 42",
    `${proxy}: gone, exit code 0`,
  ];
  const told = new Set(said.map((line) => story.find((part) => line.startsWith(part))).filter((part) => part));
  expect([...told]).toEqual(story);
  expect(await demo.exited).toBe(0);
});
