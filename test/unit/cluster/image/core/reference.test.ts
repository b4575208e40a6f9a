import { describe, expect, test } from "bun:test";
import { formatReference, parseReference, usualFault } from "../../../../../src/cluster/image/core/reference.ts";

const sha256 = `sha256:${"ab".repeat(32)}`;
const sha512 = `sha512:${"cd".repeat(64)}`;

// as distribution/reference has it: normalize_test.go, reference_test.go
describe("names of images, in full", () => {
  test.each([
    ["nginx", "docker.io/library/nginx:latest"],
    ["nginx:1.29", "docker.io/library/nginx:1.29"],
    ["library/nginx", "docker.io/library/nginx:latest"],
    ["team/app", "docker.io/team/app:latest"],
    ["docker.io/nginx", "docker.io/library/nginx:latest"],
    ["index.docker.io/nginx", "docker.io/library/nginx:latest"],
    ["docker.io/library/foo/bar", "docker.io/library/foo/bar:latest"],
    ["localhost/app", "localhost/app:latest"],
    ["localhost:5000/app", "localhost:5000/app:latest"],
    ["registry.example.com/team/app", "registry.example.com/team/app:latest"],
    ["registry.example.com:5000/app:v1", "registry.example.com:5000/app:v1"],
    ["127.0.0.1:8000/private/moonbase", "127.0.0.1:8000/private/moonbase:latest"],
    ["[fc00::1]:5000/docker/docker", "[fc00::1]:5000/docker/docker:latest"],
    ["FOO/bar", "FOO/bar:latest"], // a host, because of its capitals
    ["test_com/foo", "docker.io/test_com/foo:latest"],
    ["docker---rules/dock__er", "docker.io/docker---rules/dock__er:latest"],
    ["a:_", "docker.io/library/a:_"],
    [`nginx@${sha256}`, `docker.io/library/nginx@${sha256}`],
    [`quay.io/a/b@${sha512}`, `quay.io/a/b@${sha512}`],
    ["docker.io/1a3f5e7d9c1b3a5f7e9d1c3b5a7f9e1d3c5b7a9f1e3d5d7c9b1a3f5e7d9c1b3a", undefined],
  ])("%s is %s", (text, full) => {
    const wanted = full ?? `docker.io/library/${text.slice(10)}:latest`;
    const reference = parseReference(text);
    expect(reference && formatReference(reference)).toBe(wanted);
  });

  test("a digest wins over a tag", () => {
    expect(parseReference(`nginx:1.29@${sha256}`)).toEqual({
      host: "docker.io",
      repository: "library/nginx",
      tag: undefined,
      digest: sha256,
    });
  });

  test.each([
    ["", "nothing"],
    ["https://github.com/docker/docker", "a URL"],
    ["docker/Docker", "capitals in the repository"],
    ["-docker/docker", "a dash at the start"],
    ["docker-/docker", "a dash at the end"],
    ["docker///docker", "empty parts"],
    ["docker/", "no repository"],
    ["dock..er/docker", "two dots"],
    ["[fc00::1]:5000", "a host alone"],
    ["[fe80::1%eth0]:5000/debian", "a zone"],
    ["[:a:1]:5000/debian", "an address that is none"],
    ["1.2.3.4.5/debian", "another one"],
    ["quay.io:99999/debian", "a port that is none"],
    ["fc00::1:5000/debian", "an IPv6 address without brackets"],
    ["nginx:-foo", "a tag with a dash at the start"],
    [`nginx:${"a".repeat(129)}`, "a tag that is too long"],
    ["nginx@sha256:abc", "a short digest"],
    [`nginx@md5:${"ab".repeat(16)}`, "a digest that cannot be verified"],
    ["1a3f5e7d9c1b3a5f7e9d1c3b5a7f9e1d3c5b7a9f1e3d5d7c9b1a3f5e7d9c1b3a", "an image's ID"],
    ["nginx 1.29", "a blank"],
    ["nginx\n", "a line break"],
    ["a".repeat(248), "a repository that is too long with library/"],
    ["a/".repeat(10_000), "a long text"],
    [`${"a".repeat(260)}.example/nginx`, "a host that is too long"],
  ])("%p is none: %s", (text) => {
    expect(parseReference(text)).toBeUndefined();
  });

  test.each([
    ["NGINX", ": lower case only"],
    ["docker.io/Library/nginx:1", ": lower case only"],
    ["http://nginx", ": leave out http:// or https://"],
    ["quay.io:99999/debian", ": there is no such port"],
    ["nginx@sha256:abc", ": sha256 needs 64 hex digits"],
    ["$(IMAGE)", ": variables are not expanded"],
    ["FOO/bar baz", ""],
    ["quay.io:80/debian:Tag baz", ""],
    ["", ""],
  ])("%p is none; the usual fault is%s", (text, fault) => {
    expect(parseReference(text)).toBeUndefined();
    expect(usualFault(text)).toBe(fault);
  });
});
