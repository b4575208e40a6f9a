import { describe, expect, test } from "bun:test";
import { parseHttpTarget } from "../../../src/core/base/address.ts";
import type { SidecarKind } from "../../../src/core/sidecars/kinds/kind.ts";
import type { SidecarUrls } from "../../../src/core/sidecars/own-probes.ts";
import { type FoundSidecar, planSidecars } from "../../../src/core/sidecars/plan.ts";
import { describeProbe, parseProbe } from "../../../src/core/sidecars/probe.ts";
import { describeQuit, parseQuit } from "../../../src/core/sidecars/quit.ts";
import { kindOf, type SidecarName, sidecarNames } from "../../../src/core/sidecars/registry.ts";
import { must } from "./sidecar-texts.ts";

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
