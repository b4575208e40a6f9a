// bun with-images.ts WORD... runs `bun WORD...` in the namespaces of a cluster, with the images and the variables of the
// cluster's tests.
import { runWithImages } from "../../cluster/suite.ts";

process.exit(await runWithImages([process.execPath, ...process.argv.slice(2)]));
