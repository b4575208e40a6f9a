import { describe, expect, test } from "bun:test";
import { readCommandCall } from "../../../../../src/shared/cli/core/call.ts";
import { options } from "../../../../../src/shared/cli/core/options.ts";
import { adminNamedBy, annotatedIn, detect } from "../../../../../src/shared/sidecars/core/detect.ts";
import { findingAt, suggestedBy } from "../../../../../src/shared/sidecars/core/identify.ts";
import type { Annotations } from "../../../../../src/shared/sidecars/core/kinds/kind.ts";
import { planSidecars } from "../../../../../src/shared/sidecars/core/plan.ts";
import { describeQuit } from "../../../../../src/shared/sidecars/core/quit.ts";

/** All quits that these variables come to, in a pod with these annotations and listening ports. */
function quits(env: Readonly<Record<string, string>>, annotations: Annotations, ports: readonly number[]): string[] {
  const { values } = readCommandCall(options, { args: ["app"], env });
  const byPort = suggestedBy(new Set(ports)).map(({ name, port }) => ({ name, by: `port ${port}` }));
  const pod = { env, annotations };
  const naming = adminNamedBy(pod, values.admin);
  const signs = { listening: new Set(ports), annotated: annotatedIn(pod) };
  const atAdmin = values.admin && naming ? findingAt(values.admin, naming, { kind: "silent" }, signs) : undefined;
  const { found } = detect({ ...pod, atAdmin, byPort });
  return planSidecars(found, values).flatMap((sidecar) => sidecar.quits.map(describeQuit));
}

const none: Annotations = new Map();
const nativeIstio: Annotations = new Map([["sidecar.istio.io/status", '{"initContainers":["istio-proxy"]}']]);
const ENVOY_ADMIN_API = "http://127.0.0.1:15000";
const ISTIO_QUIT_API = "http://127.0.0.1:15020";
const GENERIC_QUIT_ENDPOINTS = "http://127.0.0.1:9091/quitquitquit";
const istio = "POST http://localhost:15020/quitquitquit";
const istioGiven = "POST http://127.0.0.1:15020/quitquitquit";
const generic = `POST ${GENERIC_QUIT_ENDPOINTS}`;

describe("what other tools' variables name is quit, and so is the mesh's sidecar:", () => {
  test.each<[string, Readonly<Record<string, string>>, Annotations, readonly number[], readonly string[]]>([
    ["an admin interface", { ENVOY_ADMIN_API }, none, [15020], [istio]],
    ["an admin interface beside no agent", { ENVOY_ADMIN_API }, none, [], [`POST ${ENVOY_ADMIN_API}/quitquitquit`]],
    ["a quit interface", { ISTIO_QUIT_API }, none, [], [istioGiven]],
    ["both interfaces", { ENVOY_ADMIN_API, ISTIO_QUIT_API }, none, [], [istioGiven]],
    ["a quit interface and more", { ISTIO_QUIT_API, GENERIC_QUIT_ENDPOINTS }, none, [], [istioGiven, generic]],
    ["an admin interface and more", { ENVOY_ADMIN_API, GENERIC_QUIT_ENDPOINTS }, none, [15020], [istio, generic]],
    ["more, beside Istio", { GENERIC_QUIT_ENDPOINTS }, none, [15021], [istio, generic]],
    [
      "another tool's more, beside Istio",
      { CSQL_PROXY_QUIT_URLS: GENERIC_QUIT_ENDPOINTS },
      none,
      [15021],
      [istio, generic],
    ],
    ["more, beside an Istio that is native", { GENERIC_QUIT_ENDPOINTS }, nativeIstio, [15021], [generic]],
    ["more, and no sidecar", { GENERIC_QUIT_ENDPOINTS }, none, [], [generic]],
  ])("%s", (_, env, annotations, ports, expected) => {
    expect(quits(env, annotations, ports).toSorted()).toEqual(expected.toSorted());
  });
});
