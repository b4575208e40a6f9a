import { kindOf, type SidecarName, sidecarNames } from "./registry.ts";

/** Those that stand beside an app, too, but are nothing to wait for: OpenTelemetry's operator, Jaeger's, X-Ray, OPA-Envoy. */
const others = /^(otc-container|jaeger-agent|xray-daemon|opa-istio|opa-envoy)$/;

/** Returns which known sidecar a container is, by its name or image; undefined where it is none. */
export function sidecarIn(name: string, image: string | undefined): SidecarName | undefined {
  const base = image === undefined ? undefined : baseOf(image);
  return sidecarNames.find((sidecar) => {
    const marks = kindOf(sidecar).containers();
    return marks.name.test(name) || (base !== undefined && marks.image?.test(base) === true);
  });
}

/**
 * Whether a container is a sidecar, by its name or image: of a kind that ebb knows, or a well-known helper such as a log shipper.
 */
export function isSidecar(name: string, image: string | undefined): boolean {
  return others.test(name) || sidecarIn(name, image) !== undefined;
}

/** `envoy` for `docker.io/envoyproxy/envoy:v1.31@sha256:...`. */
function baseOf(image: string): string {
  const name = withoutTag(image);
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Returns an image's name without tag and digest; a registry's port stays. */
export function withoutTag(image: string): string {
  const [name = ""] = image.split("@", 1);
  const colon = name.indexOf(":", name.lastIndexOf("/") + 1);
  return colon < 0 ? name : name.slice(0, colon);
}
