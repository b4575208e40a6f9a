import * as z from "zod/mini";

const names = z.catch(z.array(z.string()), []);
const schema = z.object({ containers: names, initContainers: names });

/** The names of the containers that Istio's injector has added to a pod. */
export type IstioStatus = z.infer<typeof schema>;

/**
 * Parses the JSON of the annotation `sidecar.istio.io/status`, which lists what Istio's injector has added (istio
 * pkg/kube/inject/webhook.go, SidecarInjectionStatus). A list is empty if it is missing or not a list of texts: older
 * injectors write no initContainers.
 */
export function parseIstioStatus(text: string): IstioStatus {
  const nothing: IstioStatus = { containers: [], initContainers: [] };
  try {
    return schema.safeParse(JSON.parse(text)).data ?? nothing;
  } catch {
    return nothing; // not JSON
  }
}
