import { lifeTests } from "../life.ts";
import { cloudSqlProxy } from "./subject.ts";

lifeTests(cloudSqlProxy());
