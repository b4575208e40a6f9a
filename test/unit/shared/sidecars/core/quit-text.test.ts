import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Header } from "../../../../../src/shared/http/core/http-framing.ts";
import {
  describeQuit,
  parseHeader,
  parseQuit,
  quitRefusal,
  quitUnreachable,
} from "../../../../../src/shared/sidecars/core/quit.ts";
import type { Sidecar } from "../../../../../src/shared/sidecars/core/sidecar.ts";
import { must } from "./planned.ts";

describe("a quit is a URL, with a method before it if it is not POST", () => {
  test.each([
    ["http://h:1/q", "POST http://h:1/q"],
    ["GET http://h:1/q", "GET http://h:1/q"],
    ["put \t https://h/", "PUT https://h/"],
    ["unix:/a.sock", "POST unix:/a.sock /"],
  ])("%s", (text, quit) => {
    expect(describeQuit(must(parseQuit(text)))).toBe(quit);
  });

  test.each(["", "POST", "POST ", "h:1/q", "P0ST http://h/", "POST http://h/ x", "POST\rhttp:/h", " http://h/"])(
    "%p is none",
    (text) => {
      expect(parseQuit(text)).toBeUndefined();
    },
  );
});

describe("a header is a name, a colon and a value", () => {
  test.each<[string, Header]>([
    ["dapr-api-token: abc", ["dapr-api-token", "abc"]],
    ["X:", ["X", ""]],
    ["X:\t a: b", ["X", "a: b"]],
    ["!#$%&'*+.^_`|~09: x", ["!#$%&'*+.^_`|~09", "x"]],
  ])("%s", (text, header) => {
    expect(parseHeader(text)).toEqual(header);
  });

  test.each(["", "X", ": x", "X : y", "X Y: z", "X: a\r\nY: b", "X: a\nb", "X: a\0", "é: x"])("%p is none", (text) => {
    expect(parseHeader(text)).toBeUndefined();
  });

  test("no text makes a header of two lines", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, value) => {
        const header = parseHeader(`X${name}:${value}`);
        expect(header?.join("") ?? "").not.toMatch(/[\r\n\0]/);
      }),
    );
  });
});

describe("an answer to a quit", () => {
  const refusal = (name: Sidecar["name"], status: number) => quitRefusal(name, { status });

  test.each<[Sidecar["name"], number]>([
    ["istio", 200],
    ["envoy", 204],
    ["custom", 299],
  ])("of %s with %d is taken", (name, status) => {
    expect(refusal(name, status)).toBeUndefined();
  });

  test.each<[Sidecar["name"], number, RegExp]>([
    ["istio", 403, /^HTTP 403: pilot-agent .* loopback/],
    ["istio", 404, /^HTTP 404: .* Istio 1\.3/],
    ["istio", 405, /^HTTP 405: .* only POST/],
    ["istio", 500, /^HTTP 500$/],
    ["envoy", 403, /^HTTP 403: .*admin\.allow_paths/],
    ["envoy", 404, /^HTTP 404: .*--admin/],
    ["envoy", 405, /^HTTP 405: .*only POST/],
    ["linkerd", 403, /^HTTP 403: .*loopback/],
    ["linkerd", 404, /^HTTP 404: .*enableShutdownEndpoint=true/],
    ["linkerd", 405, /^HTTP 405: .*only POST/],
    ["kuma", 403, /^HTTP 403: .*admin\.allow_paths/],
    ["kuma", 404, /^HTTP 404: .*--admin/],
    ["kuma", 405, /^HTTP 405: .*only POST/],
    ["consul", 404, /^HTTP 404: .*graceful_shutdown.*--quit/],
    ["dapr", 401, /^HTTP 401: .*DAPR_API_TOKEN/],
    ["dapr", 404, /^HTTP 404: .*spec\.api\.allowed/],
    ["dapr", 404, /^HTTP 404: .*only POST/],
    ["vault-agent", 404, /^HTTP 404: .*agent-enable-quit: "true"/],
    ["vault-agent", 405, /^HTTP 405: .*only POST/],
    ["cloud-sql-proxy", 400, /^HTTP 400: .*only GET and POST/],
    ["cloud-sql-proxy", 404, /^HTTP 404: .*--quitquitquit/],
    ["linkerd", 302, /^HTTP 302$/],
    ["envoy", 300, /^HTTP 300$/],
    ["custom", 404, /^HTTP 404$/],
    ["custom", 199, /^HTTP 199$/],
  ])("of %s with %d is a refusal that is explained", (name, status, reason) => {
    expect(refusal(name, status)).toMatch(reason);
  });
});

test.each<[Sidecar["name"], RegExp]>([
  ["istio", /^[^:;]*: set --quit [^;]*status\.sidecar\.istio\.io\/port[^;]* \(others: ebb help sidecars\)$/],
  ["envoy", /--admin/],
  ["linkerd", /--admin/],
  ["dapr", /--admin/],
  ["kuma", /^[^:;]*unix socket[^:;]*: set [^;]*envoyAdminUnixSocket=false[^;]* \(others: ebb help sidecars\)$/],
  ["consul", /^[^:;]*: set --admin [^;]*-envoy-admin-bind-port \(others: ebb help sidecars\)$/],
  ["vault-agent", /agent-enable-quit: "true"/],
  ["cloud-sql-proxy", /--quitquitquit/],
])("that nobody listens where %s takes its quit is explained", (name, reason) => {
  expect(quitUnreachable(name)).toMatch(reason);
});

test("only the user can tell why nobody listens at a quit of theirs", () => {
  expect(quitUnreachable("custom")).toBeUndefined();
});
