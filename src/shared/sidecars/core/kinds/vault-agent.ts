import { type Annotations, adminOn, type SidecarKind, saysYes } from "./kind.ts";

/**
 * Vault Agent. Its quit (vault command/agent.go, handleQuit) answers 404 if it is off, and 405 to all but POST. The
 * annotations are those of vault-k8s, agent-inject/agent/{annotations,config}.go: without agent-enable-quit or a cache
 * the agent listens nowhere. It has no readiness endpoint: its init container has rendered the secrets before the app
 * starts. A Vault server's port is 8200 too, so it is not detected by ports. A second quit panics in the handler, and a
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
  adjust: ({ annotations }) => adminOn(annotations.get("vault.hashicorp.com/agent-cache-listener-port")),
  refusals: () => ({
    404: 'Vault Agent\'s shutdown endpoint is off: annotate the pod with vault.hashicorp.com/agent-enable-quit: "true"',
    405: "Vault Agent accepts only POST; use --quit 'POST http://localhost:8200/agent/v1/quit'",
  }),
  unreachable: () =>
    'Vault Agent opens a port only if it is configured to: annotate the pod with vault.hashicorp.com/agent-enable-quit: "true" (its port is vault.hashicorp.com/agent-cache-listener-port, 8200 by default)',
  // vault-k8s: agent-inject/agent/container_sidecar.go
  containers: () => ({ name: /^vault-agent$/ }),
  quitIsOff,
  programs: ["vault"],
  annotationPrefixes: ["vault.hashicorp.com/"],
} as const satisfies SidecarKind;

/** Its injector's annotation is `agent-inject`; the status comes with the container. */
function quitIsOff(annotations: Annotations): string | undefined {
  const isOn = (name: string) => saysYes(annotations.get(`vault.hashicorp.com/${name}`));
  if (!isOn("agent-inject") || isOn("agent-pre-populate-only") || isOn("agent-enable-quit")) return undefined;
  return 'Vault Agent cannot be shut down: annotate the pod with vault.hashicorp.com/agent-enable-quit: "true"';
}

/** What ebb knows of this sidecar, and how it is known; `readFacts` parses it. */
export const facts = `
admin | read vault-k8s v1.7.6 agent-inject/agent/config.go:286-338 | it listens only with agent-enable-quit or a cache
quit | read vault 0063586d command/agent.go, handleQuit | a second request panics in the handler; a signal after a request ends the agent with 2
refusals | read vault 0063586d command/agent.go, handleQuit
found | read vault-k8s v1.7.6 agent-inject/agent/agent.go:595-730 | \`agent-pre-populate-only\` leaves no sidecar
moved | read vault-k8s v1.7.6 agent-inject/agent/annotations.go:527 | \`vault.hashicorp.com/agent-cache-listener-port\`
container | read vault-k8s v1.7.6 agent-inject/agent/container_sidecar.go:23 and 107
`;
