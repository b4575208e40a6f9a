import { describe, expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { app, changed, type Given, type Loose, podIn, podOf, policy, warnings } from "../injection.ts";

function variables(pod: Loose, at = 0): Readonly<Record<string, string>> {
  const env: readonly { name: string; value: string }[] = pod.spec.containers[at].env ?? [];
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

function hookOf(pod: Loose, at = 0): readonly string[] | undefined {
  return pod.spec.containers[at].lifecycle?.preStop?.exec?.command;
}

const onNode = { hostNetwork: true };
const envoy = { name: "envoy", image: "envoyproxy/envoy:v1.38.0" };
const config = "node: {id: x}\nadmin:\n  address:\n    socket_address: {address: 127.0.0.1, port_value: 19906}\n";
const envoyWithPort = { ...envoy, args: ["--config-yaml", config] };
const vault = { name: "vault-agent", image: "vault" };
const vaultPort = { "vault.hashicorp.com/agent-cache-listener-port": "8300" };

describe("a pod on its node's network", () => {
  test("starts no app whose own variable names a sidecar without a port: ebb run would refuse it", () => {
    const refused = app({ env: [{ name: "EBB_SIDECAR", value: "auto,envoy" }] });
    const given = { containers: [refused, app({ name: "other" })], spec: { ...onNode, restartPolicy: "Never" } };
    const pod = changed(given);
    expect(pod.spec.containers[0]).toEqual(refused);
    expect(pod.spec.containers[1].command[0]).toBe("/ebb.dev/ebb");
    const reason = "it sets EBB_SIDECAR itself, which names envoy without its port, and on the node's network";
    expect(warnings(given)).toContainEqual([
      "spec.containers[0].command",
      expect.stringContaining(`ebb leaves "app" as it is: ${reason}`),
    ] as never);
    for (const more of [
      { name: "EBB_ADMIN", value: "http://localhost:9911" },
      { name: "EBB_ADMIN", valueFrom: {} },
    ]) {
      const named = app({ env: [{ name: "EBB_SIDECAR", value: "envoy" }, more] });
      expect(changed({ containers: [named], spec: onNode }).spec.containers[0].command[0]).toBe("/ebb.dev/ebb");
    }
  });

  test("drains its ordinary proxy where that is named, and nowhere else", () => {
    const hookAt = (given: Given) => hookOf(changed({ ...given, spec: onNode }), 1)?.filter((word) => /=/.test(word));
    expect(hookAt({ containers: [app(), envoyWithPort] })?.[0]).toBe("--sidecar=envoy:19906");
    const annotations = { "ebb.dev/sidecar": "envoy:9911" };
    expect(hookAt({ containers: [app(), envoy], annotations })?.[0]).toBe("--sidecar=envoy:9911");
    const atAdmin = { containers: [app(), envoy], annotations: { "ebb.dev/admin": "http://localhost:9911" } };
    expect(hookAt(atAdmin)?.slice(0, 2)).toEqual(["--sidecar=envoy", "--admin=http://localhost:9911"]);
    const other = { containers: [app(), envoy], annotations: { "ebb.dev/sidecar": "istio:15000" } };
    expect(hookAt(other)).toBeUndefined();
    const inApp = [app({ env: [{ name: "EBB_SIDECAR", value: "envoy:9911" }] }), envoy];
    for (const given of [other, { containers: inApp }]) {
      const [[field, said] = []] = warnings({ ...given, spec: onNode });
      expect(field).toBe("spec.containers[1].lifecycle.preStop");
      expect(said).toContain("no drain hook: nothing names its port");
    }
  });

  test("names its proxy's container, because no port is believed", () => {
    const both = [app(), envoyWithPort, vault];
    const pod = changed({ containers: both, annotations: vaultPort, spec: onNode });
    expect(variables(pod)).toMatchObject({ EBB_HOST_NETWORK: "true", EBB_SIDECAR: "envoy:19906,vault-agent" });
    expect(variables(changed({ containers: both, spec: onNode }))).toMatchObject({ EBB_SIDECAR: "envoy:19906" });
    const others = changed({ containers: [app(), vault], annotations: vaultPort, spec: onNode });
    expect(variables(others)).toMatchObject({ EBB_SIDECAR: "auto,vault-agent" });
  });

  test("stays as it is when it is changed a second time", () => {
    for (const containers of [[app({ ports: [{ containerPort: 80 }] })], [app(), envoy], [app(), envoyWithPort]]) {
      const pod = changed({ containers, spec: onNode });
      expect(injectPod(pod, policy).kind).toBe("unchanged");
    }
  });
});

describe("how long ebb looks for a proxy that is in the pod", () => {
  const istio = { name: "istio-proxy", image: "istio/proxyv2" };
  test.each<[string, Given, string | undefined]>([
    ["as usual, where it is named", { containers: [app(), envoy] }, undefined],
    [
      "a minute, where --admin alone tells",
      { containers: [app(), envoy], annotations: { "ebb.dev/admin": "http://localhost:9000" } },
      "1m",
    ],
    ["as long as is said", { containers: [app(), envoy], annotations: { "ebb.dev/detect-timeout": "5s" } }, "5s"],
    [
      "as usual, where an annotation tells",
      { containers: [app(), istio], annotations: { "sidecar.istio.io/status": "{}" } },
      undefined,
    ],
    ["as usual, where there is none", { containers: [app()] }, undefined],
    ["as usual, beside a companion", { containers: [app(), { name: "vault-agent", image: "vault" }] }, undefined],
    ["not at all, where it is named: on the node's network", { containers: [app(), envoy], spec: onNode }, undefined],
  ])("%s", (_, given, expected) => expect(variables(changed(given)).EBB_DETECT_TIMEOUT).toBe(expected));
});

describe("the ports that containers of the app declare", () => {
  test.each<[string, Given, string | undefined]>([
    ["none", {}, undefined],
    ["one", { containers: [app({ ports: [{ containerPort: 8080 }] })] }, "8080"],
    [
      "those of all of them, once each",
      {
        containers: [
          app({ ports: [{ containerPort: 8080 }, { containerPort: 9901, protocol: "TCP" }] }),
          app({ name: "b", ports: [{ containerPort: 8080 }, { containerPort: 81 }] }),
        ],
      },
      "8080,9901,81",
    ],
    [
      "not those of other protocols",
      { containers: [app({ ports: [{ containerPort: 53, protocol: "UDP" }] })] },
      undefined,
    ],
    ["not those of sidecars", { containers: [app(), { ...envoy, ports: [{ containerPort: 9901 }] }] }, undefined],
    [
      "not those of what its author calls a sidecar",
      {
        annotations: { "ebb.dev/sidecars": "x" },
        containers: [app(), app({ name: "x", ports: [{ containerPort: 1 }] })],
      },
      undefined,
    ],
    [
      "what is no port",
      { containers: [app({ ports: [{ containerPort: "http" }, { containerPort: 70000 }, 5, null] })] },
      undefined,
    ],
  ])("are passed on: %s", (_, given, ports) => {
    expect(variables(changed(given)).EBB_APP_PORT).toBe(ports as string);
  });

  test("are so many at most, whatever a pod declares", () => {
    const ports = Array.from({ length: 5000 }, (_, at) => ({ containerPort: at + 1 }));
    expect(variables(changed({ containers: [app({ ports })] })).EBB_APP_PORT?.split(",")).toHaveLength(50);
  });

  test("give way to what the pod says itself", () => {
    const pod = podIn(
      injectPod(
        podOf({ annotations: { "ebb.dev/app-port": "7" }, containers: [app({ ports: [{ containerPort: 8 }] })] }),
        policy,
      ),
    );
    expect(variables(pod).EBB_APP_PORT).toBe("7");
  });
});
