import { lifeTests } from "../life.ts";
import { daprd } from "./subject.ts";

lifeTests(daprd("daprd-1.14"));
lifeTests(daprd("daprd-1.18"));
