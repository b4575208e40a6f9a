import { runSuite } from "../cluster/suite.ts";
import { contents } from "./images.ts";

await runSuite({
  task: "test:orchestrators",
  folder: "test/orchestrators",
  program: import.meta.path,
  users: ["cluster", "orchestrators"],
  images: contents,
  atOnce: 3, // each is a pod of four to seven containers, with programs that are large
});
