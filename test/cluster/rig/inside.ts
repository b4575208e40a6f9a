import { makeCertificates } from "./certificates.ts";
import { startApiServer, startControllers } from "./control-plane.ts";
import { prepareMachine } from "./machine.ts";
import { startContainerd, startKubelet, startKubeProxy } from "./node.ts";
import { environmentIn, type Place, partsVariable, placeOf } from "./place.ts";

// bun inside.ts FOLDER KUBERNETES COMMAND... starts a Kubernetes, in namespaces of its own (enter.ts), and runs the
// command with it. All that it starts ends with it.

const [folder = "", kubernetes = "", ...command] = process.argv.slice(2);
process.exit(await main(placeOf(folder, kubernetes)));

async function main(place: Place): Promise<number> {
  await start(place);
  return await Bun.spawn(command, { env: environmentIn(place), stdio: ["inherit", "inherit", "inherit"] }).exited;
}

async function start(place: Place): Promise<void> {
  const begin = performance.now();
  await prepareMachine(place);
  await makeCertificates(place);
  if (process.env[partsVariable] === "api-server") return await startApiServer(place);
  await Promise.all([startApiServer(place), startContainerd(place)]);
  startControllers(place);
  await Promise.all([startKubelet(place), startKubeProxy(place)]);
  console.log(`Kubernetes is ready: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
}
