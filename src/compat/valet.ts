import { redactUrls } from "../shared/core/redact.ts";
import { type CompatTool, SettingsBuilder, type Translation, wholeCommandLine } from "./tool.ts";

/**
 * Translates the wrapper of "Istio for short-lived pods", which an init container copies in: `valet CMD`, or `valet
 * -stop-proxy`.
 */
export const valet: CompatTool = {
  usage: "CMD ARG... | -stop-proxy",
  about:
    "Waits until Istio's proxy is ready, then becomes the command (`ebb wait`). With -stop-proxy it shuts down the proxy (`ebb quit`).",
  takes: ["-stop-proxy"],
  translate,
};

function translate(args: readonly string[]): Translation {
  const builder = new SettingsBuilder();
  builder.add("sidecar", "valet", "istio");
  if (/^--?stop-proxy$/.test(args[0] ?? "")) {
    if (args.length > 1)
      builder.refuse(`${redactUrls(args[1] as string)}: unexpected argument; usage: valet -stop-proxy`);
    return { command: "quit", args: [], argsAt: undefined, compat: builder.compat };
  }
  if (args.length === 0) builder.refuse("valet: expected a command; usage: valet CMD ARG..., or valet -stop-proxy");
  return { command: "wait", ...wholeCommandLine(args), compat: builder.compat };
}
