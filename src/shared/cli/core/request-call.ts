import { type HttpTarget, parseHttpTarget } from "../../core/address.ts";
import { EXIT, Failure } from "../../core/exit.ts";
import { redactUrl, redactUrls } from "../../core/redact.ts";

/** The request that `ebb request` sends. */
interface RequestCall {
  readonly method: string;
  /** A whole URL, or a path on the proxy's admin interface. */
  readonly where:
    | { readonly kind: "url"; readonly target: HttpTarget }
    | { readonly kind: "path"; readonly path: string };
  readonly body: string | undefined;
  /**
   * Whether it is sent exactly: any method, the path not normalised, a body with any method, `-` not read from stdin.
   */
  readonly isExact?: true;
}

/** The methods that Bun's fetch sends as they are. It sends GET for words that it does not know (measured, Bun 1.4.5). */
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Parses the operands `[METHOD] PATH|URL [BODY]` of `ebb request`; the body as operand is pilot-agent's way (istio,
 * pilot/cmd/pilot-agent/app/request.go). Without a method it is GET, or POST if there is a body, as with curl.
 * `bodyFlag` is the value of --body.
 * @throws Failure(64) that says what was expected
 */
export function parseRequestCall(operands: readonly string[], bodyFlag: string | undefined): RequestCall {
  const isMethodFirst = /^[A-Za-z]+$/.test(operands[0] ?? "") && operands.length > 1;
  const [given, text = "", inline, unexpected] = isMethodFirst ? operands : [undefined, ...operands];
  if (text === "") throw usage("expected a path such as /stats, or a URL");
  if (methods.includes(text)) throw usage(`expected a path or a URL after ${text}`);
  if (unexpected !== undefined) throw usage(`${JSON.stringify(redactUrls(unexpected))}: unexpected argument`);
  if (inline !== undefined && bodyFlag !== undefined)
    throw usage("a body and --body cannot be used together: give one of them");
  const body = bodyFlag ?? inline;
  return { method: methodOf(given, body), where: whereOf(text), body };
}

/**
 * Parses the operands `METHOD PATH [BODY]` as `pilot-agent request` does (istio, pilot/pkg/request/command.go): an
 * empty body is no body, and further operands are ignored. The path gets a slash in front if it has none, and loses its
 * fragment; blanks and all that is not printable ASCII become percent-encoded.
 * @throws Failure(64) that says what was expected
 */
export function parsePilotAgentCall([method = "", path = "", body = ""]: readonly string[]): RequestCall {
  if (!/^[\w!#$%&'*+.^`|~-]*$/.test(method)) throw usage(`expected a method, got ${JSON.stringify(method)}`);
  const written = path.startsWith("/") ? path : `/${path}`;
  const [sent = "/"] = written.split("#", 1);
  const [pathname = ""] = sent.split("?", 1);
  if (/%(?![0-9A-Fa-f]{2})/.test(pathname)) throw usage(`expected a path, got ${JSON.stringify(redactUrls(path))}`);
  const escaped = sent.replace(/[^\x21-\x7e]+/gu, encodeURIComponent);
  return {
    method: method === "" ? "GET" : method,
    where: { kind: "path", path: escaped },
    body: body === "" ? undefined : body,
    isExact: true,
  };
}

function methodOf(given: string | undefined, body: string | undefined): string {
  const method = given?.toUpperCase() ?? (body === undefined ? "GET" : "POST");
  if (!methods.includes(method)) throw usage(`expected one of ${methods.join(", ")}, got ${JSON.stringify(given)}`);
  if (body !== undefined && (method === "GET" || method === "HEAD")) throw usage(`${method} takes no body`);
  return method;
}

function whereOf(text: string): RequestCall["where"] {
  if (text.startsWith("unix:")) throw usage("give the socket as --admin unix:/path.sock, and the path separately");
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    if (/^[^/?#]+:\d+(?:[/?#]|$)/.test(text) && parseHttpTarget(`http://${text}`) !== undefined) {
      throw usage(`expected a path or a URL; did you mean ${redactUrl(`http://${text}`)}?`);
    }
    return { kind: "path", path: text.startsWith("/") ? text : `/${text}` };
  }
  const target = parseHttpTarget(text);
  if (target === undefined) {
    throw usage(`expected http:// or https:// and a host, got ${JSON.stringify(redactUrl(text))}`);
  }
  return { kind: "url", target };
}

function usage(problem: string): Failure {
  return new Failure(EXIT.usage, `request: ${problem}; usage: ebb request [METHOD] PATH|URL`);
}
