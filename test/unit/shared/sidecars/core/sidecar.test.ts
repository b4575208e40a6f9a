import { describe, expect, test } from "bun:test";
import { parseHttpTarget } from "../../../../../src/shared/core/address.ts";
import type { SidecarKind } from "../../../../../src/shared/sidecars/core/kinds/kind.ts";
import { describeProbe, parseProbe } from "../../../../../src/shared/sidecars/core/probe.ts";
import { kindOf, type SidecarName, sidecarNames } from "../../../../../src/shared/sidecars/core/registry.ts";
import { type Given, inWords, must, plan } from "./planned.ts";

describe("the sidecars to wait for and to quit are", () => {
  const istioReady = "istio; :15021/healthz/ready";
  const istio = `${istioReady}; POST :15020/quitquitquit`;
  const native = "istio, native; :15021/healthz/ready";
  const linkerdReady = "linkerd; :4191/ready";
  const linkerd = `${linkerdReady}; POST :4191/shutdown`;
  const envoy = "envoy; :9901/ready; POST :9901/quitquitquit";
  const more = { ready: ["tcp://db:1"], quit: ["http://x/q"] };

  test.each<[string, readonly string[], Given, readonly string[]]>([
    ["none where none was found", [], {}, []],
    ["Istio by its own endpoints", ["istio"], {}, [istio]],
    ["Linkerd by its own endpoints", ["linkerd"], {}, [linkerd]],
    ["Envoy by its own endpoints", ["envoy"], {}, [envoy]],
    ["several, each by its own", ["istio", "linkerd"], {}, [istio, linkerd]],
    ["a native one, which is not quit", ["istio, native"], {}, [native]],
    [
      "Istio, asked at a given admin interface, and told to quit at pilot-agent's",
      ["istio"],
      { admin: "http://h:1" },
      ["istio; http://h:1/ready; POST :15020/quitquitquit"],
    ],
    [
      "Envoy at a given admin interface",
      ["envoy"],
      { admin: "unix:/admin.sock" },
      ["envoy; unix:/admin.sock /ready; POST unix:/admin.sock /quitquitquit"],
    ],
    [
      "Linkerd at a given admin interface",
      ["linkerd"],
      { admin: "http://h:1/" },
      ["linkerd; http://h:1/ready; POST http://h:1/shutdown"],
    ],
    ["what was given, where none was found", [], more, ["custom; tcp://db:1; POST http://x/q"]],
    ["a given probe besides its own", ["istio"], { ready: ["tcp://db:1"] }, [istio, "custom; tcp://db:1"]],
    [
      "a given quit instead of its own",
      ["istio"],
      { quit: ["GET http://x/q", "http://x/p"] },
      [`${istioReady}; GET http://x/q; POST http://x/p`],
    ],
    [
      "what was given besides several, whose own quits it replaces",
      ["istio", "linkerd"],
      more,
      [istioReady, linkerdReady, "custom; tcp://db:1; POST http://x/q"],
    ],
    [
      "a given probe besides several, which are quit as ever",
      ["istio", "linkerd"],
      { ready: ["tcp://db:1"] },
      [istio, linkerd, "custom; tcp://db:1"],
    ],
    ["a native one and a given probe", ["istio, native"], { ready: ["tcp://db:1"] }, [native, "custom; tcp://db:1"]],
    [
      "a native one, not quit even at its own endpoint when that is given",
      ["istio, native"],
      { quit: ["http://localhost:15020/quitquitquit"] },
      [native],
    ],
    [
      "a native one and another, and what was given is quit",
      ["istio, native", "linkerd"],
      { quit: ["http://x/q"] },
      [native, linkerdReady, "custom; POST http://x/q"],
    ],
    ["a native one, and one that is told to quit", ["istio, native", "linkerd"], {}, [native, linkerd]],
  ])("%s", (_, sidecars, given, expected) => {
    const names = sidecars.map((each) => each.replace(", native", "") as SidecarName);
    const natives = names.filter((_, at) => sidecars[at]?.endsWith(", native"));
    const pod = { annotations: { "ebb.dev/native": natives.join(",") } };
    expect(plan(names, pod, given).map(inWords)).toEqual([...expected]);
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
    const other = (one: SidecarKind) => one.adjust?.({ env: {}, annotations: new Map() })?.quits?.[0]?.fallback?.target;
    const asked = (one: SidecarKind) => [one.admin, one.ready ?? "", one.quit, other(one)?.authority].join(" ");
    // at these any Envoy is asked what it is
    for (const port of ports.filter((port) => ![9901, 8001, 19000].includes(port))) {
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
