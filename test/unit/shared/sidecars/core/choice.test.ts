import { expect, test } from "bun:test";
import { formatChoice, foundByName, parseChoice } from "../../../../../src/shared/sidecars/core/choice.ts";
import { detect, withNamed } from "../../../../../src/shared/sidecars/core/detect.ts";
import { planSidecars } from "../../../../../src/shared/sidecars/core/plan.ts";
import { describeProbe } from "../../../../../src/shared/sidecars/core/probe.ts";
import { serializeQuit } from "../../../../../src/shared/sidecars/core/quit.ts";
import { istioStatus } from "./detected.ts";

test.each<[string, string | undefined]>([
  ["auto", "auto"],
  ["none", "none"],
  [" none,", "none"],
  ["linkerd, istio,istio", "istio,linkerd"],
  ["cloud-sql-proxy:9092", "cloud-sql-proxy:9092"],
  ["envoy,envoy:9901,envoy:9901", "envoy:9901"],
  ["envoy:9901,envoy:9902", undefined],
  ["envoy,envoy:9902", undefined],
  ["alloydb-auth-proxy:9092,auto,envoy", "auto,envoy,alloydb-auth-proxy:9092"],
  ["", undefined],
  [",", undefined],
  ["none,istio", undefined],
  ["auto:9092", undefined],
  ["istio:", undefined],
  ["istio:0", undefined],
  ["istio:65536", undefined],
  ["istio:15000:1", undefined],
  ["constructor", undefined],
])("%p is read as %p", (text, formatted) => {
  const choice = parseChoice(text);
  expect(choice && formatChoice(choice)).toBe(formatted as string);
});

const nothing = { env: {}, annotations: new Map<string, string>() };
const named = (text: string) => foundByName(nothing, parseChoice(text)?.named ?? []);

test("a port moves what is asked at the admin interface", () => {
  const [proxy] = planSidecars(named("cloud-sql-proxy:9092"), { admin: undefined, ready: [], quit: [] });
  expect(proxy?.quits.map(serializeQuit)).toEqual(["POST http://localhost:9092/quitquitquit"]);
  expect(proxy?.ready.map(describeProbe)).toEqual(["tcp://localhost:9092"]);
});

test.each<[string, Record<string, string>, string[], string, boolean]>([
  ["auto,cloud-sql-proxy", {}, ["cloud-sql-proxy"], "--sidecar", false],
  ["auto,envoy", {}, ["envoy"], "--sidecar", true],
  ["auto", {}, [], "nothing", false],
  [
    "auto,cloud-sql-proxy",
    { "sidecar.istio.io/status": istioStatus },
    ["cloud-sql-proxy", "istio"],
    "--sidecar, annotation sidecar.istio.io/status",
    true,
  ],
  [
    "auto,istio",
    { "sidecar.istio.io/status": istioStatus },
    ["istio"],
    "--sidecar, annotation sidecar.istio.io/status",
    true,
  ],
])("%s beside %j", (text, annotations, names, by, hasProxy) => {
  const pod = { env: {}, annotations: new Map(Object.entries(annotations)) };
  const detected = withNamed(detect({ ...pod, atAdmin: undefined, byPort: [] }), named(text));
  expect(detected.found.map(({ name }) => name as string)).toEqual(names);
  expect(detected).toMatchObject({ by: by === "nothing" ? undefined : by, hasProxy });
});
