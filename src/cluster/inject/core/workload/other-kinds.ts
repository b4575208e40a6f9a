import { isObject, type JsonObject, listOf, objectOf, textOf } from "../../../../shared/core/json.ts";
import { ASK } from "../annotation-names.ts";
import { readInjectAnnotation } from "../pod-annotations.ts";
import { groupOf } from "./pod-templates.ts";

/**
 * Returns why an object without a pod template that ebb knows is left as it is, and what to do instead. Returns
 * undefined if there is nothing to say: it makes no pods and does not ask for ebb, or it says ebb.dev/inject: "false".
 */
export function whyLeft(object: JsonObject): string | undefined {
  const wish = wishIn(object);
  const isMaker = wish !== false && makesPods(object);
  if (!textOf(object.kind))
    return isMaker || wish === true
      ? "it has no kind, and Kubernetes refuses an object without one: add it"
      : undefined;
  if (isMaker)
    return "its controller composes the pods, and may refuse or drop what is added here; ebb webhook changes them at admission";
  if (wish !== true) return undefined;
  return "it asks for ebb, and has no pod template that ebb knows; if pods are made from it, ebb webhook changes them at admission";
}

/** Kinds whose controllers make pods although their objects hold no containers. */
const composing: ReadonlySet<string> = new Set([
  "sparkoperator.k8s.io SparkApplication",
  "sparkoperator.k8s.io ScheduledSparkApplication",
  "flink.apache.org FlinkDeployment",
  "kafka.strimzi.io Kafka",
  "kafka.strimzi.io KafkaNodePool",
  "kafka.strimzi.io KafkaConnect",
  "kafka.strimzi.io KafkaBridge",
  "kafka.strimzi.io KafkaMirrorMaker2",
]);

function makesPods(object: JsonObject): boolean {
  const group = groupOf(object);
  if (composing.has(`${group} ${textOf(object.kind)}`)) return true;
  return group !== "kyverno.io" && holdsContainers(object); // Kyverno's policies have patterns of containers
}

/** The deepest that containers and annotations are looked for in an object. */
const DEEPEST = 16;

/** Reports whether a value holds containers anywhere: Kubernetes' own, or the steps of Argo's or Tekton's tasks. */
function holdsContainers(value: unknown, depth = DEEPEST): boolean {
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.some((item) => holdsContainers(item, depth - 1));
  return Object.entries(objectOf(value)).some(
    ([name, inner]) => isContainers(name, inner) || holdsContainers(inner, depth - 1),
  );
}

function isContainers(name: string, value: unknown): boolean {
  const hasImage = (one: unknown) => textOf(objectOf(one).image) !== undefined;
  if (name === "containers") return listOf(value).some(isObject);
  if (name === "steps") return listOf(value).some(hasImage);
  return (name === "container" || name === "script") && hasImage(value);
}

/**
 * Returns what annotations anywhere in an object say of ebb, by the field `annotations` or one of a name such as
 * `podAnnotations`: true if one asks for ebb, or tries to; false if one says "false"; undefined if none says anything.
 */
function wishIn(value: unknown, depth = DEEPEST): boolean | undefined {
  if (depth === 0) return undefined;
  const inner = isObject(value) ? Object.entries(value) : listOf(value).map((item) => ["", item] as const);
  const wishes = inner.map(([name, one]) => {
    const own = /annotations$/i.test(name) ? readInjectAnnotation({ [ASK]: objectOf(one)[ASK] }) : undefined;
    return own === undefined ? wishIn(one, depth - 1) : own !== false;
  });
  return wishes.find((wish) => wish === true) ?? wishes.find((wish) => wish === false);
}
