import { drainTests } from "../drain.ts";
import { lifeTests } from "../life.ts";
import { consul } from "./subject.ts";

lifeTests(consul);
drainTests(consul);
