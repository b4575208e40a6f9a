import fc from "fast-check";
import { others, valueOfOption } from "../../../build/chart/values.ts";
import {
  installationOptions,
  ofLookUpsAlone,
  ofReaperAlone,
  ofWebhookAlone,
} from "../../../src/core/cli/cluster/installation-options.ts";
import type { Requirement } from "../../../src/core/cli/cluster/label-selector.ts";
import { methodKinds } from "../../../src/core/reap/methods.ts";

// Any installation, as values of the chart and as flags of `ebb manifests`.

/** What is installed, in the words of both. */
export interface Installed {
  readonly release: string;
  readonly namespace: string;
  readonly values: object;
  readonly flags: readonly string[];
  readonly components: readonly string[];
}

/** What an option is set to: the chart's value, and the texts of the flag. */
interface Given {
  readonly value: unknown;
  readonly texts: readonly string[];
}

const same = (value: string | number): Given => ({ value, texts: [String(value)] });
const listed = (all: readonly string[]): Given => ({ value: all, texts: all });
const joined = (all: readonly string[]): Given => ({ value: all, texts: [all.join(",")] });
const some = (...all: readonly string[]) => fc.uniqueArray(fc.constantFrom(...all), { minLength: 1, maxLength: 3 });
const name = fc.constantFrom("a", "true", "1e3", "team-a", "on", "null", "0x10");
const word = fc.constantFrom("shop", "yes", "1", "v1.2_3", "");
const key = fc.constantFrom("app", "example.com/tier", "no", "y");

const requirement: fc.Arbitrary<Requirement> = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom("In" as const, "NotIn" as const),
    values: fc.array(word, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key, operator: fc.constantFrom("Exists" as const, "DoesNotExist" as const) }),
);

const selector = fc.array(requirement, { minLength: 1, maxLength: 3 }).map((value): Given => {
  return { value, texts: [value.map(textOf).join(",")] };
});

function textOf({ key, operator, values = [] }: Requirement): string {
  if (operator === "In" || operator === "NotIn") return `${key} ${operator.toLowerCase()} (${values.join(",")})`;
  return operator === "Exists" ? key : `!${key}`;
}

/** Texts that are something else in YAML, in a template or for a printf, if they are not quoted. */
const words = fc.constantFrom(
  "app=/app --port 80",
  'app=["/a b", "ü\\n", "{{ .Values.all }}"]',
  `web=["/bin/sh", "-c", "exec x: #y %s %d 'z'\\t\\\\"]`,
  "registry.example.com/a=- b: c",
);

/** What an option may be set to, by its key, if its value does not say it. */
const special: Readonly<Record<string, fc.Arbitrary<Given>>> = {
  imagePullSecrets: fc
    .tuple(some("a", "b.c", "true"), fc.boolean())
    .map(([texts, isNamed]) => ({ texts, value: isNamed ? texts.map((each) => ({ name: each })) : texts })),
  selector,
  namespaceSelector: selector,
  timeoutSeconds: fc.integer({ min: 1, max: 30 }).map((value) => ({ value, texts: [`${value}s`] })),
  replicas: fc.integer({ min: 1, max: 999 }).map(same),
  maxRequestBytes: fc.integer({ min: 1, max: 100 }).map((mib) => same(`${mib}Mi`)),
  certificateValidity: fc.integer({ min: 1, max: 9999 }).map((hours) => same(`${hours}h`)),
  caValidity: fc.integer({ min: 1, max: 9999 }).map((hours) => same(`${hours}h`)),
  entrypoint: fc.array(words, { minLength: 1, maxLength: 3 }).map(listed),
  set: some("drain=40s", "grace=10s", "header=a: b # c", "wait-timeout=1m").map(listed),
  registries: some("docker.io", "quay.io", "registry.example.com:5000").map(joined),
  registryMirror: some("docker.io=mirror.example.com/hub", "quay.io=http://mirror:5000").map(listed),
  reapNamespace: some("a", "true", "shop").map(listed),
  methods: fc.shuffledSubarray([...methodKinds], { minLength: 1 }).map(joined),
  schedule: fc.constantFrom("*/5 * * * *", "@hourly", "0 0 1 1 *").map(same),
  priorityClass: name.map(same),
  registrySecret: name.map(same),
  registryCaConfigMap: name.map(same),
};

function anyOf(option: string): fc.Arbitrary<Given> {
  const known = special[option];
  if (known !== undefined) return known;
  const { schema } = valueOfOption(option) ?? {};
  if (schema?.type === "boolean") return fc.constant({ value: true, texts: [] });
  if (Array.isArray(schema?.enum)) return fc.constantFrom(...(schema.enum as string[]).filter(Boolean)).map(same);
  if (typeof schema?.pattern === "string") {
    return fc.stringMatching(new RegExp(schema.pattern)).filter(Boolean).map(same);
  }
  return fc.integer({ min: 1, max: 999_999_999 }).map(same);
}

const keys = Object.keys(installationOptions).filter((option) => !(option in others));
const ofOptions = fc.record(Object.fromEntries(keys.map((option) => [option, anyOf(option)])), { requiredKeys: [] });

const image = fc.record(
  {
    repository: fc.constantFrom("ebb", "registry.example.com:5000/team/ebb"),
    tag: fc.constantFrom("0.1.0", "1.0", "v2-rc.1"),
    digest: fc.constant(`sha256:${"0123456789abcdef".repeat(4)}`),
    pullPolicy: fc.constantFrom("Always", "IfNotPresent", "Never"),
  },
  { requiredKeys: ["repository", "tag"] },
);

const place = fc.record({
  release: fc.constantFrom("ebb", "my-ebb", "prod", "true"),
  namespace: fc.constantFrom("mesh", "true", "1e3", "ebb-system"),
  fullnameOverride: fc.option(fc.constantFrom("second", "on", `a${"b".repeat(39)}`), { nil: undefined }),
});

/** Any installation of one component or both. */
export const installations: fc.Arbitrary<Installed> = fc
  .record({
    place,
    image,
    options: ofOptions,
    components: fc.constantFrom(["webhook"], ["reaper"], ["webhook", "reaper"]),
  })
  .map(({ place: { release, namespace, fullnameOverride }, image, options, components }) => {
    const given = Object.entries(sensible(options, components)) as [keyof typeof installationOptions, Given][];
    const fullname = fullnameOverride ?? (release.includes("ebb") ? release : `${release}-ebb`);
    const reference = `${image.repository}:${image.tag}${image.digest === undefined ? "" : `@${image.digest}`}`;
    const pull = image.pullPolicy === undefined ? [] : [`--image-pull-policy=${image.pullPolicy}`];
    return {
      release,
      namespace,
      components,
      values: valuesOf(given, { image, components, ...(fullnameOverride && { fullnameOverride }) }),
      flags: [`--name=${fullname}`, `--image=${reference}`, ...pull, ...given.flatMap(flagsOf)],
    };
  });

/** Leaves out what ebb refuses, because it would change nothing. */
function sensible(options: Readonly<Record<string, Given | undefined>>, components: readonly string[]) {
  const isIdle = (option: string): boolean => {
    if (option in ofWebhookAlone && !components.includes("webhook")) return true;
    if (option in ofReaperAlone && !components.includes("reaper")) return true;
    if (Object.hasOwn(ofLookUpsAlone, option)) {
      return options.registries === undefined && options.registryMirror === undefined;
    }
    const isOnce = options.schedule !== undefined && !components.includes("webhook");
    return isOnce && ["replicas", "podMonitor"].includes(option);
  };
  return Object.fromEntries(Object.entries(options).filter(([option]) => !isIdle(option)));
}

function flagsOf([option, { texts }]: readonly [keyof typeof installationOptions, Given]): readonly string[] {
  const { flag } = installationOptions[option];
  return texts.length === 0 ? [`--${flag}`] : texts.map((text) => `--${flag}=${text}`);
}

interface Fixed {
  readonly image: object;
  readonly components: readonly string[];
  readonly fullnameOverride?: string;
}

function valuesOf(given: readonly (readonly [string, Given])[], { components, ...fixed }: Fixed): object {
  const values: Record<string, unknown> = { ...fixed };
  for (const component of ["webhook", "reaper"]) values[component] = { enabled: components.includes(component) };
  for (const [option, { value }] of given) {
    const [key = "", above] = (valueOfOption(option)?.path ?? "").split(".").reverse();
    if (above === undefined) values[key] = value;
    else values[above] = { ...(values[above] as object), [key]: value };
  }
  return values;
}
