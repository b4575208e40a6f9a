import { expect, test } from "bun:test";
import { type MethodKind, methodKinds } from "../../../src/cluster/reaper/core/methods.ts";
import { rightsNeeded } from "../../../src/cluster/reaper/core/rights.ts";
import type { Any } from "../../binary/cluster/printed-manifests.ts";
import { type Objects, render } from "./rendered.ts";

// What the accounts may do. Helm 3 and 4 print the same.

/** A permission as text: `get secrets/NAME in mesh`, or `... everywhere`. */
type Right = string;

/** Returns what an account may do by all bindings, sorted. */
function rightsOf(account: string, objects: Objects): readonly Right[] {
  const bindings = Object.values(objects).filter(
    ({ subjects = [] }) => subjects.length === 1 && subjects[0].name === account && subjects[0].namespace === "mesh",
  );
  const rights = bindings.flatMap(({ kind, metadata: { namespace }, roleRef }) => {
    expect(roleRef.kind).toBe(kind.replace("Binding", ""));
    const role =
      objects[`${roleRef.kind} ${[undefined, "mesh"].includes(namespace) ? "" : `${namespace}/`}${roleRef.name}`];
    return role.rules.flatMap((rule: Any) => rightsByRule(rule, namespace));
  });
  return rights.toSorted();
}

function rightsByRule({ apiGroups, resources, resourceNames = [undefined], verbs }: Any, namespace?: string): Right[] {
  return verbs.flatMap((verb: string) =>
    apiGroups.flatMap((group: string) =>
      resources.flatMap((resource: string) =>
        resourceNames.map((name: string) => textOf({ verb, group, resource, name, namespace })),
      ),
    ),
  );
}

interface RightWords {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

function textOf({ verb, group, resource, name, namespace }: RightWords): Right {
  const [kind, of] = [[resource, group].filter(Boolean).join("."), name === undefined ? "" : ` ${name}`];
  return `${verb} ${kind}${of}${namespace === undefined ? " everywhere" : ` in ${namespace}`}`;
}

const someMethods: readonly (readonly MethodKind[])[] = [[], ["exec"], ["port-forward", "ephemeral"], methodKinds];
const reapers = someMethods.flatMap((methods) =>
  [[], ["shop", "bank"]].flatMap((reapNamespace) =>
    [false, true].map((dryRun) => ({ methods, reapNamespace, dryRun })),
  ),
);

test.each(reapers)(
  "the reaper may do what it needs, and nothing else: %j",
  async ({ methods, reapNamespace, dryRun }) => {
    const objects = await render("helm-4", { reaper: { enabled: true, methods, reapNamespace, dryRun } });
    const usable = methods.length === 0 ? methodKinds : methods;
    const needed = rightsNeeded({ namespaces: reapNamespace, methods: usable, onlyLooks: dryRun });
    expect(rightsOf("ebb-reaper", objects)).toEqual(needed.map(textOf).toSorted());
  },
);

const own = [
  "get mutatingwebhookconfigurations.admissionregistration.k8s.io ebb-webhook everywhere",
  "get secrets ebb-webhook-certificates in mesh",
  "list mutatingwebhookconfigurations.admissionregistration.k8s.io ebb-webhook everywhere",
  "list secrets ebb-webhook-certificates in mesh",
  "patch mutatingwebhookconfigurations.admissionregistration.k8s.io ebb-webhook everywhere",
  "update secrets ebb-webhook-certificates in mesh",
  "watch mutatingwebhookconfigurations.admissionregistration.k8s.io ebb-webhook everywhere",
  "watch secrets ebb-webhook-certificates in mesh",
];
const pullSecrets = { pullSecrets: true, registries: ["docker.io"] };

test.each<[string, object, readonly Right[]]>([
  ["by default", {}, own],
  ["with cert-manager", { certManager: true }, []],
  ["with pullSecrets", pullSecrets, [...own, "get secrets everywhere"].toSorted()],
  ["with both", { ...pullSecrets, certManager: true }, ["get secrets everywhere"]],
])("the webhook may %s do this", async (_, webhook, expected) => {
  const objects = await render("helm-4", { webhook });
  expect(rightsOf("ebb-webhook", objects)).toEqual(expected);
  const { automountServiceAccountToken } = objects["Deployment ebb-webhook"].spec.template.spec;
  expect(automountServiceAccountToken).toBe(expected.length > 0);
});
