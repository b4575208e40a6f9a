import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { kubectl, tryKubectl } from "../kubectl.ts";
import { deploymentOf, type KubeObject } from "../objects.ts";
import { type Installation, idle, installation } from "./installation.ts";

// What the API server says of what the chart prints: by default, that is what `ebb manifests` prints. The pods do not start:
// nothing is changed but by kubectl.

describe("kubectl", () => {
  test.concurrent.each([
    ["apply --server-side", / serverside-applied$/, / serverside-applied$/],
    // of a PodDisruptionBudget's selector kubectl always writes a patch, which changes nothing
    ["apply", / (created|configured)$/, / unchanged$|^poddisruptionbudget\S+ configured$/],
  ])("%s takes what is printed, twice, and changes nothing the second time", async (words, first, second) => {
    await using installed = await installation({ ...idle, networkPolicy: true });
    const changed = async () => {
      const { code, stdout, stderr } = await installed.kubectl(...words.split(" "));
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return stdout.trimEnd().split("\n");
    };
    for (const line of await changed()) expect(line).toMatch(first);
    const versions = await versionsOf(installed);
    for (const line of await changed()) expect(line).toMatch(second);
    expect(await versionsOf(installed)).toEqual(versions);
  });

  test.concurrent("apply --dry-run=server has nothing to object to", async () => {
    const registries = { registries: ["quay.io"], pullSecrets: true, registrySecret: "a", registryCaConfigMap: "b" };
    await using installed = await installation({
      networkPolicy: true,
      webhook: { all: true, failurePolicy: "Fail", ...registries },
    });
    const { code, stdout, stderr } = await installed.kubectl("apply", "--server-side", "--dry-run=server");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n")).toHaveLength(installed.objects.length);
  });

  test.concurrent.each(["apply", "apply --server-side"])(
    "%s leaves caBundle and Secret to the webhook",
    async (words) => {
      await using installed = await installation(idle);
      const { here } = installed;
      const name = `${installed.name}-certificates`;
      await here.kubectl("create", "secret", "tls", name, `--cert=${certificate}`, `--key=${certificate}`); // as cert-manager
      const { data } = await here.object<KubeObject & { readonly data: object }>(`secret/${name}`);
      await installed.kubectl(...words.split(" "));
      const caBundle = Buffer.from(await Bun.file(certificate).text()).toString("base64");
      const patch = JSON.stringify([{ op: "add", path: "/webhooks/0/clientConfig/caBundle", value: caBundle }]);
      await kubectl(["patch", registration, installed.name, "--type=json", "-p", patch]);
      expect(await installed.kubectl(...words.split(" "))).toMatchObject({ code: 0, stderr: "" });
      const path = "jsonpath={.webhooks[0].clientConfig.caBundle}";
      expect(await kubectl(["get", registration, installed.name, "-o", path])).toBe(caBundle);
      expect(await here.object(`secret/${name}`)).toMatchObject({
        data,
        metadata: { labels: { "app.kubernetes.io/name": "ebb" } },
      });
    },
  );
});

test.concurrent("Pod Security: the webhook's pods are let in where all is restricted, others are not", async () => {
  await using installed = await installation(idle);
  const { here, name } = installed;
  expect((await installed.kubectl("apply", "--server-side")).stderr).toBe("");
  await here.until("a pod is let in", async () => (await here.pods("app.kubernetes.io/component=webhook")).length > 0);
  const other = deploymentOf("other", { containers: [{ name: "other", image: "localhost/none:1" }] });
  expect((await here.tryApply([other])).stderr).toContain('violate PodSecurity "restricted:latest"');
  const { status } = await here.object<{ status: { conditions: { type: string }[] } }>(`deployment/${name}`);
  expect(status.conditions.map(({ type }) => type)).not.toContain("ReplicaFailure");
});

describe("the webhook's account", () => {
  const own = "OWN";
  const elsewhere = "default";

  test.concurrent("may do what it needs, and nothing else", async () => {
    await using installed = await installation(idle);
    await installed.kubectl("apply", "--server-side");
    const secret = `secrets/${installed.name}-certificates`;
    const ownRegistration = `${registration}/${installed.name}`;
    const expected: [verb: string, what: string, where: string, may: boolean][] = [
      ["create", "secrets", own, false],
      ["get", secret, own, true],
      ["watch", secret, own, true],
      ["update", secret, own, true],
      ["delete", secret, own, false],
      ["get", "secrets/other", own, false],
      ["list", "secrets", own, false],
      ["create", "secrets", elsewhere, false],
      ["get", secret, elsewhere, false],
      ["get", "leases.coordination.k8s.io", own, false],
      ["get", ownRegistration, own, true],
      ["watch", ownRegistration, own, true],
      ["patch", ownRegistration, own, true],
      ["delete", ownRegistration, own, false],
      ["create", registration, own, false],
      ["patch", `${registration}/other`, own, false],
      ["list", registration, own, false],
      ["get", "pods", own, false],
      ["create", "pods", own, false],
      ["get", "configmaps", own, false],
      ["create", "serviceaccounts/token", own, false],
      ["*", "*", own, false],
    ];
    const ask = async ([verb, what, where]: readonly [string, string, string, boolean]) =>
      [verb, what, where, await may(installed, verb, what, where)] as (typeof expected)[number];
    expect(await Promise.all(expected.map(ask))).toEqual(expected);
  });

  test.concurrent("may do nothing at all with cert-manager", async () => {
    await using installed = await installation({ ...idle, webhook: { certManager: true } });
    // a cluster without cert-manager refuses Issuers and Certificates, and takes the others
    await installed.kubectl("apply", "--server-side");
    expect(await installed.here.object(`serviceaccount/${installed.name}`)).toMatchObject({ kind: "ServiceAccount" });
    const asked = [["get", `secrets/${installed.name}-certificates`] as const, ["create", "secrets"] as const];
    for (const [verb, what] of asked) expect(await may(installed, verb, what, own)).toBe(false);
  });

  test.concurrent("may with pullSecrets get Secrets whose names it knows, and do nothing else with them", async () => {
    await using installed = await installation({
      ...idle,
      webhook: { certManager: true, registries: ["quay.io"], pullSecrets: true },
    });
    await installed.kubectl("apply", "--server-side");
    const expected: [verb: string, what: string, may: boolean][] = [
      ["get", "secrets/team-registry", true],
      ...["list", "watch", "create", "update", "patch", "delete"].map((verb): [string, string, boolean] => [
        verb,
        "secrets",
        false,
      ]),
      ["get", "configmaps/x", false],
      ["get", "pods", false],
      ["create", "serviceaccounts/token", false],
    ];
    for (const where of [own, elsewhere]) {
      const ask = async ([verb, what]: readonly [string, string, boolean]) =>
        [verb, what, await may(installed, verb, what, where)] as (typeof expected)[number];
      expect(await Promise.all(expected.map(ask))).toEqual(expected);
    }
  });

  async function may({ here, name }: Installation, verb: string, what: string, where: string): Promise<boolean> {
    const [resource = "", subresource] = what.split("/token");
    const words = ["auth", "can-i", verb, resource, ...(subresource === undefined ? [] : ["--subresource=token"])];
    const place = ["--namespace", where === own ? here.name : where];
    const { stdout, stderr } = await tryKubectl([
      ...words,
      ...place,
      `--as=system:serviceaccount:${here.name}:${name}`,
    ]);
    const [answer = ""] = stdout.trim().split("\n");
    if (answer !== "yes" && answer !== "no") throw new Error(`kubectl auth can-i: ${stdout}${stderr}`);
    return answer === "yes";
  }
});

const registration = "mutatingwebhookconfigurations.admissionregistration.k8s.io";

/** The version of each object's manifest, which a change of it makes another. */
async function versionsOf({ here, name }: Installation): Promise<unknown> {
  const names = [
    `deployment/${name}`,
    `poddisruptionbudget/${name}`,
    `networkpolicy/${name}`,
    `${registration}/${name}`,
  ];
  const all = await Promise.all(names.map((each) => here.object(each)));
  return all.map(({ metadata }) => metadata.generation);
}

/** A file with a certificate and its key. */
const certificate = join(import.meta.dirname, "../../fixtures/localhost.pem");
