// bun empty-api.ts PORT is the API server of a cluster that has nothing in it. istiod does not start without one, even
// if all of its configuration comes from files.

const kinds: Readonly<Record<string, string>> = {
  configmaps: "ConfigMap",
  customresourcedefinitions: "CustomResourceDefinition",
  endpointslices: "EndpointSlice",
  ingressclasses: "IngressClass",
  ingresses: "Ingress",
  mutatingwebhookconfigurations: "MutatingWebhookConfiguration",
  namespaces: "Namespace",
  nodes: "Node",
  pods: "Pod",
  secrets: "Secret",
  services: "Service",
  serviceaccounts: "ServiceAccount",
  validatingwebhookconfigurations: "ValidatingWebhookConfiguration",
};

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  idleTimeout: 0,
  fetch({ method, url }) {
    const { pathname, searchParams } = new URL(url);
    if (pathname === "/version") return Response.json({ major: "1", minor: "36", gitVersion: "v1.36.0" });
    const resource = pathname.slice(pathname.lastIndexOf("/") + 1);
    const kind = kinds[resource];
    if (method !== "GET" || kind === undefined) return status(404, "NotFound");
    if (searchParams.has("sendInitialEvents")) return status(422, "Invalid"); // then it lists
    if (searchParams.has("watch")) return new Response(new ReadableStream({}), { headers: json });
    const [, , group = "v1", version] = pathname.split("/");
    const apiVersion = pathname.startsWith("/apis/") ? `${group}/${version}` : group;
    return Response.json({ kind: `${kind}List`, apiVersion, metadata: { resourceVersion: "1" }, items: [] });
  },
});

const json = { "content-type": "application/json" };
console.log("listening");

function status(code: number, reason: string): Response {
  return Response.json({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason }, { status: code });
}
