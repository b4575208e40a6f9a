import { runSuite } from "../cluster/suite.ts";
import { contents } from "./images.ts";
import { pythonPackages } from "./python.ts";

await runSuite({
  task: "test:orchestrators",
  folder: "test/orchestrators",
  program: import.meta.path,
  users: ["cluster", "orchestrators"],
  prepare: () => {
    for (const name of ["airflow", "ray"] as const) pythonPackages(name);
  },
  images: contents,
  atOnce: 3, // each is a pod of four to seven containers, with programs that are large
});
