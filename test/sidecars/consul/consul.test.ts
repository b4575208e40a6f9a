import { drainTests } from "../drain.ts";
import { factTests } from "../facts.ts";
import { lifeTests } from "../life.ts";
import { consul } from "./subject.ts";

lifeTests(consul);
drainTests(consul);
factTests(consul, { 404: "POST 19000/nothing", 405: "GET 19000/quitquitquit" }, [20_600]);
