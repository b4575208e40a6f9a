import { type Adjustment, type Annotations, type OwnPod, onPort, portOf, type SidecarKind, saysYes } from "./kind.ts";

/**
 * Vault Agent. Its quit (vault command/agent.go, handleQuit) answers 404 if it is off, and 405 to all but POST. The
 * annotations are those of vault-k8s, agent-inject/agent/{annotations,config}.go: without agent-enable-quit or a cache
 * the agent listens nowhere. It has no readiness endpoint: its init container has rendered the secrets before the app
 * starts, unless agent-pre-populate is false: then its port, which it opens as it starts, is all that can be asked. A Vault
 * server's port is 8200 too, so it is not detected by ports. A second quit panics in the handler, and a
 * signal after a quit ends the agent with 2: both close the same channel.
 */
export const vaultAgent = {
  role: "helper",
  admin: "http://localhost:8200",
  drainPath: undefined,
  ready: undefined,
  readyPath: undefined,
  quit: "http://localhost:8200/agent/v1/quit",
  quitPath: "/agent/v1/quit",
  quitMustNotRepeat: true,
  ports: [],
  annotation: "vault.hashicorp.com/agent-inject-status",
  isInjected: (annotations) => !saysYes(annotations.get("vault.hashicorp.com/agent-pre-populate-only")),
  isNative: () => false,
  adjust,
  refusals: () => ({
    404: 'Vault Agent\'s shutdown endpoint is off: annotate the pod with vault.hashicorp.com/agent-enable-quit: "true"',
    405: "Vault Agent accepts only POST; use --quit 'POST http://localhost:8200/agent/v1/quit'",
  }),
  unreachable: () =>
    'Vault Agent opens a port only if it is configured to: annotate the pod with vault.hashicorp.com/agent-enable-quit: "true" (its port is vault.hashicorp.com/agent-cache-listener-port, 8200 by default)',
  // vault-k8s: agent-inject/agent/container_sidecar.go
  containers: () => ({ name: /^vault-agent$/ }),
  // vault command/agent.go, exit-after-auth: it ends once it has a token
  inManifest: ({ words }) => ({ quitIsOn: words.some((word) => /^--?exit-after-auth(=true)?$/.test(word)) }),
  quitIsOff,
  filesComeLate,
  programs: ["vault"],
  annotationPrefixes: ["vault.hashicorp.com/"],
} as const satisfies SidecarKind;

const PREFIX = "vault.hashicorp.com/";

function isOn(annotations: Annotations, name: string): boolean {
  return saysYes(annotations.get(`${PREFIX}${name}`));
}

/** Reports whether no init container has rendered the secrets before (vault-k8s: parseutil.ParseBool). */
function startsEmpty(annotations: Annotations): boolean {
  return /^(0|f|false|)$/i.test(annotations.get(`${PREFIX}agent-pre-populate`) ?? "true");
}

/** A configuration in a ConfigMap may say anything. */
function adjust({ annotations }: OwnPod): Adjustment {
  const port = portOf(annotations.get(`${PREFIX}agent-cache-listener-port`));
  const listens = isOn(annotations, "agent-cache-enable") || isOn(annotations, "agent-enable-quit");
  const isKnown = listens && !annotations.has(`${PREFIX}agent-configmap`);
  const { address } = onPort(port ?? 8200, "");
  return {
    ...(port !== undefined && { admin: `http://localhost:${port}` }),
    ...(isKnown && startsEmpty(annotations) && { ready: [{ kind: "connect", address }] }),
  };
}

/** The most files that a message names. */
const MOST_FILES = 3;

function filesComeLate(annotations: Annotations): string | undefined {
  if (!isOn(annotations, "agent-inject") || isOn(annotations, "agent-pre-populate-only")) return undefined;
  if (!startsEmpty(annotations)) return undefined;
  const files = secretFiles(annotations).slice(0, MOST_FILES);
  const targets = (files.length > 0 ? files : ["/vault/secrets/NAME"]).map((file) => `file:${file}?nonempty`);
  return `Vault Agent has written no secret when the app starts, because vault.hashicorp.com/agent-pre-populate is false: set ebb.dev/ready: ${targets.join(",")}`;
}

/** Returns where the agent writes the secrets (vault-k8s: agent-inject/agent/{annotations,config}.go, secrets, newTemplateConfigs). */
function secretFiles(annotations: Annotations): readonly string[] {
  const files = new Set<string>();
  for (const name of annotations.keys()) {
    const [, raw] = /^vault\.hashicorp\.com\/agent-inject-(?:secret|template(?:-file)?)-(.+)$/.exec(name) ?? [];
    if (raw === undefined) continue;
    const own = (about: string) => annotations.get(`${PREFIX}${about}-${raw}`) ?? annotations.get(`${PREFIX}${about}`);
    const file = annotations.get(`${PREFIX}agent-inject-file-${raw}`);
    const isKept = saysYes(own("preserve-secret-case"));
    files.add(`${own("secret-volume-path") ?? "/vault/secrets"}/${file ?? (isKept ? raw : raw.toLowerCase())}`);
  }
  return [...files];
}

/** Its injector's annotation is `agent-inject`; the status comes with the container. */
function quitIsOff(annotations: Annotations, isShown: boolean): string | undefined {
  const is = (name: string) => isOn(annotations, name);
  if (is("agent-pre-populate-only") || is("agent-enable-quit")) return undefined;
  const annotate = 'annotate the pod with vault.hashicorp.com/agent-enable-quit: "true"';
  if (is("agent-inject")) return `Vault Agent cannot be shut down: ${annotate}`;
  // the file with its configuration is elsewhere
  return isShown
    ? `Vault Agent can be shut down only if a listener in its configuration has agent_api { enable_quit = true }; then ${annotate}`
    : undefined;
}

/** What ebb knows of this sidecar, and how it is known; `readFacts` parses it. */
export const facts = `
admin | read vault-k8s v1.7.6 agent-inject/agent/config.go:286-338 | it listens only with agent-enable-quit or a cache
ready | read vault-k8s v1.7.6 agent-inject/agent/{agent.go:665, config.go:286-338} | with \`agent-pre-populate: "false"\` no init container has written the secrets: ebb waits for its port, if it has one
quit | read vault 0063586d command/agent.go, handleQuit | a second request panics in the handler; a signal after a request ends the agent with 2
refusals | read vault 0063586d command/agent.go, handleQuit
found | read vault-k8s v1.7.6 agent-inject/agent/agent.go:595-730 | \`agent-pre-populate-only\` leaves no sidecar
moved | read vault-k8s v1.7.6 agent-inject/agent/annotations.go:527 | \`vault.hashicorp.com/agent-cache-listener-port\`
container | read vault-k8s v1.7.6 agent-inject/agent/container_sidecar.go:23 and 107
`;
