import { facts } from "./about/facts.ts";
import type { Command, Invocation } from "./command.ts";
import { commands } from "./commands.ts";
import { HelpAsked } from "./core/cli/arguments.ts";
import { UnknownFlags } from "./core/cli/call.ts";
import { describeCommand, describeTool, type Manual, overview } from "./core/cli/help.ts";
import { toolNames } from "./core/cli/names.ts";
import { ownersOf } from "./core/cli/owners.ts";
import type { NamedCommand, Resolution } from "./core/cli/resolve.ts";
import { nearest } from "./core/cli/suggestion.ts";
import { allOf, EXIT, Failure } from "./core/run/exit.ts";
import { argvIndexAt, explainFailure, invoke, report } from "./invoke.ts";
import type { Personality } from "./personalities/personality.ts";
import { exit } from "./system/native/exit.ts";
import { writeOutput } from "./system/output/output.ts";
import type { Signals } from "./system/process/signals.ts";

// All of ebb: every command, help, and what knows them all. A bundle of its own (build/bundle/lazy-bundles.ts), which shares no module with
// main.ts: so it ends the process itself, with its own exit and its own Failure.

export async function main(call: Resolution, signals: Signals): Promise<never> {
  try {
    return exit(await perform(call, signals));
  } catch (error) {
    return exit(report(error));
  }
}

async function perform(call: Resolution, signals: Signals): Promise<number> {
  if (call.kind === "help") return await showManual(call.topic);
  if (call.kind === "version") return await showVersion(call.format);
  if (call.kind === "command") return await run(call, signals);
  if (call.kind === "unknown") return fail(unknownCommand(call), "run", { args: [call.word], signals });
  throw new Error(`${call.kind}: main.ts performs that`);
}

async function run({ name, args, at, said }: NamedCommand, signals: Signals): Promise<number> {
  try {
    const invocation = { args, argvIndex: argvIndexAt(at), env: process.env, said, signals, commands };
    return await invoke(commandNamed(name), invocation);
  } catch (error) {
    if (error instanceof HelpAsked) return await showHelp(name);
    if (error instanceof UnknownFlags) return fail(withOwners(error), name, { args, said, signals });
    throw error;
  }
}

function fail(
  failure: Failure,
  name: string,
  { args, said, signals }: Pick<Invocation, "args" | "said" | "signals">,
): never {
  explainFailure(failure, commandNamed(name), { args, argvIndex: undefined, env: process.env, said, signals });
  throw failure;
}

function unknownCommand({ word, near }: Extract<Resolution, { kind: "unknown" }>): Failure {
  if (near === undefined) {
    const text = `${word}: neither a command of ebb, which ebb --help lists, nor a program in PATH` as const;
    return new Failure(EXIT.notFound, text);
  }
  const instead = `(to run a program of that name: ebb -- ${word})`;
  return new Failure(EXIT.usage, `${word}: no such command; did you mean "ebb ${near}"? ${instead}`);
}

function withOwners({ exitCode, message, flags }: UnknownFlags): Failure {
  return new Failure(exitCode, allOf([message, ...ownersOf(flags, commands)]));
}

/** `ebb help [TOPIC]`: of what has no page of its own, a command or another tool, its --help. */
async function showManual(topic: string | undefined): Promise<number> {
  if (topic === undefined || topic.startsWith("-")) return await showHelp(undefined);
  const { listTopics, showTopic } = await import("./topic.ts");
  const isTopic = (await listTopics()).some(([each]) => each === topic);
  if (!isTopic && (toolNames.includes(topic) || Object.hasOwn(commands, topic))) return await showHelp(topic);
  await showTopic(topic, process.env);
  return EXIT.ok;
}

/** `--help`, of ebb or of a command. */
async function showHelp(name: string | undefined): Promise<number> {
  const width = process.stdout.columns || 80;
  if (name !== undefined && toolNames.includes(name)) return await showToolHelp(name, width);
  if (name === undefined) {
    const { listTopics } = await import("./topic.ts");
    await writeOutput(overview(commands, await listTopics(), width));
    return EXIT.ok;
  }
  const command = commandNamed(name);
  const { manuals } = await import("./manuals.ts");
  await writeOutput(describeCommand(command, manuals[name] as Manual, width));
  return EXIT.ok;
}

async function showToolHelp(name: string, width: number): Promise<number> {
  const { personalities } = await import("./personalities/personalities.ts");
  await writeOutput(describeTool(name, personalities[name] as Personality, width));
  return EXIT.ok;
}

function commandNamed(name: string): Command {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined) return command;
  const near = nearest(name, Object.keys(commands));
  const hint = near === undefined ? "" : `did you mean ebb ${near}? `;
  throw new Failure(EXIT.usage, `${name}: no such command; ${hint}ebb --help lists them`);
}

/** In one line, or as JSON with what the executable was made of. */
async function showVersion(format: string | undefined): Promise<number> {
  if (format !== "--json" && format?.startsWith("-"))
    throw new Failure(EXIT.usage, `--version: expected --json or nothing, got "${format}"`);
  const { name, version } = await import("../package.json");
  await writeOutput(format === "--json" ? `${JSON.stringify({ name, version, ...facts })}\n` : `ebb ${version}\n`);
  return EXIT.ok;
}
