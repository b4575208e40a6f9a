import { installationOptions, ofReaperAlone, ofWebhookAlone } from "../../src/core/cli/cluster/installation-options.ts";
import type { Option } from "../../src/core/cli/option.ts";
import { positive } from "../../src/core/cli/syntax.ts";
import { patterns } from "../../src/core/image/reference.ts";
import { podOptions } from "../../src/core/inject/pod-annotations.ts";
import { methodKinds } from "../../src/core/reap/methods.ts";

// The values of the chart, from the options of `ebb manifests`: each has the name of its key in the table of options.

/** A JSON schema, draft 7. */
export type Schema = Readonly<Record<string, unknown>>;

/** A value of the chart. */
export interface Value {
  /** `webhook.all`. */
  readonly path: string;
  /** What stands in values.yaml: if that is empty, the option is not given. */
  readonly initial: unknown;
  /** What it is for and, in a second line, its flag. */
  readonly comment: string;
  readonly schema: Schema;
  /** Returns the lines of the template that print its arguments, if it is given; undefined: as one text. */
  readonly args?: (expression: string, flag: string) => readonly string[];
}

/** The options that are no values of the same name, and why. */
export const others: Readonly<Record<string, string>> = {
  namespace: "Helm's --namespace",
  name: "fullnameOverride, or the release's name",
  image: "image.repository, image.tag and image.digest",
  imagePullPolicy: "image.pullPolicy",
};

type Kind = Omit<Value, "path" | "comment"> & {
  /** A value in YAML. */
  readonly example?: string;
  /** The default, where the flag's syntax is another. */
  readonly initially?: string;
};

const labelKey = { type: "string", minLength: 1, maxLength: 317 };
const requirement = (operators: readonly string[], values: Schema) => ({
  type: "object",
  additionalProperties: false,
  properties: { key: labelKey, operator: { enum: operators }, ...values },
});
const ofSet = {
  ...requirement(["In", "NotIn"], { values: { type: "array", minItems: 1, items: { type: "string", maxLength: 63 } } }),
  required: ["key", "operator", "values"],
};
const ofKey = { ...requirement(["Exists", "DoesNotExist"], {}), required: ["key", "operator"] };

const boolean: Kind = {
  initial: false,
  schema: { type: "boolean" },
  args: (expression, flag) => [`{{- if ${expression} }}`, `- --${flag}`, "{{- end }}"],
};
const text = (schema: Schema): Kind => ({ initial: "", schema: { type: "string", ...schema } });
const pattern = (expected: string): Kind => text({ pattern: `^(${expected})?$` });
const words = (all: readonly string[]): Kind => text({ enum: ["", ...all] });
const number: Kind = {
  initial: null,
  schema: { type: ["integer", "null"], minimum: 1, maximum: 999_999_999 },
  args: (expression, flag) => withLine(expression, `--${flag}=%d`, "int64 ."),
};
const listOf = (example: string, items: Schema): Kind => ({
  initial: [],
  example,
  schema: { type: "array", items: { type: "string", minLength: 1, ...items } },
  args: (expression, flag) => [`{{- range ${expression} }}`, `- {{ printf "--${flag}=%s" . | quote }}`, "{{- end }}"],
});
const unique = (kind: Kind): Kind => ({ ...kind, schema: { ...kind.schema, uniqueItems: true } });
const joinedOf = (example: string, items: Schema): Kind => ({
  ...unique(listOf(example, items)),
  args: (expression, flag) => withLine(expression, `--${flag}=%s`, 'join "," .'),
});
const requirements: Kind = {
  initial: [],
  example: '[{key: mesh, operator: In, values: ["on"]}]', // `on` without quotes is true
  schema: { type: "array", items: { oneOf: [ofSet, ofKey] } },
  args: (expression, flag) => withLine(expression, `--${flag}=%s`, 'include "ebb.selector" .'),
};

function withLine(expression: string, format: string, argument: string): readonly string[] {
  return [
    `{{- with ${expression} }}`,
    `- {{ printf "${format}" (${argument}) | quote }}`.replace("(.)", "."),
    "{{- end }}",
  ];
}

// at most two parts, so that none is longer than Go's longest duration
const aboveZero = "[1-9][0-9]{0,4}(ms|s|m|h|d)([1-9][0-9]{0,3}(ms|s|m))?";
const duration = `0s|${aboveZero}`;
const label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
const name = `${label}(\\.${label}){0,3}`;
const path = "(/[^/\\s?#]+)*/?";
/** What ebb refuses in a list of registries, because these words are not names there. */
const notNames = { not: { enum: ["all", "none"] } };
const hours = (example: string, initially: string): Kind => ({ ...pattern("[1-9][0-9]{0,5}h"), example, initially });

/** The kinds of values that an option's declaration does not say. */
const special: Readonly<Record<string, Kind>> = {
  replicas: { initial: 2, schema: { type: "integer", minimum: 1, maximum: 999 } },
  imagePullSecrets: {
    initial: [],
    example: "[regcred]",
    schema: {
      type: "array",
      items: {
        oneOf: [
          { type: "string", pattern: `^${name}$` },
          {
            type: "object",
            additionalProperties: false,
            required: ["name"],
            properties: { name: { type: "string", pattern: `^${name}$` } },
          },
        ],
      },
    },
  },
  priorityClass: pattern(name),
  selector: requirements,
  namespaceSelector: requirements,
  failurePolicy: { initial: "Ignore", schema: { enum: ["Ignore", "Fail"] } },
  timeoutSeconds: { initial: 10, schema: { type: "integer", minimum: 1, maximum: 30 } },
  maxRequestBytes: { ...pattern("[1-9][0-9]{0,3}Mi"), example: "20Mi" },
  certificateValidity: hours("2160h", "720h"),
  caValidity: hours("17520h", "8760h"),
  registries: joinedOf('["docker.io"]', { pattern: `^${patterns.host}$`, ...notNames }),
  registryMirror: listOf('["docker.io=mirror.example.com/hub"]', {
    pattern: `^${patterns.host}=(https?://)?${patterns.host}${path}$`,
  }),
  registrySecret: pattern(name),
  registryCaConfigMap: pattern(name),
  entrypoint: listOf('["app=/app --port 80"]', { pattern: "^[^=]+=." }),
  set: listOf('["drain=40s"]', { pattern: `^(${[...podOptions.keys()].join("|")})=.` }),
  reapNamespace: unique(listOf("[shop]", { pattern: `^${label}$` })),
  methods: joinedOf("[exec]", { enum: methodKinds }),
  schedule: pattern("(@[a-z]+( \\S+)?|[0-9A-Za-z*,/?-]+( [0-9A-Za-z*,/?-]+){4})"),
};

function kindOf(key: string, { value, syntax }: Option<unknown>): Kind {
  const known = special[key];
  if (known !== undefined) return known;
  if (value === undefined) return boolean;
  if (syntax.words !== undefined) return words(syntax.words);
  if (value === "D") return pattern(syntax === positive ? aboveZero : duration);
  if (value === "N") return number;
  throw new Error(`${key}: say in build/chart/values.ts what its value is`);
}

/** Returns the value of an option of `ebb manifests`; undefined for those that are not values. */
export function valueOfOption(key: string): Value | undefined {
  const option: Option<unknown> | undefined = (installationOptions as Record<string, Option<unknown>>)[key];
  if (option === undefined || key in others) return undefined;
  const parent = key in ofWebhookAlone ? "webhook." : key in ofReaperAlone ? "reaper." : "";
  const { flag, help, initially: optionsOwn, value } = option;
  const { example, initially = optionsOwn, ...kind } = kindOf(key, option);
  const isShown = String(kind.initial ?? "") === "" && !["", "none", "false"].includes(initially);
  const words = [
    `--${flag}${value === undefined ? "" : ` ${value}`}`,
    ...(example === undefined ? [] : [`here such as ${example}`]),
    ...(isShown ? [`default: ${initially}`] : []),
  ];
  return { path: `${parent}${key}`, comment: `${help}\n${words.join("; ")}`, ...kind };
}

/** Returns the lines of the template that print the arguments of an option, if it is given. */
export function argsOf(key: string): readonly string[] {
  const option = (installationOptions as Record<string, Option<unknown>>)[key] as Option<unknown>;
  const { flag } = option;
  if (key === "image") return [`- --${flag}={{ include "ebb.image" . }}`];
  if (key === "imagePullPolicy") return withLine(".Values.image.pullPolicy", `--${flag}=%s`, ".");
  const value = valueOfOption(key);
  if (value === undefined) throw new Error(`${key} is no value`);
  const lines = value.args ?? ((expression: string) => withLine(expression, `--${flag}=%s`, "."));
  return lines(`.Values.${value.path}`, flag);
}
