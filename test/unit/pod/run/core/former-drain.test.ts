import { expect, test } from "bun:test";
import { isToRestart } from "../../../../../src/pod/run/core/former-drain.ts";
import type { QuitPolicy } from "../../../../../src/pod/run/core/supervision-steps.ts";
import type { HttpTarget } from "../../../../../src/shared/core/address.ts";
import { parseHttpTarget } from "../../../../../src/shared/core/address.ts";
import type { Sidecar } from "../../../../../src/shared/sidecars/core/sidecar.ts";

const quit = { method: "POST", target: parseHttpTarget("http://localhost:9901/quitquitquit") as HttpTarget };
const always: QuitPolicy = { restartPolicy: "Always", quitOn: "always" };

test.each<[string, boolean, Partial<QuitPolicy>, Partial<Pick<Sidecar, "isNative" | "quits">>]>([
  ["an ordinary one under Always", true, {}, {}],
  ["the same with --quit-on success", true, { quitOn: "success" }, {}],
  ["not with --quit-on never", false, { quitOn: "never" }, {}],
  ["not under OnFailure: it exits with 0", false, { restartPolicy: "OnFailure" }, {}],
  ["not under Never", false, { restartPolicy: "Never" }, {}],
  ["not where the policy is not known", false, { restartPolicy: undefined }, {}],
  ["no native one, which is never quit", false, {}, { isNative: true }],
  ["none without a quit", false, {}, { quits: [] }],
  ["none with a quit of others alone", false, {}, { quits: [{ ...quit, isAdditional: true }] }],
])("a drained sidecar is told to quit before the command starts: %s", (_, expected, policy, sidecar) => {
  expect(isToRestart({ isNative: false, quits: [quit], ...sidecar }, { ...always, ...policy })).toBe(expected);
});
