import type { Answer } from "../../answers.ts";
import { withoutNotes } from "../../notes.ts";
import { answers } from "../answers.ts";
import { type Facts, isHung, pilot, scuttles } from "../facts.ts";
import type { Known } from "./entry.ts";

/** The differences of pilot-agent, and those of scuttle's and its log. */
export const requests: readonly Known[] = [
  {
    by: "stdout",
    rivals: [...scuttles, ...pilot],
    isHere: ({ theirs }) => theirs.seen.stdout !== withoutNotes(theirs.seen.stdout),
    shows: { stdout: ({ ours, theirs }) => withoutNotes(theirs.seen.stdout) === ours.seen.stdout },
  },
  {
    by: "request-code",
    rivals: pilot,
    isHere: (facts) =>
      isRequest(facts) &&
      facts.theirs.seen.code === 255 &&
      facts.ours.seen.code !== 0 &&
      facts.ours.seen.code === codeOf(facts),
    shows: {
      code: () => true,
      // it logs the answer as an error
      stdout: hasBodyAlone,
    },
  },
  {
    by: "newline",
    rivals: pilot,
    isHere: (facts) => isRequest(facts) && facts.theirs.seen.code === 0,
    shows: { stdout: ({ ours, theirs }) => theirs.seen.stdout === `${ours.seen.stdout}\n` },
  },
  {
    by: "debug-port",
    rivals: pilot,
    isHere: ({ plan, theirs }) =>
      plan.flags.join(" ").includes("8080") && theirs.seen.code === 255 && theirs.seen.requests.length === 0,
    shows: { code: (facts) => facts.ours.seen.code === codeOf(facts), stdout: hasBodyAlone },
    lines: { requests: ({ text, of }) => of === "ebb" && text.startsWith("8080 ") },
  },
  {
    by: "not-found-passes",
    rivals: pilot,
    isHere: ({ ours, theirs, has }) => has("others", "404") && ours.seen.code === 1 && theirs.seen.code === 0,
    shows: { code: () => true },
  },
  {
    by: "wait-code",
    rivals: pilot,
    isHere: ({ plan, ours, theirs }) => plan.flags[0] === "wait" && ours.seen.code === 69 && theirs.seen.code === 255,
    shows: { code: () => true },
  },
];

function isRequest({ plan, theirs }: Facts): boolean {
  return plan.flags[0] === "request" && !isHung(theirs);
}

/** Returns ebb's exit code for the plan's answer. */
function codeOf({ plan }: Facts): number {
  const [answer] = plan.servers[0]?.others ?? [];
  if (answer === undefined || ["garbage", "closes", "resets", "half"].includes(answer)) return 69;
  return Number(answer) >= 400 ? 1 : 0;
}

/** Reports whether only ebb writes the answer's body to stdout, all of it. */
function hasBodyAlone(facts: Facts): boolean {
  const [name] = facts.plan.servers[0]?.others ?? [];
  const answer: Answer | undefined = name && answers[name];
  const body = codeOf(facts) === 69 ? "" : answer?.body;
  return withoutNotes(facts.theirs.seen.stdout) === "" && (body === undefined || facts.ours.seen.stdout === body);
}
