import { describe, expect, test } from "bun:test";
import { told } from "./stuck-containers.ts";
import { ending } from "./stuck-methods.ts";
import { ended, type PodInWords, running } from "./stuck-pods.ts";

describe("a sidecar is ended by", () => {
  const withEbb = {
    "istio-proxy": { state: running, spec: { volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }] } },
  };
  const istio = [
    "exec in istio-proxy: pilot-agent request POST quitquitquit",
    "POST localhost:15020/quitquitquit through a port-forward",
    "ephemeral container: ebb quit --sidecar istio --quit POST http://localhost:15020/quitquitquit",
  ];

  test.each<[string, string, Partial<PodInWords>, readonly string[]]>([
    ["its own command, its port, or ebb put into the pod", "istio-proxy", {}, istio],
    [
      "ebb in it, before its own command",
      "istio-proxy",
      { containers: withEbb },
      [
        "exec in istio-proxy: /ebb.dev/ebb quit --sidecar istio --quit POST http://localhost:15020/quitquitquit",
        ...istio,
      ],
    ],
    [
      "the port that its pod has moved it to",
      "istio-proxy",
      { annotations: { "status.sidecar.istio.io/port": "16020" } },
      [
        istio[0] as string,
        "POST localhost:16020/quitquitquit through a port-forward",
        "ephemeral container: ebb quit --sidecar istio --quit POST http://localhost:16020/quitquitquit",
      ],
    ],
    [
      "its Envoy's own quit, where its pod has closed that port",
      "istio-proxy",
      { annotations: { "status.sidecar.istio.io/port": "0" } },
      [
        istio[0] as string,
        "POST localhost:15000/quitquitquit through a port-forward",
        "ephemeral container: ebb quit --sidecar istio --quit POST http://localhost:15000/quitquitquit",
      ],
    ],
    [
      "no other host that its pod may name",
      "istio-proxy",
      { annotations: { "status.sidecar.istio.io/port": "1@example.com" } },
      istio,
    ],
    [
      "ebb in it, which has its token there",
      "daprd",
      { containers: { daprd: { state: running, spec: { volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }] } } } },
      [
        "exec in daprd: /ebb.dev/ebb quit --sidecar dapr",
        "POST localhost:3500/v1.0/shutdown through a port-forward",
        "ephemeral container: ebb quit --sidecar dapr",
      ],
    ],
    [
      "its port, where its image has no command for it",
      "linkerd-proxy",
      {},
      [
        "POST localhost:4191/shutdown through a port-forward",
        "ephemeral container: ebb quit --sidecar linkerd --quit POST http://localhost:4191/shutdown",
      ],
    ],
    [
      "ebb, which looks for an Envoy's admin interface where its usual port is closed",
      "envoy",
      {},
      ["POST localhost:9901/quitquitquit through a port-forward", "ephemeral container: ebb quit --sidecar envoy"],
    ],
    [
      "the admin port that its annotation names",
      "kuma-sidecar",
      { annotations: { "kuma.io/envoy-admin-port": "9911" } },
      [
        "POST localhost:9911/quitquitquit through a port-forward",
        "ephemeral container: ebb quit --sidecar kuma --quit POST http://localhost:9911/quitquitquit",
      ],
    ],
    [
      "the request that its pod names, even if that is the usual one",
      "envoy",
      { annotations: { "ebb.dev/reap-quit.envoy": "http://localhost:9901/quitquitquit" } },
      [
        "POST localhost:9901/quitquitquit through a port-forward",
        "ephemeral container: ebb quit --sidecar envoy --quit POST http://localhost:9901/quitquitquit",
      ],
    ],
    [
      "each port of several services",
      "consul-dataplane-a",
      { annotations: { "consul.hashicorp.com/connect-service": "a,b" } },
      [
        "POST localhost:19000/quitquitquit, POST localhost:19001/quitquitquit through a port-forward",
        "ephemeral container: ebb quit --sidecar consul --quit POST http://localhost:19000/quitquitquit --quit POST http://localhost:19001/quitquitquit",
      ],
    ],
    [
      "the port that its variable tells the app",
      "daprd",
      { containers: { app: { state: ended(0), spec: { env: [{ name: "DAPR_HTTP_PORT", value: "3600" }] } } } },
      ["POST localhost:3600/v1.0/shutdown through a port-forward", "ephemeral container: ebb quit --sidecar dapr"],
    ],
    [
      "the Cloud SQL Auth Proxy's own command",
      "cloud-sql-proxy",
      {},
      [
        "exec in cloud-sql-proxy: /cloud-sql-proxy shutdown --admin-port 9091",
        "POST localhost:9091/quitquitquit through a port-forward",
        "ephemeral container: ebb quit --sidecar cloud-sql-proxy --quit POST http://localhost:9091/quitquitquit",
      ],
    ],
    [
      "the command that the pod gives, before all else",
      "istio-proxy",
      { annotations: { "ebb.dev/reap-exec.istio-proxy": '["/stop", "now please"]' } },
      ["exec in istio-proxy: /stop ...", ...istio.slice(1)],
    ],
    [
      "the request that the pod gives, instead of its own",
      "istio-proxy",
      { annotations: { "ebb.dev/reap-quit.istio-proxy": "PUT http://127.0.0.1:7/bye?now" } },
      [
        "PUT localhost:7/bye?now through a port-forward",
        "ephemeral container: ebb quit --sidecar istio --quit PUT http://127.0.0.1:7/bye?now",
      ],
    ],
    [
      "the request that the pod gives, though ebb does not know it",
      "fluent-bit",
      { annotations: { "ebb.dev/reap-quit.fluent-bit": "http://localhost:2020/quit" } },
      [
        "POST localhost:2020/quit through a port-forward",
        "ephemeral container: ebb quit --sidecar none --quit POST http://localhost:2020/quit",
      ],
    ],
    [
      "ebb in it by the request that the pod gives, though ebb does not know it",
      "fluent-bit",
      {
        annotations: { "ebb.dev/reap-quit.fluent-bit": "http://localhost:2020/quit" },
        containers: {
          "fluent-bit": { state: running, spec: { volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }] } },
        },
      },
      [
        "exec in fluent-bit: /ebb.dev/ebb quit --sidecar none --quit POST http://localhost:2020/quit",
        "POST localhost:2020/quit through a port-forward",
        "ephemeral container: ebb quit --sidecar none --quit POST http://localhost:2020/quit",
      ],
    ],
    [
      "its ports alone, where there are several of its kind",
      "csql-a",
      {
        containers: {
          "csql-a": { state: running, spec: { image: "cloud-sql-proxy:2" } },
          app: {
            state: ended(0),
            spec: {
              env: [
                {
                  name: "CSQL_PROXY_QUIT_URLS",
                  value: "http://localhost:9091/quitquitquit http://localhost:9092/quitquitquit",
                },
                { name: "y" },
              ],
            },
          },
        },
      },
      [
        "POST localhost:9091/quitquitquit, POST localhost:9092/quitquitquit through a port-forward",
        "ephemeral container: ebb quit --sidecar cloud-sql-proxy --quit POST http://localhost:9091/quitquitquit --quit POST http://localhost:9092/quitquitquit",
      ],
    ],
    [
      "a command alone on the node's network, where the ports may be other pods'",
      "istio-proxy",
      { spec: { hostNetwork: true }, annotations: { "ebb.dev/reap-exec.istio-proxy": "/stop" } },
      ["exec in istio-proxy: /stop"],
    ],
    [
      "no more ephemeral containers than five",
      "linkerd-proxy",
      { ephemeralContainers: Object.fromEntries([1, 2, 3, 4, 5].map((each) => [`ebb-reaper-${each}`, ended(1)])) },
      ["POST localhost:4191/shutdown through a port-forward"],
    ],
  ])("%s", (_, name, more, methods) => {
    expect(told(ending(name, more))).toEqual([...methods]);
  });

  test("what is allowed, in that order", () => {
    expect(told(ending("istio-proxy", {}, ["ephemeral", "exec"]))).toEqual([istio[2] as string, istio[0] as string]);
  });
});
