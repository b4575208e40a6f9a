import { childPath } from "../../harness/compiled.ts";

export const quitPath = "/quitquitquit";

export const request = [`POST ${quitPath}`];

export const app = ["--", childPath(), "exit", "7"];
