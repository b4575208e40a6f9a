import { baseName } from "../../shared/core/text.ts";
import { kindOf, type SidecarName, sidecarNames } from "../../shared/sidecars/core/registry.ts";

/** Containers that run beside an app too, but need no waiting: OpenTelemetry's operator, Jaeger's, X-Ray, OPA-Envoy. */
const others = /^(otc-container|jaeger-agent|xray-daemon|opa-istio|opa-envoy)$/;

/** Returns which known sidecar a container is, by its name or its image. Returns undefined if it is none of them. */
export function sidecarIn(name: string, image: string | undefined): SidecarName | undefined {
  const base = image === undefined ? undefined : baseOf(image);
  return sidecarNames.find((sidecar) => {
    const { shared, ...marks } = kindOf(sidecar).containers();
    const isShared = shared?.name.test(name) === true && (base === undefined || shared.image.test(base));
    return isShared || marks.name.test(name) || (base !== undefined && marks.image?.test(base) === true);
  });
}

/** Reports whether a container, by its name or image, is a sidecar that ebb knows or one of the helpers in `others`. */
export function isSidecar(name: string, image: string | undefined): boolean {
  return others.test(name) || sidecarIn(name, image) !== undefined;
}

/** Returns `envoy` for `docker.io/envoyproxy/envoy:v1.31@sha256:...`. */
export function baseOf(image: string): string {
  return baseName(withoutTag(image));
}

/** Returns the name of an image without its tag and digest. A registry's port stays. */
export function withoutTag(image: string): string {
  const [name = ""] = image.split("@", 1);
  const colon = name.indexOf(":", name.lastIndexOf("/") + 1);
  return colon < 0 ? name : name.slice(0, colon);
}
