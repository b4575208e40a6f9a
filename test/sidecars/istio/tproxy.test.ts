import { drainTests } from "../drain.ts";
import { besideIstiod } from "./istiod.ts";
import { istioMesh } from "./subject.ts";

besideIstiod();

drainTests(istioMesh({ interception: "TPROXY" }));
