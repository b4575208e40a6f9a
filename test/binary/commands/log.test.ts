import { expect, test } from "bun:test";
import { ebb } from "../../harness/ebb.ts";

const args = (format: string) => ["run", "--sidecar", "none", "--log-format", format, "--", "true"];

test("as text a line says what it says as JSON, in units for people, and nothing of what did not happen", async () => {
  const { stderr } = await ebb(args("text"));
  expect(stderr).toMatch(/^ebb: started the command pid=\d+ command=true$/m);
  expect(stderr).toMatch(/^ebb: done waited=\d+ms ran=\d+ms quit=\d+ms exitCode=0$/m);
});

test("as JSON the last line has how long each phase took in milliseconds, and the exit code", async () => {
  const { log } = await ebb(args("json"));
  const { level, severity, time, msg, ...life } = log.at(-1) ?? { level: "", msg: "" };
  expect([level, severity, msg]).toEqual(["info", "INFO", "ebb: done"]);
  expect(Date.parse(time as string)).toBeGreaterThan(0);
  expect(life).toEqual({
    waitedMs: expect.any(Number),
    ranMs: expect.any(Number),
    quitMs: expect.any(Number),
    exitCode: 0,
  });
});
