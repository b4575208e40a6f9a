import { runSuite } from "../../cluster/suite.ts";

await runSuite({
  task: "test:release",
  folder: "test/release/cluster",
  program: import.meta.path,
  users: ["cluster", "release"],
});
