import type { Case } from "../case.ts";
import { scuttle } from "../wrappers.ts";
import { one, plain, refused } from "./scuttle-case.ts";
import { scuttleQuitting } from "./scuttle-quitting.ts";
import { scuttleWaiting } from "./scuttle-waiting.ts";

const both = scuttle.rivals;

/** The cases that only scuttle has: its variables, each with each kind of value. */
export const scuttleCases: readonly Case[] = [
  ...booleans(),
  ...durations(),
  ...scuttleWaiting,
  ...scuttleQuitting,
  ...logging(),
  ...commandLines(),
  ...own(),
];

/** Returns the cases of each variable that is true or false, with another value. */
function booleans(): readonly Case[] {
  const known = ["START_WITHOUT_ENVOY", "NEVER_KILL_ISTIO", "NEVER_KILL_ISTIO_ON_FAILURE", "GENERIC_QUIT_ONLY"];
  return known.flatMap((name) => [
    ...["yes", "1", "TRUE", " true"].map((value) =>
      one(`${name}=${JSON.stringify(value)} is refused`, {
        env: { [name]: value },
        sees: refused,
        says: [name],
        differs: [{ rivals: both, by: "bad-value", sees: plain }],
      }),
    ),
    one(`${name}=false is the default`, { env: { [name]: "false" } }),
    one(`${name} that is empty is the default`, { env: { [name]: "" } }),
  ]);
}

/** Returns the cases of what ebb has besides, for those who come from scuttle. */
function own(): readonly Case[] {
  return [
    one("all that is wrong is told at once", {
      env: { NEVER_KILL_ISTIO: "yes", WAIT_FOR_ENVOY_TIMEOUT: "soon" },
      sees: refused,
      says: ['NEVER_KILL_ISTIO: expected true or false, got "yes"', "WAIT_FOR_ENVOY_TIMEOUT", '"soon"'],
      isOwn: true,
    }),
    one("an option of ebb's that scuttle has not is its variable", {
      env: { EBB_EXPECT_EXIT: "3" },
      command: ["app", "exit", "3"],
      sees: { code: 0 },
      isOwn: true,
    }),
    one("a variable that sets nothing without ENVOY_ADMIN_API is told", {
      env: { ENVOY_ADMIN_API: undefined, SCUTTLE_LOGGING: undefined },
      sees: { started: "unready", polls: [], requests: [] },
      says: ["ISTIO_QUIT_API"],
      isOwn: true,
    }),
  ];
}

function durations(): readonly Case[] {
  const known = ["WAIT_FOR_ENVOY_TIMEOUT", "QUIT_WITHOUT_ENVOY_TIMEOUT", "QUIT_REQUEST_TIMEOUT"];
  return known.flatMap((name) => [
    ...["soon", "5 s", "1x"].map((value) =>
      one(`${name}=${JSON.stringify(value)} is refused`, {
        env: { [name]: value },
        sees: refused,
        says: [name],
        differs: [{ rivals: both, by: "bad-value", sees: plain }],
      }),
    ),
    ...["", "1h2m3.5s", "90000ms"].map((value) =>
      one(`${name}=${JSON.stringify(value)} is taken`, { env: { [name]: value } }),
    ),
  ]);
}

function logging(): readonly Case[] {
  return [
    ...[undefined, "true", ""].map((value) =>
      one(`SCUTTLE_LOGGING=${value ?? "(unset)"}: it logs, not on stdout`, {
        env: { SCUTTLE_LOGGING: value },
        command: ["app", "out", "the app's", "exit", "0"],
        says: ["started"],
        sees: { stdout: "the app's\n" },
        differs: [{ rivals: both, by: "stdout", sees: { stdout: "(log)\nthe app's\n" } }],
      }),
    ),
    one("SCUTTLE_LOGGING=false: it says nothing", { says: [] }),
    one("SCUTTLE_LOGGING=yes is refused", {
      env: { SCUTTLE_LOGGING: "yes" },
      sees: refused,
      says: ["SCUTTLE_LOGGING"],
      differs: [{ rivals: both, by: ["bad-value", "stdout"], sees: { ...plain, stdout: "(log)\n" } }],
    }),
  ];
}

function commandLines(): readonly Case[] {
  return [
    one("-- before the command is no part of it", {
      flags: ["--"],
      differs: [{ rivals: both, by: "double-dash", sees: { code: 2, started: "no", requests: [] } }],
    }),
    one("without a command it says so", {
      command: [],
      sees: refused,
      differs: [{ rivals: both, by: "no-command", sees: { code: 0 } }],
    }),
    one("--help tells what counts", {
      command: ["--help"],
      hasOwnStdout: true,
      sees: { ...refused, code: 0, stdout: "(some)" },
      differs: [{ rivals: both, by: "help", sees: { code: 2, polls: [scuttle.poll], stdout: "" } }],
    }),
    one("any other word that looks like a flag is the command", {
      command: ["--port"],
      sees: { code: 127, started: "no" },
      differs: [{ rivals: both, by: "not-started", sees: { code: 2, requests: [] } }],
    }),
  ];
}
