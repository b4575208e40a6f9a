// bun worker.ts, as PID 1 of a namespace: runs the case of each line of stdin, and writes what it came to as a line of JSON.
import { createInterface } from "node:readline";
import { cases } from "./cases.ts";
import { type Outcome, runCase, type Tool } from "./run.ts";

export interface Job {
  /** Of the case. */
  readonly name: string;
  readonly tool: Tool;
}

export type Answer = { readonly outcome: Outcome } | { readonly error: string };

for await (const line of createInterface({ input: process.stdin })) {
  const { name, tool } = JSON.parse(line) as Job;
  const answer = await answerTo(name, tool);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);

async function answerTo(name: string, tool: Tool): Promise<Answer> {
  const found = cases.find((each) => each.name === name);
  if (found === undefined) return { error: `no case ${name}` };
  try {
    return { outcome: await runCase(found, tool) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
