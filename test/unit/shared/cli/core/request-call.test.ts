import { expect, test } from "bun:test";
import { parsePilotAgentCall, parseRequestCall } from "../../../../../src/shared/cli/core/request-call.ts";
import { Failure } from "../../../../../src/shared/core/exit.ts";

const path = (text: string) => ({ kind: "path", path: text });

test.each([
  [["/stats?usedonly"], { method: "GET", where: path("/stats?usedonly") }],
  [["POST", "quitquitquit"], { method: "POST", where: path("/quitquitquit") }],
  [["post", "/quitquitquit"], { method: "POST", where: path("/quitquitquit") }],
  [["GET", "stats/prometheus"], { method: "GET", where: path("/stats/prometheus") }],
  [["stats"], { method: "GET", where: path("/stats") }],
  [["a:b"], { method: "GET", where: path("/a:b") }],
  [["stats?filter=a:1"], { method: "GET", where: path("/stats?filter=a:1") }],
  [["/a?next=http://b/"], { method: "GET", where: path("/a?next=http://b/") }],
  [["POST", "/tap", "{}"], { method: "POST", where: path("/tap"), body: "{}" }],
  [["DELETE", "/x"], { method: "DELETE", where: path("/x") }],
])("%j", (operands, asked) => {
  expect(parseRequestCall(operands, undefined)).toEqual({ body: undefined, ...asked } as never);
});

test.each([
  ["http://localhost:8080/healthz", "localhost:8080", "/healthz", false],
  ["HTTPS://[::1]/a?b=c@d", "[::1]", "/a?b=c@d", true],
])("%s is a URL", (url, authority, asked, isSecure) => {
  const { where } = parseRequestCall([url], undefined);
  expect(where).toMatchObject({ kind: "url", target: { authority, path: asked, isSecure } });
});

test.each([
  [["/x"], "POST"],
  [["PUT", "/x"], "PUT"],
])("with a body, %j is %s", (operands, method) => {
  expect(parseRequestCall(operands, "")).toMatchObject({ method, body: "" });
});

test.each([
  [[], undefined, "expected a path"],
  [["POST"], undefined, "after POST"],
  [["BREW", "/coffee"], undefined, "BREW"],
  [["GET", "/x"], "body", "GET takes no body"],
  [["POST", "/x", "a"], "b", "--body"],
  [["POST", "/x", "a", "b"], undefined, '"b"'],
  [["unix:/admin.sock"], undefined, "--admin unix:"],
  [["ftp://host/"], undefined, "ftp://host/"],
  [["http:///x"], undefined, "http:///x"],
  [["localhost:15000/stats"], undefined, "did you mean http://localhost:15000/stats?"],
  [["POST", "127.0.0.1:9901/quitquitquit"], undefined, "did you mean http://127.0.0.1:9901/quitquitquit?"],
  [["[::1]:9901?a"], undefined, "did you mean http://[::1]:9901?a"],
  [["db:80"], undefined, "did you mean http://db:80?"],
  [["me:secret@db:80/x"], undefined, "did you mean http://***@db:80/x?"],
  [["http://me:secret@/x"], undefined, '"http://***@/x"'],
])("%j with body %j is a usage error that says why", (operands, body, compat) => {
  expect(() => parseRequestCall(operands, body)).toThrow(Failure);
  expect(() => parseRequestCall(operands, body)).toThrow(compat);
});

test.each([
  [["GET", "", "-"], "GET", "/", "-"],
  [["", "a//b/../c", ""], "GET", "/a//b/../c", undefined],
  [["purge", "/ü y?z=%#part", "b", "more"], "purge", "/%C3%BC%20y?z=%", "b"],
])("in pilot-agent's name, %j is sent as it stands", (operands, method, sent, body) => {
  expect(parsePilotAgentCall(operands)).toEqual({ method, where: path(sent), body, isExact: true } as never);
});

test.each([
  [["G T", "/x"], "G T"],
  [["GET", "/%zz"], "/%zz"],
])("in pilot-agent's name, %j is a usage error", (operands, compat) => {
  expect(() => parsePilotAgentCall(operands)).toThrow(compat);
});
