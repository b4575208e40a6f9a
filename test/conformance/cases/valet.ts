import { notReady, quits, ready, status } from "../answers.ts";
import type { Case } from "../case.ts";
import { caseOf, valet } from "../wrappers.ts";

const quit = "15020 POST /quitquitquit";

function one(name: string, changed: Omit<Parameters<typeof caseOf>[1], "name">): Case {
  return caseOf(valet, { name, ...changed });
}

/** The cases that only valet has. */
export const valetCases: readonly Case[] = [
  one("-stop-proxy tells pilot-agent to quit", {
    flags: ["-stop-proxy"],
    command: [],
    sees: { started: "no", polls: [], requests: [quit] },
  }),
  one("--stop-proxy, too", {
    flags: ["--stop-proxy"],
    command: [],
    sees: { started: "no", polls: [], requests: [quit] },
  }),
  one("-stop-proxy that is refused fails", {
    flags: ["-stop-proxy"],
    command: [],
    servers: [
      { port: 15021, polls: [ready] },
      { port: 15020, others: [status(403)] },
    ],
    sees: { code: 69, started: "no", polls: [], requests: [quit] },
  }),
  one("-- before the command is no part of it", { flags: ["--"] }),
  one("without a command it says so", {
    command: [],
    sees: { code: 64, started: "no", polls: [] },
  }),
  one("scuttle's variables are not valet's", {
    env: { START_WITHOUT_ENVOY: "true", ENVOY_ADMIN_API: "http://127.0.0.1:1" },
    servers: [
      { port: 15021, polls: [notReady, ready] },
      { port: 15020, others: [quits] },
    ],
  }),
];
