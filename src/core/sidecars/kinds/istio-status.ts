import * as z from "zod/mini";

const names = z.catch(z.array(z.string()), []);
const schema = z.object({ containers: names, initContainers: names });

export type IstioStatus = z.infer<typeof schema>;

/**
 * What Istio's injector says that it has added (annotation `sidecar.istio.io/status`; istio pkg/kube/inject/webhook.go,
 * SidecarInjectionStatus). Nothing, where it is not that: older injectors, which know no native sidecars.
 */
export function parseIstioStatus(text: string): IstioStatus {
  const nothing: IstioStatus = { containers: [], initContainers: [] };
  try {
    return schema.safeParse(JSON.parse(text)).data ?? nothing;
  } catch {
    return nothing; // not JSON
  }
}
