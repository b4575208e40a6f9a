import { expect, test } from "bun:test";
import { askStats } from "../../../../src/pod/envoy/ask-stats.ts";
import { statsPath } from "../../../../src/pod/envoy/core/stats.ts";
import { admin } from "./core/stats-texts.ts";

const never = `${admin}http.grpc.downstream_cx_active: 1\nlistener.0.0.0.0_9090.downstream_cx_active: 1\n`;
const restarted = `${admin}server.hot_restart_epoch: 1\n`;

test.each<[string, string | undefined, string | undefined, string | undefined]>([
  ["those that were written, where they tell enough", admin, "more", admin],
  ["all, where a listener was never asked", never, `${never}more`, `${never}more`],
  ["those that were written, where all are too many", never, undefined, never],
  ["all, after a hot restart", restarted, `${restarted}more`, `${restarted}more`],
  ["that there are none, where all are too many after a hot restart", restarted, undefined, undefined],
  ["that there are none", undefined, "more", undefined],
])("asks for %s", async (_, written, all, expected) => {
  const get = async (path: string) => (path === statsPath ? written : all);
  const { answer, stats } = await askStats(get, (text) => text);
  expect(answer).toBe(expected);
  expect(stats !== undefined).toBe(expected !== undefined);
});
