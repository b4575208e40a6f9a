import type { Environment } from "../base/environment.ts";
import { redactUrls } from "../base/redact.ts";
import type { FailureText } from "../messages/failure-text.ts";
import { EXIT, Failure } from "../run/exit.ts";
import { parseArguments } from "./arguments.ts";
import type { Options } from "./option.ts";
import { type ForeignSettings, type Resolved, resolve } from "./values.ts";

export interface Call<O extends Options> extends Resolved<O> {
  /** What is not a flag and stands before `--`. */
  readonly operands: readonly string[];
  /** The child's command line, and how many arguments come before it. */
  readonly command: readonly string[];
  readonly commandAt: number;
}

/** What a command was called with. */
export interface CallContext {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly said?: ForeignSettings | undefined;
}

/**
 * Reads `[flags] [--] CMD ARG...`: the first word that is no flag starts the command line. @throws Failure 64 that names
 * everything that is wrong
 */
export function readCommandCall<O extends Options>(options: O, given: CallContext): Call<O> {
  return readCall(options, given, false);
}

/**
 * Reads `[flags] [OPERAND...] [-- CMD ARG...]`, flags and operands in any order. @throws Failure 64 that names everything that is
 * wrong
 */
export function readOperandCall<O extends Options>(options: O, given: CallContext): Call<O> {
  return readCall(options, given, true);
}

/** Reads `[flags]` alone. @throws Failure 64 as `readOperandCall`, and for any operand */
export function readFlagCall<O extends Options>(options: O, given: CallContext, usage: string): Call<O> {
  const call = readOperandCall(options, given);
  const [unexpected] = [...call.operands, ...call.command];
  if (unexpected === undefined) return call;
  throw new Failure(EXIT.usage, `${redactUrls(unexpected)}: unexpected argument; usage: ebb ${usage}`);
}

function readCall<O extends Options>(options: O, { args, env, said }: CallContext, mayMix: boolean): Call<O> {
  const { flags, operands, length, problems, unknown } = parseArguments(args, options, mayMix);
  const rest = { operands, command: args.slice(length), commandAt: length };
  try {
    return Object.assign(resolve(options, { flags, env, said, problems }), rest);
  } catch (error) {
    throw unknown.length > 0 && error instanceof Failure ? new UnknownFlags(error.message, unknown) : error;
  }
}

/** A call with flags that its command does not have. Another may: `main` knows all commands. */
export class UnknownFlags extends Failure {
  readonly flags: readonly string[];

  constructor(message: FailureText, flags: readonly string[]) {
    super(EXIT.usage, message);
    this.flags = flags;
  }
}

/** Returns the index in ebb's own argv at which the child's command line starts; undefined where it does not stand there. */
export function argvIndexOf(argvIndex: number | undefined, { commandAt }: Call<Options>): number | undefined {
  return argvIndex === undefined ? undefined : argvIndex + commandAt;
}
