// bun with-images.ts OUTPUT quick|all NAME=PATH... runs inside.ts with the same words in the namespaces of a cluster, with the
// images of the cluster's tests, and one of each of these ebbs.
import { join } from "node:path";
import { ebbConfig } from "../../../build/image/oci.ts";
import { runWithImages } from "../../cluster/suite.ts";

const [, , output = "", how = "", ...ebbs] = process.argv;
const images = ebbs.map((word) => {
  const [name = "", path = ""] = word.split("=");
  return [name, () => ({ files: { ebb: path }, config: ebbConfig })] as const;
});
const command = [process.execPath, join(import.meta.dirname, "inside.ts"), output, how, ...ebbs];
process.exit(await runWithImages(command, Object.fromEntries(images)));
