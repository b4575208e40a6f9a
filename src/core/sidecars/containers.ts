import { kindOf, type SidecarName, sidecarNames } from "./registry.ts";

/** Those that stand beside an app, too, but are nothing to wait for: OpenTelemetry's operator, Jaeger's, X-Ray, OPA-Envoy. */
const others = /^(otc-container|jaeger-agent|xray-daemon|opa-istio|opa-envoy)$/;

/** The sidecar that this container of a pod is, by its name or its image; undefined: none that ebb knows. */
export function sidecarIn(name: string, image: string | undefined): SidecarName | undefined {
  const base = image === undefined ? undefined : baseOf(image);
  return sidecarNames.find((sidecar) => {
    const marks = kindOf(sidecar).containers();
    return marks.name.test(name) || (base !== undefined && marks.image?.test(base) === true);
  });
}

export function isSidecar(name: string, image: string | undefined): boolean {
  return others.test(name) || sidecarIn(name, image) !== undefined;
}

/** `envoy` for `docker.io/envoyproxy/envoy:v1.31@sha256:...`. */
function baseOf(image: string): string {
  const name = withoutTag(image);
  return name.slice(name.lastIndexOf("/") + 1);
}

/** The image's name without tag and digest; a port of its registry stays. */
export function withoutTag(image: string): string {
  const [name = ""] = image.split("@", 1);
  const colon = name.indexOf(":", name.lastIndexOf("/") + 1);
  return colon < 0 ? name : name.slice(0, colon);
}
