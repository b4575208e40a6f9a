// A mutating webhook like a mesh's: it puts a sidecar called `envoy` into each pod that has none.
interface Review {
  readonly request: { readonly uid: string; readonly object: { readonly spec: { readonly containers: Named[] } } };
}

interface Named {
  readonly name: string;
}

const sidecar = { name: "envoy", image: process.argv[2], args: ["-c", "/etc/envoy/envoy.yaml"] };
const add = [{ op: "add", path: "/spec/containers/-", value: sidecar }];

Bun.serve({
  port: 8443,
  tls: { cert: Bun.file("/certificates/tls.crt"), key: Bun.file("/certificates/tls.key") },
  async fetch(asked) {
    if (asked.method === "GET") return new Response("ok");
    const { request } = (await asked.json()) as Review;
    const isThere = request.object.spec.containers.some(({ name }) => name === sidecar.name);
    const patch = isThere ? {} : { patchType: "JSONPatch", patch: btoa(JSON.stringify(add)) };
    const response = { uid: request.uid, allowed: true, ...patch };
    return Response.json({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response });
  },
});
