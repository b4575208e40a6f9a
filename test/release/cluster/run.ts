import { dirname } from "node:path";
import { runSuite } from "../../cluster/suite.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { programsOf } from "../../sidecars/programs.ts";

// The rig takes containerd from PATH. Debian 12's has no image volumes.
const folders = programsOf("release").map((name) => dirname(compiledProgram(name).path));
process.env.PATH = [...folders, process.env.PATH].join(":");

await runSuite({
  task: "test:release",
  folder: "test/release/cluster",
  program: import.meta.path,
  users: ["cluster", "release"],
});
