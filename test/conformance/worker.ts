// bun worker.ts, as PID 1 of a namespace, runs the case in each line of stdin, and prints its result as a line of JSON.
import { createInterface } from "node:readline";
import { cases } from "./cases.ts";
import { type Outcome, runCase, type Tool } from "./run.ts";

/** A case to be run, by its name, and the tool to run it with. */
export interface Job {
  readonly name: string;
  readonly tool: Tool;
}

/** The answer to a job. */
export type Answer = { readonly outcome: Outcome } | { readonly error: string };

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await answerTo(JSON.parse(line) as Job);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);

async function answerTo({ name, tool }: Job): Promise<Answer> {
  const found = cases.find((each) => each.name === name);
  if (found === undefined) return { error: "no such case" };
  try {
    return { outcome: await runCase(found, tool) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
