import { describe, expect, test } from "bun:test";
import { parseReference, type Reference } from "../../../../../src/cluster/image/core/reference.ts";
import {
  isListed,
  type Mirror,
  parseMirror,
  type SourcePolicy,
  sourcesOf,
} from "../../../../../src/cluster/image/core/sources.ts";

function placesOf(image: string, policy: Partial<SourcePolicy>): readonly string[] {
  const reference = parseReference(image) as Reference;
  const sources = sourcesOf(reference, { registries: "all", registryMirror: [], ...policy });
  return sources.map(({ origin, repository }) => `${origin} ${repository}`);
}

const mirror = (text: string) => parseMirror(text) as Mirror;

describe("where an image is asked for", () => {
  test.each([
    ["nginx", ["https://registry-1.docker.io library/nginx"]],
    ["quay.io/a/b", ["https://quay.io a/b"]],
    ["registry.example.com:5000/a", ["https://registry.example.com:5000 a"]],
    ["quay.io:443/a", ["https://quay.io a"]],
    ["Quay.IO/a/b", ["https://quay.io a/b"]],
    ["localhost:5000/a", ["https://localhost:5000 a", "http://localhost:5000 a"]],
    ["127.0.0.1:5000/a", ["https://127.0.0.1:5000 a", "http://127.0.0.1:5000 a"]],
    ["[::1]:5000/a", ["https://[::1]:5000 a", "http://[::1]:5000 a"]],
    ["localhost.example.com/a", ["https://localhost.example.com a"]],
  ])("%s: %p", (image, places) => {
    expect(placesOf(image, {})).toEqual(places);
  });

  test("mirrors come first, in order, each with its path", () => {
    const registryMirror = ["docker.io=a.example.com/hub", "quay.io=q.example.com", "docker.io=http://b:5000"].map(
      mirror,
    );
    expect(placesOf("nginx", { registryMirror })).toEqual([
      "https://a.example.com hub/library/nginx",
      "http://b:5000 library/nginx",
      "https://registry-1.docker.io library/nginx",
    ]);
  });

  test.each(["index.docker.io", "registry-1.docker.io", "Docker.io"])("%s is Docker Hub", (name) => {
    expect(placesOf("nginx", { registries: [], registryMirror: [mirror(`${name}=a.example.com`)] })).toEqual([
      "https://a.example.com library/nginx",
    ]);
    expect(placesOf(`${name}/team/app`, { registries: ["docker.io"] })).toEqual([
      "https://registry-1.docker.io team/app",
    ]);
    expect(isListed(name.toLowerCase(), { registries: ["docker.io"], registryMirror: [] })).toBe(true);
  });

  test("a registry that is the mirror of itself is asked so only", () => {
    const registryMirror = [mirror("r.example.com=http://r.example.com")];
    expect(placesOf("r.example.com/a", { registryMirror })).toEqual(["http://r.example.com a"]);
  });

  test("a mirror may be asked in the place of a registry that may not", () => {
    const registryMirror = [mirror("docker.io=a.example.com")];
    expect(placesOf("nginx", { registries: [], registryMirror })).toEqual(["https://a.example.com library/nginx"]);
    expect(placesOf("quay.io/a", { registries: ["docker.io"], registryMirror })).toEqual([]);
  });

  test.each([
    ["quay.io", true],
    ["quay.io:443", false],
    ["a.example.com", true], // a mirror
    ["docker.io", false],
  ])("a registry that is named, or a mirror, is listed: %s %p", (host, listed) => {
    expect(isListed(host, { registries: ["quay.io"], registryMirror: [mirror("docker.io=a.example.com")] })).toBe(
      listed,
    );
  });

  test("where all may be asked, none is listed: it may not be referred to wherever it is", () => {
    expect(isListed("quay.io", { registries: "all", registryMirror: [] })).toBe(false);
  });

  test.each(["docker.io", "=a", "a=", "docker.io/x=a", "docker.io=ftp://a", "docker.io=a?b", "docker.io=u@a", "a=b c"])(
    "%p is no mirror",
    (text) => {
      expect(parseMirror(text)).toBeUndefined();
    },
  );
});
