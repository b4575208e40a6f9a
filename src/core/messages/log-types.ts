import type { drainMessages } from "./drain-log.ts";
import type { Level } from "./message.ts";
import type { podMessages } from "./pod-log.ts";
import type { reaperMessages } from "./reaper-log.ts";
import type { runMessages } from "./run-log.ts";
import type { webhookMessages } from "./webhook-log.ts";

// Types alone: what ebb runs imports this with `import type`, so that no text of the catalogue is in its start.

type Messages = typeof podMessages &
  typeof runMessages &
  typeof drainMessages &
  typeof webhookMessages &
  typeof reaperMessages;

/** Each log message that there is. */
export type Message = keyof Messages;

type Each<L> = L extends readonly (infer E)[] ? E : L;

/** Those that are written at this level; of several levels, at each of them. */
export type MessageAt<L extends Level> = {
  [M in Message]: [L] extends [Each<Messages[M]["level"]>] ? M : never;
}[Message];

type Declared<M extends Message> = Messages[M]["fields"];

/** The fields of a message. */
export type FieldsOf<M extends Message> = {
  readonly [K in keyof Declared<M> as K extends `${string}?` ? never : K]: unknown;
} & { readonly [K in keyof Declared<M> as K extends `${infer Name}?` ? Name : never]?: unknown };

type Known<M extends Message> = keyof FieldsOf<M>;

/** Logs a message of the catalogue with all of its fields and no others. */
export type Say<L extends Level> = <M extends MessageAt<L>, F extends FieldsOf<M>>(
  fields: F & { readonly [K in Exclude<keyof F, Known<M>>]: never },
  message: M,
) => void;
