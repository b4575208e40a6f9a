import { errorTexts } from "../../../shared/core/system-error.ts";
import { excerpt, type HttpAnswer } from "../../../shared/http/core/http-framing.ts";
import { encodeRequest, parseAnswer } from "../../../shared/http/core/http-message.ts";
import { latin1 } from "../../../shared/http/latin1.ts";
import { quitRefusal, quitUnreachable } from "../../../shared/sidecars/core/quit.ts";
import type { Sidecar } from "../../../shared/sidecars/core/sidecar.ts";
import type { Stream } from "../../api/stream.ts";
import { sidecarIn } from "../../core/containers.ts";
import type { EndResult } from "../core/attempt.ts";
import type { Method, PortRequest } from "../core/methods.ts";
import type { PodView } from "../core/pod-view.ts";
import { openPodStream, type PodTarget, pathOf, refusedBecause, type SendSettings } from "./target.ts";

type Forward = Extract<Method, { kind: "port-forward" }>;

/**
 * kubernetes pkg/kubelet/server/portforward/websocket.go: two channels for each port, whose first message is its
 * number.
 */
const PROTOCOL = "v4.channel.k8s.io";
const channels = { data: 0, error: 1 } as const;

const MAX_ANSWER = 64 * 1024;

/**
 * Sends the method's quit requests through a port-forward to the pod's loopback; one that is taken is enough.
 */
export async function sendByForward(method: Forward, target: PodTarget, settings: SendSettings): Promise<EndResult> {
  const results: EndResult[] = [];
  for (const request of method.requests) {
    try {
      results.push(await sendOne(request, method.container, { target, api: settings.api }));
    } catch (error) {
      if (target.signal.aborted || !results.some(isTaken)) throw error;
    }
  }
  return together(results);
}

function isTaken({ kind }: EndResult): boolean {
  return kind === "taken";
}

/**
 * Joins the results of several requests. One that was taken is enough: it may have ended the sidecar before the others.
 */
function together(results: readonly EndResult[]): EndResult {
  if (results.some(isTaken)) return { kind: "taken" };
  const whys = results.flatMap((each) => ("why" in each ? [each.why] : []));
  return refusedBecause([...new Set(whys)].join("; "));
}

interface Tunnelled {
  readonly target: PodTarget;
  readonly api: SendSettings["api"];
}

async function sendOne(request: PortRequest, container: string, { target, api }: Tunnelled): Promise<EndResult> {
  const path = `${pathOf(target.pod)}/portforward?ports=${request.port}`;
  using stream = await openPodStream(api, target, { path, protocol: PROTOCOL });
  stream.send(Buffer.concat([Buffer.of(channels.data), Buffer.from(bytesOf(request), "latin1")]));
  return await answerOf(stream, { container, sidecar: sidecarNamed(container, target.pod) });
}

function bytesOf({ port, method, path, headers }: PortRequest): string {
  const address = { kind: "tcp", host: "localhost", port } as const;
  const target = { address, isSecure: false, authority: `localhost:${port}`, path };
  return encodeRequest({ method, target, headers });
}

/** Returns the kind of sidecar, whose refusals are known, by the container's name and image; `custom` if it is none. */
function sidecarNamed(container: string, { containers }: PodView): Sidecar["name"] {
  const image = containers.find(({ name }) => name === container)?.image;
  return sidecarIn(container, image) ?? "custom";
}

interface ForwardedRequest {
  readonly container: string;
  readonly sidecar: Sidecar["name"];
}

/** Reads the answer from the tunnel. A tunnel that ends without one counts as taken: the sidecar has ended first. */
async function answerOf(stream: Stream, asked: ForwardedRequest): Promise<EndResult> {
  let text = "";
  for await (const [channel, bytes] of piecesOf(stream)) {
    if (channel === channels.error) return refusedBecause(reasonOf(latin1(bytes), asked));
    text += latin1(bytes);
    const result = judge(text, false, asked);
    if (result !== undefined) return result;
  }
  return judge(text, true, asked) as EndResult; // what has ended is not partial
}

/** Yields what comes out of a tunnel, with its channel, until the tunnel ends. Leaves out the port's number. */
async function* piecesOf(stream: Stream): AsyncGenerator<readonly [channel: number, bytes: Uint8Array]> {
  const begun = new Set<number>();
  for (let message = await stream.next(); message !== undefined; message = await stream.next()) {
    const [channel] = message;
    if (channel === undefined) continue;
    if (begun.has(channel)) yield [channel, message.subarray(1)];
    begun.add(channel);
  }
}

/** Judges the head of an answer, because the body may never come. Returns undefined while the head is not complete. */
function judge(text: string, isEnd: boolean, asked: ForwardedRequest): EndResult | undefined {
  if (isEnd && text === "") return { kind: "taken" };
  if (text.length > MAX_ANSWER) return refusedBecause(`an answer longer than ${MAX_ANSWER / 1024} KiB`);
  const parsed = parseAnswer(text, isEnd, "HEAD");
  if (parsed.kind === "partial") return undefined;
  if (parsed.kind === "garbage") return refusedBecause(parsed.reason);
  return resultOf(parsed.answer, asked);
}

function resultOf(answer: HttpAnswer, asked: ForwardedRequest): EndResult {
  const refusal = quitRefusal(asked.sidecar, answer);
  return refusal === undefined ? { kind: "taken" } : refusedBecause(forReaper(refusal, asked));
}

/** Explains the kubelet's error: `... failed to connect to localhost:9901 inside namespace ...: connection refused`. */
function reasonOf(text: string, asked: ForwardedRequest): string {
  if (!text.includes("refused")) return excerpt(text, 300);
  const meaning = quitUnreachable(asked.sidecar);
  const { ECONNREFUSED: refused } = errorTexts;
  return meaning === undefined ? refused : forReaper(`${refused}: ${meaning}`, asked);
}

/** Puts the annotations that the reaper takes in the place of the flags of `ebb quit` that a reason names. */
function forReaper(why: string, { container }: ForwardedRequest): string {
  return why
    .replace(/--(admin|quit)(?![\w-])/g, `the annotation ebb.dev/reap-quit.${container}`)
    .replace(/, or use --header '[^']*'/, "");
}
