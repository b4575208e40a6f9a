import { parseHttpTarget, withoutSlashes } from "../../../core/address.ts";
import { redactHeader, redactUrl } from "../../../core/redact.ts";
import { splitBy } from "../../../core/text.ts";
import type { Header } from "../../../http/core/http-framing.ts";
import { expectedOfAdmins } from "../../../sidecars/core/choice.ts";
import { parseExecutable } from "../../../sidecars/core/executable.ts";
import { hintAtHttp, hintAtTcp, parseTarget, TARGET_FORMS } from "../../../sidecars/core/probe.ts";
import { parseHeader, parseQuitOption } from "../../../sidecars/core/quit.ts";
import { list, option, optional } from "../option.ts";
import { anyText, sidecarChoice, syntax } from "../syntax.ts";
import { oneMore, url, whenTrue } from "./variables.ts";

/** The commands that wait for the sidecars, drain or quit them. */
const sidecarCommands = ["run", "wait", "drain", "quit"] as const;
/** The commands that look for sidecars. */
export const findingCommands = [...sidecarCommands, "hold", "request", "status"] as const;

/** Which sidecars are here, and what ebb requests from them. */
export const sidecars = {
  sidecar: option({
    flag: "sidecar",
    commands: findingCommands,
    group: "sidecars",
    value: "NAME[:PORT][,NAME]",
    initial: { isAuto: true, named: [] },
    initially: "auto",
    syntax: sidecarChoice,
    help: "the sidecars of this pod, with :PORT if the admin interface is not on its usual port; auto detects others",
    brief: "the sidecars of this pod",
  }),
  admin: optional({
    flag: "admin",
    commands: findingCommands,
    group: "sidecars",
    value: "URL",
    initially: "depends on the sidecar",
    syntax: {
      ...syntax(parseHttpTarget, `${url} or unix:/path.sock`, redactUrl),
      several: expectedOfAdmins,
      hint: hintAtHttp,
    },
    also: [{ name: "ENVOY_ADMIN_API" }],
    inPod: "proxy-hook",
    help: "URL of the sidecar's admin interface; ebb then checks readiness there",
    brief: "URL of Envoy's admin interface",
    commonIn: ["drain", "quit", "request", "status"],
  }),
  ready: list({
    flag: "ready",
    commands: [...sidecarCommands, "status"],
    group: "waiting",
    value: "URL",
    syntax: { ...syntax(parseTarget, TARGET_FORMS, redactUrl), hint: hintAtTcp },
    help: "another target that must be ready: http(s)://, grpc(s)://, tcp://, unix: or file:",
    brief: "another target that must be ready",
    commonIn: ["run"],
  }),
  readyPath: optional({
    flag: "ready-path",
    commands: sidecarCommands,
    group: "waiting",
    value: "PATH",
    initially: "depends on the sidecar",
    syntax: syntax((path) => (/^\/[!-~]*$/.test(path) ? path : undefined), "a path such as /ready", redactUrl),
    secret: false,
    help: "the path on the admin interface that answers 2xx if the sidecar is ready; /server_info must also report the state LIVE",
  }),
  quit: list({
    flag: "quit",
    commands: sidecarCommands,
    group: "shutdown",
    value: "[+][METHOD ]URL",
    initially: "depends on the sidecar",
    syntax: {
      ...syntax(parseQuitOption, `${url}, with a method before it if it is not POST, or none`, redactUrl),
      hint: hintAtHttp,
    },
    also: [
      {
        name: "ISTIO_QUIT_API",
        read: (base) => [`${withoutSlashes(base)}/quitquitquit`],
      },
      { name: "ENVOY_KILL_API" },
      { name: "GENERIC_QUIT_ENDPOINTS", read: (urls) => splitBy(urls, ",").map(oneMore) },
      { name: "CSQL_PROXY_QUIT_URLS", read: (urls) => splitBy(urls, " ").map(oneMore) },
    ],
    help: "a shutdown request to send instead of the sidecar's usual one; +URL sends it before the usual one; none leaves out the usual one",
    brief: "shutdown request, if not the usual one",
    commonIn: ["quit"],
  }),
  signalProcess: list({
    flag: "signal-process",
    commands: sidecarCommands,
    group: "shutdown",
    value: "[+]NAME",
    syntax: syntax(parseExecutable, "an executable's name such as pilot-agent, or its whole path"),
    also: [whenTrue("ISTIO_FALLBACK_PKILL", "+pilot-agent")],
    secret: false,
    help: "end the processes of this executable with signals (INT, TERM, KILL) instead of a shutdown request; +NAME does so only if the shutdown request fails",
  }),
  header: list({
    flag: "header",
    commands: findingCommands,
    group: "sidecars",
    value: "'NAME: VALUE'",
    separator: "\n",
    syntax: {
      ...syntax(parseHeader, "a header such as 'dapr-api-token: abc'", redactHeader),
      closer: (text) => (text.includes(":") ? undefined : "NAME: VALUE, with a colon"),
    },
    help: "a header to send with every request to the sidecars; as a flag, also with the requests of ebb request and ebb wait",
  }),
  caFile: optional({
    flag: "ca-file",
    commands: findingCommands,
    group: "sidecars",
    value: "FILE",
    syntax: anyText,
    secret: false,
    help: "CAs or self-signed certificates (PEM) to trust for https and grpcs, in addition to the public CAs",
  }),
} as const;

/**
 * Returns the headers that `--header` sets, for a server that is no sidecar: a token in EBB_HEADER is for the sidecars,
 * and goes to no other server.
 */
export function headersOfFlag({ values, origins }: Headed): readonly Header[] {
  return origins.header === "--header" ? values.header : [];
}

/** A call of a command that has `--header`. */
interface Headed {
  readonly values: { readonly header: readonly Header[] };
  readonly origins: { readonly header: string };
}
