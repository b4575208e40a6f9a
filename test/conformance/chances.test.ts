import { expect, test } from "bun:test";
import type { Case, Seen } from "./case.ts";
import { chanceOf } from "./chances.ts";
import type { Rival } from "./rivals.ts";

const quit = "15020 POST /quitquitquit";
const usual: Seen = {
  code: 0,
  started: "when ready",
  polls: ["15000 GET /server_info"],
  requests: [quit],
  signals: [],
  agent: [],
  stdout: "a\n",
};
const plain: Case = { name: "a case", as: "scuttle", expect: usual };
const signalled: Case = { ...plain, steps: [{ once: "started", act: { signal: 15 } }] };
const early = { requests: [], signals: [] };
const wordless = { ...early, code: 1, started: "no", stdout: "" } as const;

test.each<[string, Rival, Case, Partial<Seen>, boolean]>([
  ["quits twice", "scuttle-redbox", plain, { requests: [quit, `${quit} again`] }, true],
  ["quits twice", "scuttle", plain, { requests: [quit, `${quit} again`] }, false],
  ["quits twice, and has another code", "scuttle-redbox", plain, { requests: [quit, `${quit} again`], code: 1 }, false],
  ["quits another one, too", "scuttle-redbox", plain, { requests: [quit, "15021 POST /quitquitquit"] }, false],
  ["ends with 1", "envoy-preflight", plain, { ...early, code: 1 }, true],
  ["ends with 1 before the command's first word", "envoy-preflight", plain, wordless, true],
  ["ends with 1", "scuttle", plain, { ...early, code: 1 }, false],
  ["ends with 2", "envoy-preflight", plain, { ...early, code: 2 }, false],
  ["ends with 1, and has not polled", "envoy-preflight", plain, { ...early, code: 1, polls: [] }, false],
  ["ends with 1, and quits", "envoy-preflight", plain, { code: 1 }, false],
  ["dies of the signal that was sent at once", "scuttle", signalled, { ...early, code: 143 }, true],
  ["dies of another signal", "scuttle", signalled, { ...early, code: 130 }, false],
  ["dies of a signal that nobody sent", "scuttle", plain, { ...early, code: 143 }, false],
])("%s: of %s", (_, rival, given, changed, isKnown) => {
  expect(chanceOf(given, rival, { ...usual, ...changed }, usual) !== undefined).toBe(isKnown);
});
