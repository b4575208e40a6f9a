import { expect, test } from "bun:test";
import { createLog } from "../../../../src/shared/output/log.ts";

test("each line of JSON has Google Cloud's name of its level beside ebb's own", () => {
  const lines: string[] = [];
  const settings = { logLevel: "debug", logFormat: "json", quiet: false } as const;
  const log = createLog(settings, {}, (text) => lines.push(text));
  log.debug({ target: "t", reason: "r" }, "not ready yet");
  log.info({ forMs: 1 }, "no Envoy to drain: still accepting connections while the pod leaves the endpoints");
  log.warn({ reason: "r" }, "did not drain a proxy");
  log.error({ reason: "r" }, "did not drain a proxy");
  expect(lines.map((line) => JSON.parse(line)).map(({ level, severity }) => [level, severity])).toEqual([
    ["debug", "DEBUG"],
    ["info", "INFO"],
    ["warn", "WARNING"],
    ["error", "ERROR"],
  ]);
});
