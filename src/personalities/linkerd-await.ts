import { exactUrl, type HttpTarget, parseHttpTarget } from "../core/base/address.ts";
import type { Environment } from "../core/base/environment.ts";
import { redactUrl } from "../core/base/redact.ts";
import { duration, port as portSyntax, syntax } from "../core/cli/syntax.ts";
import type { Found } from "../core/cli/values.ts";
import { commandLine, type Personality, type Translation } from "./personality.ts";
import { createSaying, type Saying } from "./saying.ts";
import { parseToolFlags, type ToolCall, type ToolFlag } from "./tool-flags.ts";
import { readVariables, trueOrFalse } from "./variables.ts";

const flags: readonly ToolFlag[] = [
  { name: "port", short: "p", value: "needed" },
  { name: "uri", short: "u", value: "needed" },
  { name: "backoff", short: "b", value: "needed" },
  { name: "shutdown", short: "S" },
  { name: "verbose", short: "v" },
  { name: "timeout", short: "t", value: "needed" },
  { name: "timeout-fatal", value: "after =" },
  { name: "help", short: "h" },
  { name: "version", short: "V" },
];

/** linkerd/linkerd-await (src/main.rs); --uri is that of its first releases. */
export const linkerdAwait: Personality = {
  usage: "[flags] [--] [CMD ARG...]",
  about:
    "Waits until Linkerd's proxy is ready, then becomes the command (`ebb wait`); with --shutdown runs it, tells the proxy to shut down, and exits with its code (`ebb run`).",
  takes: [
    ...["--port", "--shutdown", "--timeout", "--timeout-fatal", "--backoff", "--uri", "--verbose"],
    ...["LINKERD_AWAIT_DISABLED", "LINKERD_DISABLED", "LINKERD_AWAIT_VERBOSE"],
  ],
  translate,
};

function translate(args: readonly string[], env: Environment): Translation {
  const saying = createSaying();
  const call = parseToolFlags(args, flags);
  for (const problem of call.problems) saying.refuse(problem);
  const [reason] = [env.LINKERD_AWAIT_DISABLED, env.LINKERD_DISABLED].filter(Boolean);
  const isShutdown = call.flags.has("shutdown") && reason === undefined;
  sayProxy(call, saying);
  sayTimes(call, saying);
  if (call.words.length === 0 && call.flags.has("shutdown")) saying.refuse("--shutdown: expected a command after it");
  const isVerbose = readVariables(env, saying).isTrue("LINKERD_AWAIT_VERBOSE") || call.flags.has("verbose");
  if (reason === undefined) saying.say("sidecar", "linkerd-await", "linkerd");
  else {
    const origin = env.LINKERD_AWAIT_DISABLED ? "LINKERD_AWAIT_DISABLED" : "LINKERD_DISABLED";
    saying.say("sidecar", origin, "none");
    if (isVerbose)
      saying.note({
        fields: { variable: origin, reason },
        message: "disabled by an environment variable: does not wait for the sidecar or quit it",
      });
  }
  saying.say("log-level", isVerbose ? "--verbose" : "linkerd-await", isVerbose ? "info" : "warn");
  const translation = { ...commandLine(call.words, call.wordsAt), said: saying.said };
  const isHelp = call.flags.has("help") || call.flags.has("version");
  return { command: isShutdown ? "run" : "wait", ...translation, ...(isHelp && { isHelp }) };
}

const uriSyntax = syntax(parseHttpTarget, "a URL such as http://127.0.0.1:4191/ready", redactUrl);

function sayProxy({ flags: given }: ToolCall, saying: Saying): void {
  const port = withoutPlus(given.get("port"));
  const uri = given.get("uri");
  if (port !== undefined && saying.check(port, portSyntax)) {
    saying.say("admin", port.origin, `http://localhost:${port.text}`);
  }
  if (uri === undefined || !saying.check(uri, uriSyntax)) return;
  const target = uriSyntax.parse(uri.text) as HttpTarget;
  saying.say("admin", uri.origin, exactUrl({ ...target, path: "" }));
  saying.say("ready-path", uri.origin, target.path);
}

/** Rust reads numbers with a plus, too. */
function withoutPlus(found: Found | undefined): Found | undefined {
  return found && { ...found, text: found.text.replace(/^\+(?=\d)/, "") };
}

function trimmed(found: Found | undefined): Found | undefined {
  return found && { ...found, text: found.text.trim() };
}

/** Without a time, or with zero, it waits for ever. */
function sayTimes({ flags: given }: ToolCall, saying: Saying): void {
  const timeout = trimmed(given.get("timeout"));
  saying.say("wait-timeout", timeout?.origin ?? "linkerd-await", timeout?.text ?? "0");
  const fatal = given.get("timeout-fatal");
  if (fatal !== undefined && saying.check(fatal, trueOrFalse)) {
    saying.say("on-wait-timeout", fatal.origin, fatal.text === "true" ? "fail" : "start");
  }
  const backoff = trimmed(given.get("backoff"));
  if (backoff !== undefined) saying.check(backoff, duration);
}
