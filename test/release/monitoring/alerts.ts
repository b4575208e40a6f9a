/** Samples of a series, a minute apart, as promtool's tests write them. */
export type Series = Readonly<Record<string, string>>;

/** When an alert fires, and when it does not although something looks like it. */
export interface AlertCase {
  readonly fires: readonly Firing[];
  /** Silent for as long as the first of `fires` is, and ten minutes longer. */
  readonly silent: readonly Series[];
}

/** What an alert fires for. */
interface Firing {
  readonly series: Series;
  /** The minute in which it does first. */
  readonly inMin: number;
  /** The minute in which it does no longer. */
  readonly untilMin?: number;
  /** The labels that it has beside its own. */
  readonly labels?: Readonly<Record<string, string>>;
}

const failOpen = 'apiserver_admission_webhook_fail_open_count{name="inject.ebb.dev",type="admit"}';
const rejection = (name: string, errorType: string) =>
  `apiserver_admission_webhook_rejection_count{name="${name}",type="admit",operation="CREATE",error_type="${errorType}",rejection_code="500"}`;
const ofNamespaces = rejection("namespace.inject.ebb.dev", "calling_webhook_error");
const result = (word: string) => `ebb_webhook_requests_total{result="${word}"}`;
const code = (status: number) => `ebb_webhook_responses_total{code="${status}"}`;
const bucket = (le: string) => `ebb_webhook_request_duration_seconds_bucket{le="${le}"}`;
const expiry = "ebb_webhook_certificate_expiry_timestamp_seconds";
const pods = (reason: string) => `ebb_reaper_pods{reason="${reason}"}`;
const attempts = (outcome: string) => `ebb_reaper_attempts_total{outcome="${outcome}"}`;
const day = 86_400;

/** The cases, by the alert's name. */
export const alertCases: Readonly<Record<string, AlertCase>> = {
  EbbWebhookGone: {
    fires: [{ series: { other: "0x20" }, inMin: 5 }],
    silent: [
      { ebb_webhook_requests_in_flight: "0x20" },
      { ebb_webhook_requests_in_flight: "0 0 _x3 0x20" }, // a replica is replaced
    ],
  },
  EbbWebhookUnanswered: {
    fires: [
      { series: { [failOpen]: "_x11 1x30" }, inMin: 11, untilMin: 21, labels: { name: "inject.ebb.dev" } }, // the first
      { series: { [ofNamespaces]: "7x20 8x5" }, inMin: 21, labels: { name: "namespace.inject.ebb.dev" } }, // another one
    ],
    silent: [
      { [failOpen.replace("inject.ebb.dev", "other.example.com")]: "0+1x30" },
      { [rejection("inject.ebb.dev", "no_error")]: "0+1x30" }, // the webhook's own answer
    ],
  },
  EbbWebhookErrors: {
    fires: [
      { series: { [code(429)]: "0+1x20" }, inMin: 11, labels: { code: "429" } },
      {
        series: { 'ebb_webhook_connections_cut_total{reason="limit"}': "0+1x20" },
        inMin: 11,
        labels: { reason: "limit" },
      },
    ],
    silent: [
      { [code(429)]: "0 0 5x20" }, // a burst
      { [code(200)]: "0+100x20", [code(404)]: "0+1x20" }, // a stranger's
      { 'ebb_webhook_connections_cut_total{reason="idle"}': "0+5x20" },
    ],
  },
  EbbWebhookSlow: {
    fires: [
      { series: { [bucket("1")]: "0+98x30", [bucket("2.5")]: "0+100x30", [bucket("+Inf")]: "0+100x30" }, inMin: 11 },
    ],
    silent: [
      { [bucket("1")]: "0+100x30", [bucket("2.5")]: "0+100x30", [bucket("+Inf")]: "0+100x30" },
      { [bucket("1")]: "5x30", [bucket("2.5")]: "9x30", [bucket("+Inf")]: "9x30" }, // nothing is asked now
    ],
  },
  EbbWebhookCertificateExpires: {
    fires: [{ series: { [expiry]: `${6 * day}x90` }, inMin: 60 }],
    silent: [{ [expiry]: `${10 * day}x90` }, { [expiry]: `0x30 ${30 * day}x60` }], // renewed; made after half an hour
  },
  EbbWebhookRefusesPods: {
    fires: [{ series: { [result("refused")]: "0 0 1x30" }, inMin: 2, untilMin: 17 }],
    silent: [{ [result("refused")]: "3x10", [result("injected")]: "0+9x10" }],
  },
  EbbWebhookSkipsPods: {
    fires: [
      { series: { [result("skipped")]: "0+1x40" }, inMin: 16 },
      { series: { ebb_webhook_unwrapped_containers_total: "0+1x40" }, inMin: 16 },
    ],
    silent: [{ [result("skipped")]: "3x40", [result("injected")]: "0+9x40", [result("unchanged")]: "0+9x40" }],
  },
  EbbReaperGone: {
    fires: [{ series: { other: "0x20" }, inMin: 10 }],
    silent: [
      { ebb_reaper_queue_depth: "0x20" },
      { ebb_reaper_queue_depth: "0 0 _x8 0x20" }, // its pod is replaced on another node
    ],
  },
  EbbReaperLacksRights: {
    fires: [{ series: { ebb_reaper_missing_rights: "2x9" }, inMin: 2 }],
    silent: [{ ebb_reaper_missing_rights: "2 0x9" }],
  },
  EbbReaperGaveUp: {
    fires: [{ series: { [attempts("gave-up")]: "0 0 1x80" }, inMin: 2, untilMin: 62 }],
    silent: [{ [attempts("gave-up")]: "4x9", [attempts("ended")]: "0+3x9" }],
  },
  EbbReaperStuckPods: {
    fires: [
      { series: { [pods("stuck")]: "1x40", [attempts("ended")]: "7x40" }, inMin: 16 },
      { series: { [pods("stuck")]: "400x40", [attempts("ended")]: "0+60x40" }, inMin: 16 },
      { series: { [pods("no-method")]: "1x40", [attempts("ended")]: "0+60x40" }, inMin: 15 },
    ],
    silent: [
      { [pods("stuck")]: "60x40", [attempts("ended")]: "0+60x40" }, // each waits for a minute
      { [pods("stuck")]: "1x12 0x28", [attempts("ended")]: "0x40" }, // given up after three rounds
    ],
  },
  EbbReaperSeesOldPods: {
    fires: [{ series: { ebb_reaper_last_sync_timestamp_seconds: "60x60" }, inMin: 37 }],
    silent: [{ ebb_reaper_last_sync_timestamp_seconds: "0x10 600x10 1200x10 1800x30" }],
  },
  EbbMissingFromPods: {
    fires: [{ series: { 'ebb_reaper_injection_pods{state="missing"}': "1x40" }, inMin: 15 }],
    silent: [
      { 'ebb_reaper_injection_pods{state="missing"}': "1x10 0x30" }, // a rollout
      { 'ebb_reaper_injection_pods{state="other"}': "5x40" },
    ],
  },
};
