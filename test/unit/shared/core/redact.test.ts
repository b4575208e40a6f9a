import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { redactHeader, redactUrl, redactUrls } from "../../../../src/shared/core/redact.ts";

describe("of a URL, userinfo and the values of its query are hidden:", () => {
  test.each([
    ["http://localhost:15000/ready", "http://localhost:15000/ready"],
    ["http://me:word@h:1/x?a=1&b#f", "http://***@h:1/x?a=***&b#***"],
    ["http://h/p?email=a@b;token=x", "http://h/p?email=***;token=***"],
    ["+POST http://me@h", "+POST http://***@h"],
    ["POST http://[::1]:5/a:b?graceful", "POST http://[::1]:5/a:b?graceful"],
    ["unix:/a@b.sock", "unix:/a@b.sock"],
    ["/ready?token=1", "/ready?token=***"],
  ])("%s", (text, shown) => expect(redactUrl(text)).toBe(shown));
});

describe("of what is no URL, all that may be userinfo is hidden, and a slip is still seen:", () => {
  test.each([
    ["localhost:15000", "localhost:15000"],
    ["http:/localhost:15000", "http:/localhost:15000"],
    ["bad:target", "bad:target"],
    ["me:word@h", "***@h"],
    ["http//me:word@h/x", "***@h/x"],
    ["http://me:wo", "http://***"],
    ["http//me:wo", "***"],
    ["http://me:wo/rd@h/", "http://***@h/"],
    ["http://me:wo?rd@h/", "http://******"],
    ["http://me:1?rd@h/", "http://me:1***"],
    ["http://me:wo rd@h/", "***"],
    ["http://a http://me:word@h/", "*** http://***@h/"],
    ["Authorization: Bearer word", "***"],
  ])("%s", (text, shown) => expect(redactUrl(text)).toBe(shown));
});

test("URLs are found in a text", () => {
  expect(redactUrls('got "http://a:b@h/" and x http://h?a=b http://c d://e@f ://')).toBe(
    'got "http://***@h/" and x http://h?a=*** http://c d://***@f ://',
  );
});

test.each([
  ["Authorization: Bearer x", "Authorization: ***"],
  ["Authorization Bearer x", "***"],
  ["Authorization Bearer x:y", "***"],
  [": x", "***"],
])("of the header %j, %j is shown", (text, shown) => expect(redactHeader(text)).toBe(shown));

test("no password is shown, whatever is in it, of any URL that has one", () => {
  const password = fc.stringMatching(/^[!-~]{8,20}$/);
  fc.assert(
    fc.property(password, (word) => {
      for (const text of [`http://me:${word}@host:1/`, `+POST https://me:${word}@host/x`]) {
        const url = URL.parse(text.split(" ").at(-1) as string);
        if (url?.hostname !== "host") continue; // a slash in it: it is no password
        expect(redactUrl(text)).not.toContain(word);
        expect(redactUrl(text)).toContain("***@host");
      }
    }),
  );
});
