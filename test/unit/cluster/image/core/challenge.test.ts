import { describe, expect, test } from "bun:test";
import { chooseChallenge, parseChallenges } from "../../../../../src/cluster/image/core/challenge.ts";

const chosen = (header: string) => chooseChallenge(header, "team/app");

describe("how a registry wants to know who asks", () => {
  test.each([
    [
      "Docker Hub's",
      'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:samalba/my-app:pull,push"',
      {
        realm: "https://auth.docker.io/token",
        service: "registry.docker.io",
        scopes: ["repository:samalba/my-app:pull,push"],
      },
    ],
    [
      "Harbor's, which names no scope",
      'Bearer realm="https://harbor.example.com/service/token",service="harbor-registry"',
      {
        realm: "https://harbor.example.com/service/token",
        service: "harbor-registry",
        scopes: ["repository:team/app:pull"],
      },
    ],
    [
      "one with several scopes, and blanks",
      'bearer  realm = "https://a/b" , scope="repository:a:pull repository:b:pull"',
      { realm: "https://a/b", service: undefined, scopes: ["repository:a:pull", "repository:b:pull"] },
    ],
    [
      "an escaped one",
      'Bearer realm="https://a/b?c=\\"d\\"",service=x',
      { realm: 'https://a/b?c="d"', service: "x", scopes: ["repository:team/app:pull"] },
    ],
    ["ECR's", 'Basic realm="https://1.dkr.ecr.eu-central-1.amazonaws.com/",service="ecr.amazonaws.com"', "basic"],
    [
      "several, of which a token is the best",
      'Basic realm="x", Negotiate abc==, Bearer realm="https://a/b"',
      {
        realm: "https://a/b",
        service: undefined,
        scopes: ["repository:team/app:pull"],
      },
    ],
    ["a token without a place to get it", 'Bearer service="x", Basic realm="y"', "basic"],
    ["Nexus's, with a comma in a text", 'BASIC realm="Sonatype, Nexus"', "basic"],
    ["another one", "Negotiate", undefined],
    ["none", "", undefined],
  ])("%s", (_, header, wanted) => {
    expect(chosen(header)).toEqual(wanted as never);
  });

  test.each([
    ["what cannot be read ends it", 'Basic realm="a", Bearer realm="unended', ["basic", "bearer"]],
    ["a parameter without a scheme is none", 'realm="a"', []],
    ["a scheme's token68 is none of its parameters", "Negotiate YWJj==, Basic", ["negotiate", "basic"]],
  ])("%s", (_, header, schemes) => {
    expect(parseChallenges(header).map(({ scheme }) => scheme)).toEqual(schemes);
  });

  test("a long header costs no more than a short one", () => {
    const start = performance.now();
    for (const part of ["a ", 'a="', "a=\\", "=", ",", 'a="\\"', "a a=b,"]) parseChallenges(part.repeat(1_000_000));
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
