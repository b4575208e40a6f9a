import { drainTests } from "../drain.ts";
import { factTests } from "../facts.ts";
import { lifeTests } from "../life.ts";
import { kuma } from "./subject.ts";

const unix = kuma("unix");
lifeTests(unix);
drainTests(unix);
lifeTests(kuma("tcp"));
factTests(unix, {});
factTests(kuma("tcp"), { 404: "POST 9901/nothing", 405: "GET 9901/quitquitquit" });
