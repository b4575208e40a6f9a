import { drainTests } from "../drain.ts";
import { lifeTests } from "../life.ts";
import { kuma } from "./subject.ts";

const unix = kuma("unix");
lifeTests(unix);
drainTests(unix);
lifeTests(kuma("tcp"));
