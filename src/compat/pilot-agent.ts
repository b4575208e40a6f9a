import { type Syntax, syntax } from "../shared/cli/core/syntax.ts";
import { redactUrls } from "../shared/core/redact.ts";
import { type CompatTool, SettingsBuilder, type Translation } from "./tool.ts";
import { parseToolFlags, type ToolCall, type ToolFlag } from "./tool-flags.ts";

/**
 * Translates two of pilot-agent's commands (istio, pilot/cmd/pilot-agent/app/request.go, wait.go), for hooks and
 * reapers that call them.
 */
export const pilotAgent: CompatTool = {
  usage: "request METHOD PATH [BODY] | wait [flags]",
  about:
    "Sends a request to Envoy's admin interface (`ebb request`), or waits until Istio's proxy is ready (`ebb wait`). ebb has none of pilot-agent's other commands.",
  takes: ["request: --debug-port", "wait: --timeoutSeconds, --url, --periodMillis, --requestTimeoutMillis"],
  translate,
};

function translate(given: readonly string[]): Translation {
  const builder = new SettingsBuilder();
  const [command, ...args] = commandFirst(given);
  if (command === "request") return request(args, builder);
  if (command === "wait") return wait(args, builder);
  const got = command === undefined ? "nothing" : JSON.stringify(command);
  builder.refuse(`pilot-agent: expected request or wait, the commands that ebb replaces, got ${got}`);
  return { command: "wait", args: [], argsAt: undefined, compat: builder.compat };
}

/** The flags that all of its commands have: how it logs (istio, pkg/log/cobra.go), and --vklog. */
const globalFlags: readonly ToolFlag[] = [
  ...["log_output_level", "log_stacktrace_level", "log_caller", "log_target", "vklog"].map(
    (name) => ({ name, value: "needed" }) as const,
  ),
  { name: "log_as_json", value: "after =" },
  { name: "help", short: "h" },
];

/** Returns the arguments with the command first: flags may stand before it. */
function commandFirst(args: readonly string[]): readonly string[] {
  const { words } = parseToolFlags(args, [...globalFlags, ...requestFlags, ...waitFlags]);
  const at = args.indexOf(words[0] ?? "");
  return at <= 0 ? args : [args[at] as string, ...args.slice(0, at), ...args.slice(at + 1)];
}

const requestFlags: readonly ToolFlag[] = [{ name: "debug-port", value: "needed" }];

function read(args: readonly string[], flags: readonly ToolFlag[], builder: SettingsBuilder): ToolCall {
  const call = parseToolFlags(args, [...flags, ...globalFlags]);
  for (const problem of call.problems) builder.refuse(problem);
  return call;
}

function request(args: readonly string[], builder: SettingsBuilder): Translation {
  const { flags, words } = read(args, requestFlags, builder);
  const port = flags.get("debug-port");
  builder.add("port", port?.origin ?? "pilot-agent", port?.text ?? "15000");
  builder.add("timeout", "pilot-agent", "60s");
  if (flags.has("help"))
    return { command: "request", args: [], argsAt: undefined, compat: builder.compat, isHelp: true };
  if (words.length < 2)
    builder.refuse("request: expected a method and a path; usage: pilot-agent request METHOD PATH [BODY]");
  return { command: "request", args: ["--", ...words], argsAt: undefined, compat: builder.compat };
}

const waitFlags: readonly ToolFlag[] = ["timeoutSeconds", "requestTimeoutMillis", "periodMillis", "url"].map(
  (name) => ({
    name,
    value: "needed",
  }),
);

/**
 * Translates `pilot-agent wait`. Checks its period and its limit for each request, which have no effect: ebb asks more
 * often, and not one by one. Only status 200 is ready, whatever state is in the body (checkIfReady in wait.go).
 */
function wait(args: readonly string[], builder: SettingsBuilder): Translation {
  const { flags, words } = read(args, waitFlags, builder);
  if (flags.has("help")) return { command: "wait", args: [], argsAt: undefined, compat: builder.compat, isHelp: true };
  for (const given of ["requestTimeoutMillis", "periodMillis"].flatMap((name) => flags.get(name) ?? [])) {
    builder.check(given, wholeNumberOf("milliseconds"));
  }
  const seconds = flags.get("timeoutSeconds") ?? { origin: "pilot-agent", text: "60" };
  if (builder.check(seconds, wholeNumberOf("seconds"))) {
    builder.add("wait-timeout", seconds.origin, Number(seconds.text) === 0 ? "1ms" : `${seconds.text}s`);
  }
  builder.add("sidecar", "pilot-agent", "none");
  const url = flags.get("url");
  builder.add("ready", url?.origin ?? "pilot-agent", url?.text ?? "http://localhost:15021/healthz/ready");
  if (words.length > 0)
    builder.refuse(`${redactUrls(words[0] as string)}: unexpected argument; usage: pilot-agent wait [flags]`);
  return { command: "wait", args: [], argsAt: undefined, compat: { ...builder.compat, readyStatus: 200 } };
}

function wholeNumberOf(unit: string): Syntax<string> {
  return syntax((text) => (/^\d+$/.test(text) ? text : undefined), `a whole number of ${unit}`);
}
