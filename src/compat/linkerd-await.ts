import { duration, port as portSyntax, syntax } from "../shared/cli/core/syntax.ts";
import type { Found } from "../shared/cli/core/values.ts";
import { exactUrl, type HttpTarget, parseHttpTarget } from "../shared/core/address.ts";
import type { Environment } from "../shared/core/environment.ts";
import { redactUrl } from "../shared/core/redact.ts";
import { type CompatTool, commandLine, SettingsBuilder, type Translation } from "./tool.ts";
import { parseToolFlags, type ToolCall, type ToolFlag } from "./tool-flags.ts";
import { trueOrFalse, Variables } from "./variables.ts";

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

/** Translates linkerd/linkerd-await (src/main.rs). Only its first releases have --uri. */
export const linkerdAwait: CompatTool = {
  usage: "[flags] [--] [CMD ARG...]",
  about:
    "Waits until Linkerd's proxy is ready, then becomes the command (`ebb wait`). With --shutdown it runs the command, shuts down the proxy, and exits with the command's exit code (`ebb run`).",
  takes: [
    ...["--port", "--shutdown", "--timeout", "--timeout-fatal", "--backoff", "--uri", "--verbose"],
    ...["LINKERD_AWAIT_DISABLED", "LINKERD_DISABLED", "LINKERD_AWAIT_VERBOSE"],
  ],
  translate,
};

function translate(args: readonly string[], env: Environment): Translation {
  const builder = new SettingsBuilder();
  const call = parseToolFlags(args, flags);
  for (const problem of call.problems) builder.refuse(problem);
  const [reason] = [env.LINKERD_AWAIT_DISABLED, env.LINKERD_DISABLED].filter(Boolean);
  const isShutdown = call.flags.has("shutdown") && reason === undefined;
  addProxy(call, builder);
  addTimes(call, builder);
  if (call.words.length === 0 && call.flags.has("shutdown")) builder.refuse("--shutdown: expected a command after it");
  const isVerbose = new Variables(env, builder).isTrue("LINKERD_AWAIT_VERBOSE") || call.flags.has("verbose");
  if (reason === undefined) builder.add("sidecar", "linkerd-await", "linkerd:4191");
  else {
    const origin = env.LINKERD_AWAIT_DISABLED ? "LINKERD_AWAIT_DISABLED" : "LINKERD_DISABLED";
    builder.add("sidecar", origin, "none");
    if (isVerbose)
      builder.note({
        fields: { variable: origin, reason },
        message: "disabled by an environment variable: does not wait for the sidecar or shut it down",
      });
  }
  builder.add("log-level", isVerbose ? "--verbose" : "linkerd-await", isVerbose ? "info" : "warn");
  const translation = { ...commandLine(call.words, call.wordsAt), compat: builder.compat };
  const isHelp = call.flags.has("help") || call.flags.has("version");
  return { command: isShutdown ? "run" : "wait", ...translation, ...(isHelp && { isHelp }) };
}

const uriSyntax = syntax(parseHttpTarget, "a URL such as http://127.0.0.1:4191/ready", redactUrl);

function addProxy({ flags: given }: ToolCall, builder: SettingsBuilder): void {
  const port = withoutPlus(given.get("port"));
  const uri = given.get("uri");
  if (port !== undefined && builder.check(port, portSyntax)) {
    builder.add("admin", port.origin, `http://localhost:${port.text}`);
  }
  if (uri === undefined || !builder.check(uri, uriSyntax)) return;
  const target = uriSyntax.parse(uri.text) as HttpTarget;
  builder.add("admin", uri.origin, exactUrl({ ...target, path: "" }));
  builder.add("ready-path", uri.origin, target.path);
}

/** Removes the plus before a number, which Rust accepts. */
function withoutPlus(found: Found | undefined): Found | undefined {
  return found && { ...found, text: found.text.replace(/^\+(?=\d)/, "") };
}

function trimmed(found: Found | undefined): Found | undefined {
  return found && { ...found, text: found.text.trim() };
}

/** Adds the times. Without one, or with zero, linkerd-await waits for ever. */
function addTimes({ flags: given }: ToolCall, builder: SettingsBuilder): void {
  const timeout = trimmed(given.get("timeout"));
  builder.add("wait-timeout", timeout?.origin ?? "linkerd-await", timeout?.text ?? "0");
  const fatal = given.get("timeout-fatal");
  if (fatal !== undefined && builder.check(fatal, trueOrFalse)) {
    builder.add("on-wait-timeout", fatal.origin, fatal.text === "true" ? "fail" : "start");
  }
  const backoff = trimmed(given.get("backoff"));
  if (backoff !== undefined) builder.check(backoff, duration);
}
