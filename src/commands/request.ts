import { beginLog } from "../begin-log.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { whyNoPort } from "../pod/find/core/network.ts";
import { findSidecars } from "../pod/find/find.ts";
import { readNetwork } from "../pod/find/network.ts";
import { askExactly } from "../pod/http/exact.ts";
import { type Call, readOperandCall } from "../shared/cli/core/call.ts";
import { headersOfFlag } from "../shared/cli/core/options/sidecars.ts";
import { optionsOf } from "../shared/cli/core/options.ts";
import { parsePilotAgentCall, parseRequestCall } from "../shared/cli/core/request-call.ts";
import { describeTarget, type HttpTarget, parseHttpTarget, withPath } from "../shared/core/address.ts";
import { formatDuration } from "../shared/core/duration.ts";
import type { Environment } from "../shared/core/environment.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";
import { redactUrl } from "../shared/core/redact.ts";
import { describeSystemError } from "../shared/core/system-error.ts";
import { excerpt } from "../shared/http/core/http-framing.ts";
import { fetchWithin, type StreamedAnswer } from "../shared/http/fetch.ts";
import { RequestFailed } from "../shared/http/request-failed.ts";
import { trustFile } from "../shared/http/trust.ts";
import { MiB, readStdinWithin } from "../shared/io/input.ts";
import { abortedAfter } from "../shared/io/timer.ts";
import { contentWriter } from "../shared/output/content.ts";
import { writeError } from "../shared/output/output.ts";
import { kindOf, type SidecarName, sidecarNames } from "../shared/sidecars/core/registry.ts";
import { whyUnnamed } from "../shared/sidecars/core/unnamed.ts";

const options = optionsOf("request");

const MOST_BODY_BYTES = 256 * MiB;

/**
 * `ebb request` sends one HTTP request to the proxy, or to any URL. The body goes to stdout as it comes, all else to
 * stderr.
 */
export const command: Command = {
  summary: "send one HTTP request to the proxy's admin interface, or to a URL",
  usage: "request [flags] [METHOD] PATH|URL",
  about:
    "ebb request sends one HTTP request to the proxy's admin interface, or to any URL, from an image that has no curl. To see the state of a proxy, use ebb status, which reads and explains the usual pages. To shut it down, use ebb quit, which also checks that it has exited.",
  page: "status",
  examples: [
    { call: "ebb request GET stats", why: "With kubectl exec: the statistics of the pod's Envoy." },
    {
      call: "ebb request POST quitquitquit --port 15020",
      why: "Another port of this pod, here that of Istio's agent.",
    },
    {
      call: "ebb request POST http://localhost:8080/import --header 'content-type: application/json' --body -",
      why: "To the app itself, with stdin as the body.",
    },
  ],
  exits: [
    ["0", "the answer's status was below 400"],
    ["1", "the answer's status was 400 or more"],
    badCall,
    ["69", "no answer, or not all of it in time"],
  ],
  seeAlso: ["status", "wait", "quit"],
  options,
  main,
};

async function main({ args, env, compat }: Invocation): Promise<number> {
  const call = readOperandCall(options, { args, env, compat });
  trustFile(call.values.caFile);
  const operands = [...call.operands, ...call.command];
  // another tool, which is pilot-agent, has its own syntax
  const { method, where, body, isExact } = compat
    ? parsePilotAgentCall(operands)
    : parseRequestCall(operands, call.values.body);
  const target = where.kind === "url" ? where.target : withPath(await findAdmin(call, env), where.path);
  const headers = headersOfFlag(call);
  const bytes = isExact ? undefined : body === "-" ? await readBody() : encode(body);
  const requested = `request: ${method} ${describeTarget(target)}`;
  try {
    const answer = isExact
      ? await askExactly({ method, target, headers, content: body }, call.values.timeout)
      : await fetchWithin(target, { method, headers, content: bytes, timeMs: call.values.timeout });
    const write = contentWriter();
    for await (const piece of answer.body) if (!(await write(piece))) break;
    return judge(answer, requested);
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    const limit = error.kind === "late" ? ` (--timeout ${formatDuration(call.values.timeout)})` : "";
    throw new Failure(EXIT.unavailable, `${requested}: ${error.message}${limit}`);
  }
}

async function readBody(): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await readStdinWithin(MOST_BODY_BYTES));
  } catch (error) {
    throw new Failure(EXIT.usage, `--body: cannot read stdin: ${describeSystemError(error)}`);
  }
}

/**
 * Finds the admin interface to ask: that of --admin or --port, else that of the sidecar that is here, else the usual
 * one of the first sidecar that ebb knows. Rejects with Failure(69) if only a port suggests
 * a proxy, or no port is believed.
 */
async function findAdmin({ values, origins }: Call<typeof options>, env: Environment): Promise<HttpTarget> {
  const { admin, port } = values;
  const local = (number: number) => parseHttpTarget(`http://localhost:${number}`) as HttpTarget;
  if (origins.admin === "--admin" && origins.port === "--port") {
    throw new Failure(EXIT.usage, "request: --admin and --port cannot be used together: give one of them");
  }
  if (port !== undefined && origins.port === "--port") return local(port);
  if (admin !== undefined) return admin;
  if (port !== undefined) return local(port);
  const log = beginLog({ logLevel: "warn", logFormat: "auto", quiet: false }, { env });
  const settings = { ...values, ready: [], quit: [] };
  const look = { env, forMs: 0, signal: abortedAfter(values.timeout), log };
  const { sidecars, found, doubts } = await findSidecars(settings, look);
  const envoy = sidecars.find((one) => one.envoy !== undefined)?.envoy;
  if (envoy !== undefined) return envoy.admin;
  const [first] = found;
  const network = await readNetwork(settings, env);
  const isUnnamed = first?.isOnNode === true && first.adjustment?.admin === undefined;
  const noPort = doubts[0] ?? (network === "own" ? undefined : whyNoPort(network));
  const reason = isUnnamed ? whyUnnamed(first.name) : first === undefined ? noPort : undefined;
  if (reason !== undefined) throw new Failure(EXIT.unavailable, `request: found no sidecar to ask: ${reason}`);
  const { name, adjustment } = first ?? { name: sidecarNames[0] as SidecarName };
  return parseHttpTarget(adjustment?.admin ?? kindOf(name).admin) as HttpTarget;
}

function encode(text: string | undefined): Uint8Array<ArrayBuffer> | undefined {
  return text === undefined ? undefined : new TextEncoder().encode(text);
}

/**
 * Returns the exit code as `curl --fail-with-body` does: 400 and above are an error. Warns of a redirect, which is not
 * followed. `requested` names the request.
 */
function judge({ status, statusText, headers }: StreamedAnswer, requested: string): number {
  const answered = `${requested}: HTTP ${status}${statusText === "" ? "" : ` ${statusText}`}`;
  const location = headers.get("location");
  if (status >= 400) writeError(`ebb: ${answered}\n`);
  else if (status >= 300 && location !== undefined) {
    const to = excerpt(redactUrl(location), 200);
    writeError(`ebb: ${answered}: a redirect to ${to}, which ebb does not follow\n`);
  }
  return status >= 400 ? EXIT.refused : EXIT.ok;
}
