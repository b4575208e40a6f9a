import { runSuite } from "./suite.ts";

await runSuite({ task: "test:cluster", folder: "test/cluster", program: import.meta.path, users: ["cluster"] });
