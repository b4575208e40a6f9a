import { makeCertificates } from "./certificates.ts";
import { startApiServer, startControllers } from "./control-plane.ts";
import { prepareMachine } from "./machine.ts";
import { importImage, startContainerd, startKubelet, startKubeProxy } from "./node.ts";
import { type Place, placeOf } from "./place.ts";

// bun inside.ts FOLDER KUBERNETES COMMAND...: in namespaces that are nobody else's (enter.ts), starts a Kubernetes and runs the
// command with it. All that it starts ends with it.

const [folder = "", kubernetes = "", ...command] = process.argv.slice(2);
process.exit(await main(placeOf(folder, kubernetes)));

async function main(place: Place): Promise<number> {
  await start(place);
  const env = {
    ...process.env,
    PATH: `${kubernetes}:${process.env.PATH}`,
    KUBECONFIG: place.at("admin.kubeconfig"),
    EBB_TEST_LOAD: importImage.join(" "),
  };
  return await Bun.spawn(command, { env, stdio: ["inherit", "inherit", "inherit"] }).exited;
}

async function start(place: Place): Promise<void> {
  const begin = performance.now();
  await prepareMachine(place);
  await makeCertificates(place);
  await Promise.all([startApiServer(place), startContainerd(place)]);
  startControllers(place);
  await Promise.all([startKubelet(place), startKubeProxy(place)]);
  console.log(`Kubernetes is ready: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
}
