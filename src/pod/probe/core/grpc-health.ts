import { errorTexts } from "../../../shared/core/system-error.ts";
import { excerpt } from "../../../shared/http/core/http-framing.ts";
import { percentDecoded } from "../../../shared/http/core/http-message.ts";
import { NO_HEALTH_SERVICE, type ProbeVerdict } from "../../../shared/sidecars/core/probe.ts";

// One call of grpc.health.v1 (grpc-proto, grpc/health/v1/health.proto), as gRPC over HTTP/2 frames it (grpc,
// doc/PROTOCOL-HTTP2.md). Each message has one field, which needs no library.

/** Where the first frame of HTTP/2 has its type (RFC 9113, section 4.1). */
export const FRAME_TYPE_AT = 3;
const LAST_FRAME_TYPE = 9;

/** Returns why the first bytes of a server, four at least, begin no frame of HTTP/2; undefined if they do. */
export function whyNotHttp2(first: Uint8Array): string | undefined {
  const isShort = first[0] === 0; // the first of three bytes of its length: settings have a few bytes
  if (isShort && (first[FRAME_TYPE_AT] ?? LAST_FRAME_TYPE) <= LAST_FRAME_TYPE) return undefined;
  if (Buffer.from(first).toString("latin1", 0, 4) === "HTTP")
    return "it speaks HTTP/1, not gRPC: wait for it with http://";
  const isTls = first[0] === TLS_ALERT && first[1] === 3;
  return isTls ? "it speaks TLS: wait for it with grpcs://" : errorTexts.ERR_HTTP2_ERROR;
}

/** The type of a record of TLS (RFC 8446, section 5.1); the byte after it is the version's first. */
const TLS_ALERT = 21;

/** Why there is no answer if the connection is closed before the server has said anything. */
export const CLOSED_AT_ONCE =
  "it closes the connection and says nothing: it is no gRPC server, it speaks TLS (grpcs://), or a proxy accepts for a server that is down";

/** The path of the method that is called. */
export const CHECK_PATH = "/grpc.health.v1.Health/Check";

/** What a server has answered, once it is whole. */
export interface GrpcAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** Empty if there was none. */
  readonly contentType: string;
  /** From the trailers, or from the head of an answer that has no body; undefined if neither has one. */
  readonly grpcStatus: string | undefined;
  /** Percent-encoded; empty if there was none. */
  readonly grpcMessage: string;
  readonly body: Uint8Array;
}

/** Encodes the request about a service: HealthCheckRequest {string service = 1}. The whole server has an empty name. */
export function encodeCheck(service: string): Uint8Array<ArrayBuffer> {
  const name = Buffer.from(service);
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([STRING_1, ...varint(name.length)]), name]);
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** The bytes before a message: 0 (not compressed), and its length in four. */
const PREFIX = 5;
/** The tag of field 1, whose value has a length. */
const STRING_1 = 0x0a;

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)];
}

/** Judges an answer about a service as the kubelet does (kubernetes 1.36.3, pkg/probe/grpc/grpc.go): SERVING is ready. */
export function judgeHealth(answer: GrpcAnswer, service: string): ProbeVerdict {
  const reason = whyNotServing(answer, service);
  return reason === undefined ? { ready: true } : { ready: false, reason };
}

function whyNotServing(answer: GrpcAnswer, service: string): string | undefined {
  const { status, contentType, grpcStatus, grpcMessage, body } = answer;
  if (grpcStatus === undefined) {
    if (status !== 200) return `HTTP ${status}`;
    if (!contentType.startsWith("application/grpc"))
      return `the answer is not gRPC: content-type ${excerpt(contentType)}`;
    return "the answer has no gRPC status at its end";
  }
  const code = /^\d{1,2}$/.test(grpcStatus) ? codes[Number(grpcStatus)] : undefined;
  if (code === "NOT_FOUND") return unknown(service);
  if (code === "UNIMPLEMENTED") return NO_HEALTH_SERVICE;
  if (code !== "OK") {
    const words = grpcMessage === "" ? "" : ` ${excerpt(percentDecoded(grpcMessage))}`;
    return `gRPC status ${code ?? excerpt(grpcStatus)}${words}`;
  }
  const health = healthIn(body);
  if (health === undefined) return "the answer is not a HealthCheckResponse";
  const name = healths[health];
  if (name === "SERVING") return undefined;
  return name === "SERVICE_UNKNOWN" ? unknown(service) : `its health service says ${name ?? health}`;
}

function unknown(service: string): string {
  return `its health service does not know ${service === "" ? "the server as a whole: name a service" : excerpt(service)}`;
}

/** By their numbers (grpc, doc/statuscodes.md). */
const codes = [
  ...["OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"],
  ...["PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED"],
  ...["INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"],
];

/** By their numbers (health.proto, ServingStatus). */
const healths = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

/**
 * Reads HealthCheckResponse {ServingStatus status = 1} from a body, which has to be one message. Other fields are skipped,
 * and the last of several counts, as protobuf has it. Returns undefined for anything else.
 */
function healthIn(body: Uint8Array): number | undefined {
  if (body.length < PREFIX || body[0] !== 0) return undefined;
  if (Buffer.from(body).readUInt32BE(1) !== body.length - PREFIX) return undefined;
  let status = 0;
  for (let at = PREFIX; at < body.length; ) {
    const tag = varintAt(body, at);
    const field = Math.floor((tag?.value ?? 0) / 8);
    if (tag === undefined || field === 0) return undefined;
    const value = valueAt(body, tag.end, tag.value % 8);
    if (value === undefined || value.end > body.length) return undefined;
    if (field === 1 && tag.value % 8 === 0) status = value.value;
    at = value.end;
  }
  return status;
}

/** A number, and where what follows it begins. */
interface Read {
  readonly value: number;
  readonly end: number;
}

function valueAt(bytes: Uint8Array, at: number, wireType: number): Read | undefined {
  if (wireType === 0) return varintAt(bytes, at);
  if (wireType === 1) return { value: 0, end: at + 8 };
  if (wireType === 5) return { value: 0, end: at + 4 };
  const length = wireType === 2 ? varintAt(bytes, at) : undefined;
  return length === undefined ? undefined : { value: 0, end: length.end + length.value };
}

/** Reads a varint, of at most ten bytes. A number above 2^53 is not exact, and means nothing here. */
function varintAt(bytes: Uint8Array, at: number): Read | undefined {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: at + index + 1 };
  }
  return undefined;
}
