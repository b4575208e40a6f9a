import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { encodeCheck, type GrpcAnswer, judgeHealth } from "../../../../../src/pod/probe/core/grpc-health.ts";

/** Puts a message that is not compressed into a frame of gRPC's. */
function framed(...message: readonly number[]): Uint8Array {
  return new Uint8Array([0, 0, 0, message.length >> 8, message.length & 0xff, ...message]);
}

const answer = (given: Partial<GrpcAnswer>): GrpcAnswer => ({
  ...{ status: 200, contentType: "application/grpc", grpcStatus: "0", grpcMessage: "", body: framed(8, 1) },
  ...given,
});

test("the request names the service, or is empty for the whole server", () => {
  expect([...encodeCheck("")]).toEqual([0, 0, 0, 0, 0]);
  expect([...encodeCheck("db")]).toEqual([0, 0, 0, 0, 4, 0x0a, 2, 0x64, 0x62]);
  expect([...encodeCheck("é".repeat(100))].slice(0, 9)).toEqual([0, 0, 0, 0, 203, 0x0a, 200, 1, 0xc3]);
});

test.each([
  ["alone", framed(8, 1)],
  ["after other fields", framed(0x10, 0x80, 1, 0x1a, 2, 9, 9, 0x21, 1, 2, 3, 4, 5, 6, 7, 8, 0x2d, 1, 2, 3, 4, 8, 1)],
  ["as the last of two", framed(8, 2, 8, 1)],
  ["in more bytes than it needs", framed(8, 0x81, 0x80, 0)],
])("SERVING, %s, is ready", (_, body) => {
  expect(judgeHealth(answer({ body }), "")).toEqual({ ready: true });
});

describe("anything else is a reason:", () => {
  test.each<[Partial<GrpcAnswer>, string]>([
    [{ body: framed(8, 2) }, "its health service says NOT_SERVING"],
    [{ body: framed(8, 0) }, "its health service says UNKNOWN"],
    [{ body: framed() }, "its health service says UNKNOWN"],
    [{ body: framed(8, 7) }, "its health service says 7"],
    [{ body: framed(8, 3) }, 'its health service does not know "db"'],
    [{ grpcStatus: "5" }, 'its health service does not know "db"'],
    [{ grpcStatus: "12", grpcMessage: "unknown%20service" }, "it has no gRPC health service"],
    [{ grpcStatus: "14", grpcMessage: "no%20upstream%0A" }, 'gRPC status UNAVAILABLE "no upstream"'],
    [{ grpcStatus: "16" }, "gRPC status UNAUTHENTICATED"],
    [{ grpcStatus: "99" }, 'gRPC status "99"'],
    [{ grpcStatus: "" }, 'gRPC status ""'],
    [{ status: 503, contentType: "text/plain", grpcStatus: undefined }, "HTTP 503"],
    [
      { status: 200, contentType: "text/html", grpcStatus: undefined },
      'the answer is not gRPC: content-type "text/html"',
    ],
    [{ grpcStatus: undefined }, "the answer has no gRPC status at its end"],
    [{ body: new Uint8Array() }, "the answer is not a HealthCheckResponse"],
  ])("%j", (given, reason) => {
    expect(judgeHealth(answer(given), "db")).toEqual({ ready: false, reason });
  });

  test("an unknown server as a whole", () => {
    expect(judgeHealth(answer({ grpcStatus: "5" }), "")).toEqual({
      ready: false,
      reason: "its health service does not know the server as a whole: name a service",
    });
  });

  test.each([
    ["compressed", [1, 0, 0, 0, 2, 8, 1]],
    ["cut off", [0, 0, 0, 0, 2, 8]],
    ["two messages", [...framed(8, 1), ...framed(8, 1)]],
    ["a tag without a value", [...framed(8)]],
    ["field 0", [...framed(0, 1, 8, 1)]],
    ["a group", [...framed(0x13, 8, 1)]],
    ["a length past the end", [...framed(8, 1, 0x12, 9)]],
    ["a fixed value past the end", [...framed(8, 1, 0x11, 9)]],
    ["a number of eleven bytes", [...framed(8, ...Array(10).fill(0x81), 1)]],
  ])("a message that is none: %s", (_, body) => {
    expect(judgeHealth(answer({ body: new Uint8Array(body) }), "db")).toEqual({
      ready: false,
      reason: "the answer is not a HealthCheckResponse",
    });
  });
});

test("no bytes make the reading throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.boolean(), (bytes, isFramed) => {
      const body = isFramed ? framed(...bytes) : bytes;
      expect(judgeHealth(answer({ body }), "")).toHaveProperty("ready");
    }),
  );
});
