import { expect, test } from "bun:test";
import { createRefusalLogger } from "../../../../src/cluster/webhook/request-log.ts";
import { collectLog } from "../collect-log.ts";

const request = { from: "10.0.0.1", status: 400, reason: "x" };

test("of a flood of requests that are refused some are logged, and the others counted", () => {
  const log = collectLog();
  const { lines } = log;
  const refused = createRefusalLogger(log);
  for (let count = 0; count < 1000; count += 1) refused(request, 0);
  expect(lines).toHaveLength(20);
  refused(request, 500);
  expect(lines).toHaveLength(20);
  refused({ ...request, status: 404 }, 2000);
  expect(lines.at(-1)).toMatchObject({ level: "warn", fields: { status: 404, notLogged: 981 } });
  refused(request, 2500);
  expect(lines.at(-1)?.fields).toEqual(request);
});
