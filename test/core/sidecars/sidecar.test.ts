import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseHttpTarget } from "../../../src/core/base/address.ts";
import type { Header } from "../../../src/core/base/http-framing.ts";
import type { SidecarKind } from "../../../src/core/sidecars/kinds/kind.ts";
import type { SidecarUrls } from "../../../src/core/sidecars/own-probes.ts";
import { type FoundSidecar, planSidecars } from "../../../src/core/sidecars/plan.ts";
import { describeProbe, parseProbe } from "../../../src/core/sidecars/probe.ts";
import { describeQuit, parseHeader, parseQuit, quitRefusal, quitUnreachable } from "../../../src/core/sidecars/quit.ts";
import { kindOf, type SidecarName, sidecarNames } from "../../../src/core/sidecars/registry.ts";
import type { Sidecar } from "../../../src/core/sidecars/sidecar.ts";

const found = (...names: readonly SidecarName[]): readonly FoundSidecar[] =>
  names.map((name) => ({ name, isNative: false }));
const native = (name: SidecarName): FoundSidecar => ({ name, isNative: true });

interface Given {
  readonly admin?: string;
  readonly ready?: readonly string[];
  readonly quit?: readonly string[];
}

/** The plan as text: name, what is asked, what is told to quit. */
function plan(sidecars: readonly FoundSidecar[], { admin, ready = [], quit = [] }: Given = {}): readonly string[][] {
  const urls: SidecarUrls = {
    admin: admin === undefined ? undefined : must(parseHttpTarget(admin)),
    ready: ready.map((text) => must(parseProbe(text))),
    quit: quit.map((text) => must(parseQuit(text))),
  };
  return planSidecars(sidecars, urls).map(({ name, isNative, ready, quits }) => [
    isNative ? `${name}, native` : name,
    ...ready.map(describeProbe),
    ...quits.map(describeQuit),
  ]);
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("not readable");
  return value;
}

describe("the sidecars to wait for and to quit are", () => {
  const istio = ["istio", "http://localhost:15021/healthz/ready", "POST http://localhost:15020/quitquitquit"];
  const linkerd = ["linkerd", "http://localhost:4191/ready", "POST http://localhost:4191/shutdown"];
  const envoy = ["envoy", "http://localhost:9901/ready", "POST http://localhost:9901/quitquitquit"];
  const more = { ready: ["tcp://db:1"], quit: ["http://x/q"] };

  test.each<[string, readonly FoundSidecar[], Given, readonly string[][]]>([
    ["none where none was found", [], {}, []],
    ["Istio by its own endpoints", found("istio"), {}, [istio]],
    ["Linkerd by its own endpoints", found("linkerd"), {}, [linkerd]],
    ["Envoy by its own endpoints", found("envoy"), {}, [envoy]],
    ["several, each by its own", found("istio", "linkerd"), {}, [istio, linkerd]],
    ["a native one, which is not quit", [native("istio")], {}, [["istio, native", istio[1] as string]]],
    [
      "Istio, asked at a given admin interface, and told to quit at pilot-agent's",
      found("istio"),
      { admin: "http://h:1" },
      [["istio", "http://h:1/ready", istio[2] as string]],
    ],
    [
      "Envoy at a given admin interface",
      found("envoy"),
      { admin: "unix:/admin.sock" },
      [["envoy", "unix:/admin.sock /ready", "POST unix:/admin.sock /quitquitquit"]],
    ],
    [
      "Linkerd at a given admin interface",
      found("linkerd"),
      { admin: "http://h:1/" },
      [["linkerd", "http://h:1/ready", "POST http://h:1/shutdown"]],
    ],
    ["what was given, where none was found", [], more, [["custom", "tcp://db:1", "POST http://x/q"]]],
    ["a given probe besides its own", found("istio"), { ready: ["tcp://db:1"] }, [istio, ["custom", "tcp://db:1"]]],
    [
      "a given quit instead of its own",
      found("istio"),
      { quit: ["GET http://x/q", "http://x/p"] },
      [["istio", istio[1] as string, "GET http://x/q", "POST http://x/p"]],
    ],
    [
      "what was given besides several, whose own quits it replaces",
      found("istio", "linkerd"),
      more,
      [istio.slice(0, 2), linkerd.slice(0, 2), ["custom", "tcp://db:1", "POST http://x/q"]],
    ],
    [
      "a given probe besides several, which are quit as ever",
      found("istio", "linkerd"),
      { ready: ["tcp://db:1"] },
      [istio, linkerd, ["custom", "tcp://db:1"]],
    ],
    [
      "a native one and a given probe",
      [native("istio")],
      { ready: ["tcp://db:1"] },
      [
        ["istio, native", istio[1] as string],
        ["custom", "tcp://db:1"],
      ],
    ],
    [
      "a native one, not quit even at its own endpoint when that is given",
      [native("istio")],
      { quit: ["http://localhost:15020/quitquitquit"] },
      [["istio, native", istio[1] as string]],
    ],
    [
      "a native one and another, and what was given is quit",
      [native("istio"), ...found("linkerd")],
      { quit: ["http://x/q"] },
      [["istio, native", istio[1] as string], linkerd.slice(0, 2), ["custom", "POST http://x/q"]],
    ],
    [
      "a native one, and one that is told to quit",
      [native("istio"), ...found("linkerd")],
      {},
      [["istio, native", istio[1] as string], linkerd],
    ],
  ])("%s", (_, sidecars, given, expected) => {
    expect(plan(sidecars, given)).toEqual(expected as string[][]);
  });
});

describe.each(sidecarNames.map((name) => [name, kindOf(name)] as const))("what ebb knows of %s", (_, kind) => {
  const { admin, ready, readyPath, quit, quitPath, ports } = kind;

  test("can be read, and is on this pod's loopback", () => {
    for (const url of [admin, quit]) expect(parseHttpTarget(url)?.address).toMatchObject({ host: "localhost" });
    if (ready !== undefined) expect(describeProbe(must(parseProbe(ready)))).toBe(ready);
  });

  test("is at the same paths where --admin says where it is", () => {
    if (quitPath !== undefined) expect(quit).toBe(`${admin}${quitPath}`);
    if (ready?.startsWith(admin)) expect(ready).toBe(`${admin}${readyPath}`);
  });

  test("is told by a port that it asks, and that nobody else asks", () => {
    const others = sidecarNames.map(kindOf).filter((other) => other !== kind);
    const other = (one: SidecarKind) =>
      one.adjust?.({ env: {}, annotations: new Map() })?.quits?.[0]?.otherwise?.target;
    const asked = (one: SidecarKind) => [one.admin, one.ready ?? "", one.quit, other(one)?.authority].join(" ");
    for (const port of ports.filter((port) => port !== 9901)) {
      expect(asked(kind)).toContain(`:${port}`);
      expect(others.map(asked).join(" ")).not.toContain(`:${port}`);
    }
  });

  test("explains refusals with its own quit, and nobody else's", () => {
    const texts = [...Object.values(kind.refusals()), kind.unreachable?.() ?? ""];
    const urls = texts.flatMap((meaning) => meaning.match(/https?:[^';]+/g) ?? []);
    expect(urls.filter((url) => url !== quit)).toEqual([]);
  });
});

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
    ["istio", 405, /^HTTP 405: .* POST only/],
    ["istio", 500, /^HTTP 500$/],
    ["envoy", 403, /^HTTP 403: .*admin\.allow_paths/],
    ["envoy", 404, /^HTTP 404: .*--admin/],
    ["envoy", 405, /^HTTP 405: .*POST only/],
    ["linkerd", 403, /^HTTP 403: .*loopback/],
    ["linkerd", 404, /^HTTP 404: .*enableShutdownEndpoint=true/],
    ["linkerd", 405, /^HTTP 405: .*POST only/],
    ["kuma", 403, /^HTTP 403: .*admin\.allow_paths/],
    ["kuma", 404, /^HTTP 404: .*--admin/],
    ["kuma", 405, /^HTTP 405: .*POST only/],
    ["consul", 404, /^HTTP 404: .*graceful_shutdown.*--quit/],
    ["dapr", 401, /^HTTP 401: .*DAPR_API_TOKEN/],
    ["dapr", 404, /^HTTP 404: .*spec\.api\.allowed/],
    ["dapr", 404, /^HTTP 404: .*POST only/],
    ["vault-agent", 404, /^HTTP 404: .*agent-enable-quit: "true"/],
    ["vault-agent", 405, /^HTTP 405: .*POST only/],
    ["cloud-sql-proxy", 400, /^HTTP 400: .*GET and POST only/],
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
  ["istio", /status\.sidecar\.istio\.io\/port.*--signal-process pilot-agent/],
  ["envoy", /--admin/],
  ["linkerd", /--admin/],
  ["dapr", /--admin/],
  ["kuma", /unix socket.*envoyAdminUnixSocket=false.*--signal-process kuma-dp/],
  ["consul", /sidecar-proxy-lifecycle-graceful-port/],
  ["vault-agent", /agent-enable-quit: "true"/],
  ["cloud-sql-proxy", /--quitquitquit/],
])("that nobody listens where %s takes its quit is explained", (name, reason) => {
  expect(quitUnreachable(name)).toMatch(reason);
});

test("only the user can tell why nobody listens at a quit of theirs", () => {
  expect(quitUnreachable("custom")).toBeUndefined();
});
