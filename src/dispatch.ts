import type { Command, Invocation } from "./command.ts";
import { commands } from "./commands.ts";
import { argvIndexAt, invoke } from "./invoke.ts";
import { completePlugin, runPlugin } from "./kubectl.ts";
import { HelpAsked } from "./shared/cli/core/arguments.ts";
import { UnknownFlags } from "./shared/cli/core/call.ts";
import { complete } from "./shared/cli/core/completion.ts";
import type { NamedCommand, Resolution } from "./shared/cli/core/resolve.ts";
import { describeFlagOwners } from "./shared/cli/core/suggestion.ts";
import { allOf, EXIT, Failure } from "./shared/core/exit.ts";
import { writeError, writeOutput, writeStreamed } from "./shared/output/output.ts";
import type { Signals } from "./shared/process/signals.ts";
import { exitOnStop } from "./shared/process/stop.ts";

/**
 * Performs any call but that of another tool. `here`: the commands that help lists, and completion proposes. Resolves to
 * ebb's exit code. @throws Failure for an expected failure
 */
export async function dispatch(call: Resolution, signals: Signals, here = commands): Promise<number> {
  if (call.kind === "help")
    return await showHelp(call.name, call.isShort === true, call.name === undefined ? here : commands);
  if (call.kind === "page") {
    await (await import("./help.ts")).showPage(call.topic, commands, process.env);
    return EXIT.ok;
  }
  if (call.kind === "licenses") {
    exitOnStop(signals);
    return await showLicenses();
  }
  if (call.kind === "completion") {
    await writeOutput(complete(call.words, here));
    return EXIT.ok;
  }
  if (call.kind === "plugin") {
    return call.completes ? await completePlugin(call.words, commands) : await runPlugin(call.words, commands, signals);
  }
  if (call.kind === "version") return await showVersion(call.format);
  if (call.kind === "command") return await run(call, signals);
  if (call.kind === "unnamed") return await refuse(call.reason, signals);
  throw new Error(`${call.kind}: main.ts performs that`);
}

async function run({ name, args, at, compat }: NamedCommand, signals: Signals): Promise<number> {
  const command = commands[name] as Command;
  const main = (invocation: Invocation) => command.main(invocation).catch(rethrowWithOwners);
  try {
    const invocation = { args, argvIndex: argvIndexAt(at), env: process.env, compat, signals };
    return await invoke({ ...command, main }, invocation);
  } catch (error) {
    if (error instanceof HelpAsked) return await showHelp(name, error.isShort);
    throw error;
  }
}

/** Fails with the reason, which is also in the termination log, as that of `ebb run` is. */
function refuse(reason: string, signals: Signals): Promise<number> {
  const main = () => Promise.reject(new Failure(EXIT.usage, reason));
  const invocation = { args: [], argvIndex: undefined, env: process.env, signals };
  return invoke({ ...(commands.run as Command), main }, invocation);
}

/** Throws the error; one about unknown flags with the commands that have them. */
function rethrowWithOwners(error: unknown): never {
  if (!(error instanceof UnknownFlags)) throw error;
  throw new Failure(error.exitCode, allOf([error.message, ...describeFlagOwners(error.flags, commands)]));
}

async function showHelp(name: string | undefined, isShort: boolean, of = commands): Promise<number> {
  await (await import("./help.ts")).showHelp(name, of, { isShort, env: process.env });
  return EXIT.ok;
}

/**
 * Prints the version in one line; with --json also what the executable was built from. @throws Failure(64) for other
 * flags
 */
async function showVersion(format: string | undefined): Promise<number> {
  if (format !== "--json" && format?.startsWith("-"))
    throw new Failure(EXIT.usage, `--version: expected --json or nothing, got "${format}"`);
  const { name, version } = await import("../package.json");
  const { buildInfo } = await import("./build-info.ts");
  await writeOutput(format === "--json" ? `${JSON.stringify({ name, version, ...buildInfo })}\n` : `ebb ${version}\n`);
  return EXIT.ok;
}

/** Prints what is inside the executable, with the whole text of each licence. Resolves to 64 in development. */
async function showLicenses(): Promise<number> {
  const { licenses } = await import("./build-info.ts");
  if (licenses === undefined) {
    writeError("ebb: --licenses: only what build/build.ts has built knows what is inside it\n");
    return EXIT.usage;
  }
  await writeStreamed(Bun.zstdDecompressSync(Buffer.from(licenses, "base64")));
  return EXIT.ok;
}
