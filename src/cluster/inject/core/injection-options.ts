import { list, option, optional } from "../../../shared/cli/core/option.ts";
import { boolean, oneOf, syntax } from "../../../shared/cli/core/syntax.ts";
import { HIDDEN } from "../../../shared/core/redact.ts";
import { parseCommandLine } from "../../../shared/core/text.ts";
import { parseReference } from "../../image/core/reference.ts";
import { annotationOptions } from "./pod-annotations.ts";

/** The options about the change of pods, which `ebb inject`, `ebb webhook` and `ebb manifests` have in common. */
export const injectionOptions = {
  image: optional({
    flag: "image",
    group: "injection",
    value: "IMAGE",
    syntax: syntax(
      (name) => (parseReference(name) === undefined ? undefined : name),
      "an image such as registry.example.com/ebb:0.1.0",
    ),
    secret: false,
    help: "the image that pods copy or mount ebb from, with ebb at /ebb",
    brief: "an image with ebb at /ebb",
  }),
  imagePullPolicy: optional({
    flag: "image-pull-policy",
    group: "injection",
    value: "Always|IfNotPresent|Never",
    initially: "the cluster's",
    syntax: oneOf(["Always", "IfNotPresent", "Never"]),
    help: "when the kubelet pulls --image",
  }),
  all: option({
    flag: "all",
    group: "injection",
    initial: false,
    syntax: boolean,
    help: 'change every pod except those with ebb.dev/inject: "false"',
    brief: "every pod that does not opt out",
  }),
  volume: option({
    flag: "volume",
    group: "injection",
    value: "emptyDir|image",
    initial: "emptyDir",
    syntax: oneOf(["emptyDir", "image"]),
    help: "how ebb gets into the pod: image, mounted (what each node needs: ebb help versions); emptyDir, copied by an init container",
    brief: "how ebb gets into the pod",
  }),
  entrypoint: list({
    flag: "entrypoint",
    group: "injection",
    value: "NAME=WORDS",
    separator: "\n",
    syntax: syntax(
      parseEntrypoint,
      'the container or image, and its command line: app=/app --port 80, or app=["/app", "--port", "80"] where words contain spaces or quotes',
    ),
    secret: false,
    help: "the command line of a container, or of all containers of an image, if the manifest has no command; ebb then asks no registry",
  }),
  set: list({
    flag: "set",
    group: "injection",
    value: "OPTION=VALUE",
    separator: "\n",
    syntax: syntax(parseSetting, "an option of ebb run and its value, such as drain=40s", shownSetting),
    help: "an option of ebb run for all pods; a pod's annotation ebb.dev/OPTION overrides it",
    brief: "an option of ebb run for all pods",
  }),
};

/** The name of a container or an image, and the words of its command line. */
type Entrypoint = readonly [name: string, words: readonly string[]];

function parseEntrypoint(given: string): Entrypoint | undefined {
  const [, name = "", text = ""] = /^([^=]+)=(.+)$/s.exec(given) ?? [];
  const words = parseCommandLine(text);
  return name === "" || words === undefined ? undefined : [name, words];
}

function parseSetting(given: string): readonly [option: string, value: string] | undefined {
  const [, name = "", value = ""] = /^([a-z][a-z-]*)=(.+)$/s.exec(given) ?? [];
  return name === "" ? undefined : [name, value];
}

function shownSetting(given: string): string {
  if (annotationOptions.has(given)) return given; // its value is missing
  const equals = given.indexOf("=");
  const shown = annotationOptions.get(given.slice(0, Math.max(equals, 0)))?.shown;
  return shown === undefined ? HIDDEN : given.slice(0, equals + 1) + shown(given.slice(equals + 1));
}
