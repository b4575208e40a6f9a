import * as z from "zod/mini";

const names = z.catch(z.array(z.string()), []);
const schema = z.object({ containers: names, initContainers: names });

export type IstioStatus = z.infer<typeof schema>;

/**
 * Parses the annotation `sidecar.istio.io/status`: what Istio's injector has added (istio pkg/kube/inject/webhook.go,
 * SidecarInjectionStatus). Empty where it is something else: older injectors know no native sidecars.
 */
export function parseIstioStatus(text: string): IstioStatus {
  const nothing: IstioStatus = { containers: [], initContainers: [] };
  try {
    return schema.safeParse(JSON.parse(text)).data ?? nothing;
  } catch {
    return nothing; // not JSON
  }
}
