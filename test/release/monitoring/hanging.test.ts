import { expect, test } from "bun:test";
import { type AlertRule, hangingAlerts, hangingPath } from "../../../build/monitoring/monitoring.ts";
import { type SidecarName, sidecarNames } from "../../../src/shared/sidecars/core/registry.ts";
import type { AlertCase, Series } from "./alerts.ts";
import { promtool, testRule } from "./promtool.ts";

// The alert about pods that hang asks kube-state-metrics alone: v2.20.0 internal/store/pod.go:463-511 and 1006.

/** A container that runs, waits (to be started again, too), or has ended. */
type State = "running" | "waiting" | "terminated";

/** The state of a container in each minute: "running x 4, terminated x 30". */
type States = readonly (readonly [state: State, minutes: number])[];

const forEver = (state: State): States => [[state, 40]];
const [runs, waits] = [forEver("running"), forEver("waiting")];
const ended: States = forEver("terminated");

interface PodStates {
  readonly containers: Readonly<Record<string, States>>;
  readonly initContainers?: Readonly<Record<string, States>>;
}

/** Returns what kube-state-metrics has of a pod. */
function seriesOf({ containers, initContainers = {} }: PodStates, pod = "report-x"): Series {
  const of = (prefix: string, all: PodStates["containers"]) =>
    Object.entries(all).flatMap(([container, states]) =>
      (["running", "waiting", "terminated"] as const).map((state) => {
        const labels = `{namespace="shop",pod="${pod}",uid="0b6b1c5e",container="${container}"}`;
        const samples = states.map(([each, minutes]) => `${each === state ? 1 : 0}x${minutes - 1}`);
        return [`${prefix}_status_${state}${labels}`, samples.join(" ")] as const;
      }),
    );
  return Object.fromEntries([
    ...of("kube_pod_container", containers),
    ...of("kube_pod_init_container", initContainers),
  ]);
}

const labels = { namespace: "shop", pod: "report-x" };
const fires = (states: PodStates["containers"], inMin = 10) => ({
  series: seriesOf({ containers: states }),
  inMin,
  labels,
});

/** Names of each sidecar's containers, as its injector or its users give them. */
const names: Readonly<Record<SidecarName, readonly string[]>> = {
  istio: ["istio-proxy"],
  envoy: ["envoy", "envoy-proxy", "envoy-sidecar"],
  linkerd: ["linkerd-proxy"],
  kuma: ["kuma-sidecar"],
  consul: ["consul-dataplane", "consul-dataplane-web"],
  dapr: ["daprd"],
  "vault-agent": ["vault-agent"],
  "cloud-sql-proxy": ["cloud-sql-proxy", "cloudsql-proxy", "csql-default-db"],
  "alloydb-auth-proxy": ["alloydb-proxy", "alloydb-auth-proxy"],
};

const silent: Readonly<Record<string, PodStates>> = {
  "the app runs": { containers: { app: runs, "istio-proxy": runs } },
  "another app runs": { containers: { app: ended, log: runs, "istio-proxy": runs } },
  "the app waits to be started again": { containers: { app: waits, "istio-proxy": runs } },
  "the app crashes every five minutes": {
    containers: {
      app: Array.from(
        { length: 6 },
        () =>
          [
            ["terminated", 1],
            ["waiting", 3],
            ["running", 2],
          ] as const,
      ).flat(),
      "istio-proxy": runs,
    },
  },
  "the app has ended, and its sidecar does nine minutes later": {
    containers: {
      app: ended,
      "istio-proxy": [
        ["running", 10],
        ["terminated", 30],
      ],
    },
  },
  "all have ended": { containers: { app: ended, "istio-proxy": ended } },
  "the sidecar is native": { containers: { app: ended }, initContainers: { "istio-proxy": runs } },
  "there is no other container": { containers: { envoy: runs } },
  "there is no sidecar": { containers: { app: ended, metrics: runs } },
  "the app's container has a sidecar's name within its own": { containers: { app: ended, "my-envoy": runs } },
};

const rule = hangingAlerts[0] as AlertRule;

function expectPasses(cases: AlertCase): void {
  expect(testRule(hangingPath, rule, cases)).toMatchObject({ code: 0, said: expect.stringContaining("SUCCESS") });
}

test("promtool takes the rule", () => {
  expect(hangingAlerts.length).toBe(1);
  expect(promtool("check", "rules", hangingPath)).toMatchObject({ code: 0 });
});

test.each(sidecarNames)("it fires for a pod that hangs because of %s", (name) => {
  const hung = names[name].map((container) => fires({ app: ended, [container]: runs }));
  expectPasses({ fires: hung, silent: [] });
});

test("it fires for several apps when the last has ended, and for several sidecars while one runs", () => {
  const late: States = [
    ["running", 5],
    ["terminated", 35],
  ];
  expectPasses({
    fires: [
      fires({ app: ended, upload: late, "istio-proxy": runs }, 15),
      fires({ app: ended, "istio-proxy": ended, "vault-agent": runs }),
      {
        ...fires({
          app: ended,
          "istio-proxy": [
            ["running", 20],
            ["terminated", 20],
          ],
        }),
        untilMin: 20,
      },
    ],
    silent: [],
  });
});

test("it fires for one pod beside another that is well", () => {
  const hung = fires({ app: ended, daprd: runs });
  const well = seriesOf({ containers: { app: runs, daprd: runs } }, "report-y");
  expectPasses({ fires: [{ ...hung, series: { ...hung.series, ...well } }], silent: [] });
});

test.each(Object.entries(silent))("it is silent where %s", (_, states) => {
  expectPasses({ fires: [fires({ app: ended, "istio-proxy": runs })], silent: [seriesOf(states)] });
});
