import { expect, test } from "bun:test";
import { createRefusalLogger } from "../../../../src/cluster/webhook/request-log.ts";
import { stopClock } from "../../../harness/fake-clock.ts";
import { collectLog } from "../collect-log.ts";

const request = { from: "10.0.0.1", status: 400, reason: "x" };

test("of a flood of requests that are refused some are logged, and the others counted", () => {
  using clock = stopClock();
  const log = collectLog();
  const { lines } = log;
  const refused = createRefusalLogger(log);
  for (let count = 0; count < 1000; count += 1) refused(request);
  expect(lines).toHaveLength(20);
  clock.pass(500);
  refused(request);
  expect(lines).toHaveLength(20);
  clock.pass(1500);
  refused({ ...request, status: 404 });
  expect(lines.at(-1)).toMatchObject({ level: "warn", fields: { status: 404, notLogged: 981 } });
  clock.pass(500);
  refused(request);
  expect(lines.at(-1)?.fields).toEqual(request);
});
