import { expect, test } from "bun:test";
import { join } from "node:path";
import { readAuthorities } from "../../../../src/cluster/certificates/held.ts";
import { issueAuthority } from "../../../../src/cluster/certificates/issue.ts";
import { startEbb, temporaryFolder, until } from "../../../harness/ebb.ts";
import { type StandInApi, startStandInApi } from "../../../stand-in/api-server/api-server.ts";
import { json, kubeconfigOf, nonEmpty, portOf, reviewOf, said, webhookFlags } from "./webhook.ts";

// Two replicas that sign with the CA of one Secret, and a client that trusts what the caBundle has at that moment, as the
// API server does.

const SECRET = "/api/v1/namespaces/ebb/secrets/own-certificates";
const CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/own";
const older = { "tls.crt": "b2xk", "tls.key": "a2V5" };

function install(api: StandInApi, data: object): void {
  api.put(SECRET, { apiVersion: "v1", kind: "Secret", metadata: { name: "own-certificates", namespace: "ebb" }, data });
}

const bundleOf = ({ objects }: StandInApi): string =>
  Buffer.from(objects.get(CONFIGURATION).webhooks[0].clientConfig.caBundle ?? "", "base64").toString();

async function startReplica(api: StandInApi) {
  const folder = temporaryFolder();
  const kubeconfig = join(folder.path, "kubeconfig");
  await Bun.write(kubeconfig, kubeconfigOf(api.url));
  const own = ["--name", "own", "--namespace", "ebb", "--certificate-names", "127.0.0.1", "--kubeconfig", kubeconfig];
  const started = startEbb(["webhook", ...webhookFlags, "--health-listen", "127.0.0.1:0", ...own]);
  const port = await portOf(started, "serving admission requests");
  const ask = async (): Promise<string> => {
    const tls = { ca: bundleOf(api) };
    const options = { method: "POST", headers: json, body: JSON.stringify(reviewOf({})), keepalive: false, tls };
    const answer = await fetch(`https://127.0.0.1:${port}/mutate`, options).catch((error: Error) => error);
    return answer instanceof Error ? answer.message : (await answer.text()).replace(/.*"patch":.*/s, "changed");
  };
  const swaps = () => said({ started }, "serving with a new certificate").length;
  const end = async () => {
    await started[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  };
  return { started, ask, swaps, [Symbol.asyncDispose]: end };
}

test("replicas with one CA are trusted, also while another CA takes its place; an older ebb's certificate stays", async () => {
  await using api = startStandInApi();
  const service = { name: "own", namespace: "ebb" };
  api.put(CONFIGURATION, {
    metadata: { name: "own" },
    webhooks: [{ name: "pods.ebb.dev", clientConfig: { service } }],
  });
  install(api, older);
  const replicas = await Promise.all([startReplica(api), startReplica(api)]);
  await using _ = {
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
    },
  };
  await until("the caBundle has a CA", () => nonEmpty(readAuthorities(bundleOf(api))));
  const answers = new Map<string, number>();
  let isOver = false;
  const asking = Promise.all(
    replicas.map(async ({ ask }) => {
      for (; !isOver; ) {
        const answer = await ask();
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
      }
    }),
  );
  const { cert, key } = issueAuthority({ fromMs: Date.now(), untilMs: Date.now() + 3_600_000 });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  install(api, { ...older, "ca.crt": base64(cert), "ca.key": base64(key) });
  await until("both serve what it has signed", () => replicas.every(({ swaps }) => swaps() === 1), 60_000);
  const count = answers.get("changed") ?? 0;
  await until("there are more answers", () => (answers.get("changed") ?? 0) > count + 20 || answers.size > 1, 60_000);
  isOver = true;
  await asking;
  expect([...answers.keys()]).toEqual(["changed"]);
  expect(api.objects.get(SECRET).data).toMatchObject(older);
}, 120_000);
