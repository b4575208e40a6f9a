import type { Case } from "../case.ts";
import { answers } from "./answers.ts";
import type { Plan } from "./plan/planned.ts";

/** Makes a case of a plan, to be run: what it expects has no meaning. */
export function caseOf(plan: Plan): Case {
  const { rival, seed, servers, command, isPid1, hasAgent, stdin, ...same } = plan;
  return {
    ...same,
    ...(isPid1 && { isPid1 }),
    ...(hasAgent && { hasAgent }),
    ...(stdin !== undefined && { stdin }),
    as: rival === "scuttle-redbox" ? "scuttle" : rival,
    name: `${rival} ${seed}`,
    command,
    servers: servers.map(({ polls, others, ...server }) => ({
      ...server,
      ...(polls && { polls: polls.map((name) => answers[name]) }),
      ...(others && { others: others.map((name) => answers[name]) }),
    })),
    expect: { code: 0, started: "no", polls: [], requests: [], signals: [], agent: [], stdout: "" },
  };
}
