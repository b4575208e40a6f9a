import { readdirSync } from "node:fs";
import { join } from "node:path";
import { envoyMissing, envoyPath } from "../../../build/setup/envoy.mjs";
import { triplets } from "../../../build/setup/packages.mjs";
import type { Content } from "../content.ts";
import { librariesOf, missing } from "../libraries.ts";
import { istioBootstrap, istioProgram } from "./programs.ts";

/** Returns the content of istiod's image, as in Istio's pilot/docker/Dockerfile.pilot. */
export function istiod(): Content {
  const program = "usr/local/bin/pilot-discovery";
  return {
    files: { [program]: istioProgram("pilot-discovery") },
    config: { User: "1337:1337", Entrypoint: [`/${program}`] },
  };
}

/**
 * Returns the content of the image of Istio's proxy, as in Istio's pilot/docker/Dockerfile.proxyv2, but with an Envoy
 * that lacks Istio's own filters.
 */
export function istioProxy(): Content {
  const envoy = envoyPath() ?? missing(envoyMissing);
  return {
    files: {
      "usr/local/bin/pilot-agent": istioProgram("pilot-agent"),
      "usr/local/bin/envoy": envoy,
      "var/lib/istio/envoy/envoy_bootstrap_tmpl.json": istioBootstrap(),
      ...librariesOf(envoy),
      ...iptables(),
    },
    config: { Entrypoint: ["/usr/local/bin/pilot-agent"] },
  };
}

/** Returns Debian's iptables, for the init container that redirects a pod's traffic. One program has all its names. */
function iptables(): Content["files"] {
  const program = "/usr/sbin/xtables-nft-multi";
  const names = ["iptables", "ip6tables"].flatMap((name) => [name, `${name}-save`, `${name}-restore`]);
  const extensions = `/usr/lib/${triplets[process.arch as keyof typeof triplets]}/xtables`;
  return {
    ...Object.fromEntries(names.map((name) => [`usr/sbin/${name}`, program])),
    ...librariesOf(program),
    ...Object.fromEntries(
      readdirSync(extensions).map((name) => [join(extensions, name).slice(1), join(extensions, name)]),
    ),
  };
}
