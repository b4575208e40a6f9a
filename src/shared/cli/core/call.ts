import type { Environment } from "../../core/environment.ts";
import { EXIT, Failure } from "../../core/exit.ts";
import { redactUrls } from "../../core/redact.ts";
import { parseArguments } from "./arguments.ts";
import type { Options } from "./option.ts";
import { type CompatSettings, type Resolved, resolve } from "./values.ts";

/** A command's call: the values of its options, its operands, and the child's command line. */
export interface Call<O extends Options> extends Resolved<O> {
  /**
   * The words before `--` that are no flags. Empty for `readCommandCall`, for which they are the child's command line.
   */
  readonly operands: readonly string[];
  /** The child's command line; empty if there is none. */
  readonly command: readonly string[];
  /** How many arguments come before the child's command line. */
  readonly commandAt: number;
}

/** What a command was called with. */
export interface CallContext {
  /** The words after the command's name. */
  readonly args: readonly string[];
  readonly env: Environment;
  /** The settings of another tool in whose name ebb was started. Then other tools' variables are not read. */
  readonly compat?: CompatSettings | undefined;
}

/**
 * Reads `[flags] [--] CMD ARG...`: the first word that is no flag begins the child's command line.
 * @throws Failure(64) that names everything that is wrong
 */
export function readCommandCall<O extends Options>(options: O, given: CallContext): Call<O> {
  return readCall(options, given, false);
}

/**
 * Reads `[flags] [OPERAND...] [-- CMD ARG...]`, flags and operands in any order.
 * @throws Failure(64) that names everything that is wrong
 */
export function readOperandCall<O extends Options>(options: O, given: CallContext): Call<O> {
  return readCall(options, given, true);
}

/**
 * Reads `[flags]`, for a command without operands and child. `usage` is the command's usage line, for the message.
 * @throws Failure(64) that names everything that is wrong, or the first operand
 */
export function readFlagCall<O extends Options>(options: O, given: CallContext, usage: string): Call<O> {
  const call = readOperandCall(options, given);
  const [unexpected] = [...call.operands, ...call.command];
  if (unexpected === undefined) return call;
  const hint = hintAtFlag(unexpected, options);
  throw new Failure(EXIT.usage, `${redactUrls(unexpected)}: unexpected argument; ${hint}usage: ebb ${usage}`);
}

/** The flags whose values people give without them: `ebb drain 40s`, `ebb quit istio`, `ebb doctor shop`. */
const leftOut = ["drain", "sidecar", "namespace"];

/** Returns `did you mean --drain 40s? ` if an operand is the value of such a flag; otherwise nothing. */
function hintAtFlag(word: string, options: Options): string {
  const common = Object.values(options).filter(({ brief }) => brief !== undefined);
  const likely = leftOut.flatMap((flag) => common.find((option) => option.flag === flag) ?? []);
  const meant = likely.find(({ syntax }) => syntax.parse(word) !== undefined);
  return meant === undefined ? "" : `did you mean --${meant.flag} ${word}? `;
}

function readCall<O extends Options>(options: O, { args, env, compat }: CallContext, mayMix: boolean): Call<O> {
  const { flags, operands, length, problems, unknown } = parseArguments(args, options, mayMix);
  const rest = { operands, command: args.slice(length), commandAt: length };
  try {
    return Object.assign(resolve(options, { flags, env, compat, problems }), rest);
  } catch (error) {
    throw unknown.length > 0 && error instanceof Failure ? new UnknownFlags(error.message, unknown) : error;
  }
}

/** The failure of a call with flags that its command does not have. src/dispatch.ts adds which commands have them. */
export class UnknownFlags extends Failure {
  readonly flags: readonly string[];

  constructor(message: string, flags: readonly string[]) {
    super(EXIT.usage, message);
    this.flags = flags;
  }
}

/**
 * Returns the index in ebb's own argv at which the child's command line starts, given the index at which the call's
 * arguments start. Returns undefined if that is undefined, because the words do not stand in argv in this order.
 */
export function argvIndexOf(argvIndex: number | undefined, { commandAt }: Call<Options>): number | undefined {
  return argvIndex === undefined ? undefined : argvIndex + commandAt;
}
