import { EXIT, Failure } from "../../shared/core/exit.ts";
import { redactUrls } from "../../shared/core/redact.ts";
import { isExecutable, isThere, pathsOf } from "../../shared/io/file.ts";
import { ERRNO, errnoText } from "../../shared/native/errno.ts";
import { type FileHead, parseHead } from "./core/file-head.ts";
import { explainStart, type Host, hintAtName, type Seen, type StartProblem } from "./core/start-failure.ts";

/** Returns the path of a script without `#!` that the kernel did not execute; undefined if the file is none. */
export function scriptAt(word: string): string | undefined {
  const path = blamedPath(word);
  const seen = path === undefined ? undefined : look(path);
  return seen?.kind === "file" && seen.head?.kind === "text" ? path : undefined;
}

/** Returns the failure of a program that did not start, with the reason that its file shows. */
export function startFailure(word: string, error: number): Failure {
  const path = blamedPath(word);
  const hint = path === undefined || !isThere(path) ? hintAtName(word) : "";
  const refused = { reason: `${errnoText(error)}${hint}`, exitCode: codeOf(error) };
  const isOfFile = path !== undefined && ofFile.includes(error);
  return failureOf(word, isOfFile ? explainStart(path, refused, host) : refused);
}

/** Returns the failure of a script without `#!` that sh, which was to run it, could not. */
export function noShell(word: string, error: number): Failure {
  const reason = `it has no #! line, and /bin/sh does not start: ${errnoText(error)}`;
  return failureOf(word, { reason, exitCode: codeOf(error) });
}

function failureOf(word: string, { reason, exitCode }: StartProblem): Failure {
  return new Failure(exitCode, `cannot start ${redactUrls(word) || "''"}: ${reason}`);
}

/** The errors for which a file, its interpreter or its loader is the reason. */
const ofFile: readonly number[] = [ERRNO.ENOENT, ERRNO.ENOTDIR, ERRNO.ENOEXEC, ERRNO.EACCES, ERRNO.ELIBBAD];
const exhausted: readonly number[] = [ERRNO.EAGAIN, ERRNO.ENOMEM, ERRNO.ENFILE, ERRNO.EMFILE];

function codeOf(error: number): number {
  if (error === ERRNO.ENOENT || error === ERRNO.ENOTDIR) return EXIT.notFound;
  return exhausted.includes(error) ? EXIT.system : EXIT.notExecutable;
}

/**
 * Returns the path that the error is about: of several in PATH the first that may be executed, or that is there.
 * Undefined if PATH has none.
 */
function blamedPath(word: string): string | undefined {
  if (word === "" || word.includes("/")) return word;
  const paths = pathsOf(word, process.env.PATH);
  return paths.find((path) => look(path)?.kind === "file" && isExecutable(path)) ?? paths.find(isThere);
}

const machines: Readonly<Record<string, string>> = { x64: "amd64" };

const host: Host = {
  look,
  machine: machines[process.arch] ?? process.arch,
  user: `${process.getuid?.()}:${process.getgid?.()}`,
};

function look(path: string): Seen | undefined {
  const { readlinkSync, statSync } = fs();
  const stat = unlessFails(() => statSync(path));
  if (stat === undefined) {
    const to = unlessFails(() => readlinkSync(path));
    return to === undefined ? undefined : { kind: "link", to };
  }
  if (stat.isDirectory()) return { kind: "folder" };
  const { mode, uid, gid } = stat;
  const head = stat.isFile() ? unlessFails(() => readHead(path)) : undefined; // the kernel may read more than ebb
  return { kind: "file", mode: mode & 0o7777, owner: `${uid}:${gid}`, mayExecute: isExecutable(path), head };
}

function readHead(path: string): FileHead {
  const { closeSync, openSync, readSync } = fs();
  const file = openSync(path, "r");
  try {
    return parseHead((offset, length) => {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
    });
  } finally {
    closeSync(file);
  }
}

function unlessFails<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Loaded here, because it costs 0.9 ms, and few starts fail. */
function fs(): typeof import("node:fs") {
  return require("node:fs");
}
