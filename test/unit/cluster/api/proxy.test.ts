import { expect, test } from "bun:test";
import { proxyFor } from "../../../../src/cluster/api/proxy.ts";

const API = "https://api.example.com:6443";
const PROXY = { HTTPS_PROXY: "http://proxy:3128" };

test.each<[string, string, Record<string, string>, string | undefined]>([
  ["none", API, {}, undefined],
  ["HTTPS_PROXY", API, PROXY, "http://proxy:3128"],
  ["https_proxy", API, { https_proxy: "http://proxy:3128" }, "http://proxy:3128"],
  ["without a scheme it is http", API, { HTTPS_PROXY: "proxy:3128" }, "http://proxy:3128"],
  ["HTTP_PROXY is not for https", API, { HTTP_PROXY: "http://proxy:3128" }, undefined],
  ["HTTP_PROXY is for http", "http://api.example.com", { HTTP_PROXY: "http://proxy:3128" }, "http://proxy:3128"],
  ["never for this machine", "https://127.0.0.1:6443", PROXY, undefined],
  ["nor by its name", "https://localhost:6443", PROXY, undefined],
  ["nor by IPv6", "https://[::1]:6443", PROXY, undefined],
  ["NO_PROXY: everything", API, { ...PROXY, NO_PROXY: "*" }, undefined],
  ["NO_PROXY: the host", API, { ...PROXY, NO_PROXY: "other, API.example.com" }, undefined],
  ["no_proxy: a domain and what is below it", API, { ...PROXY, no_proxy: "example.com" }, undefined],
  ["NO_PROXY: what is below a domain", API, { ...PROXY, NO_PROXY: ".example.com" }, undefined],
  [
    "NO_PROXY: a domain is below itself only without the dot",
    "https://example.com",
    { ...PROXY, NO_PROXY: ".example.com" },
    "http://proxy:3128",
  ],
  ["NO_PROXY: with a star, as many write it", API, { ...PROXY, NO_PROXY: "*.example.com" }, undefined],
  [
    "NO_PROXY: not a name that only ends like it",
    "https://badexample.com",
    { ...PROXY, NO_PROXY: "example.com" },
    "http://proxy:3128",
  ],
  ["NO_PROXY: the port", API, { ...PROXY, NO_PROXY: "api.example.com:6443" }, undefined],
  ["NO_PROXY: another port", API, { ...PROXY, NO_PROXY: "api.example.com:443" }, "http://proxy:3128"],
  ["NO_PROXY: an address", "https://10.96.0.1", { ...PROXY, NO_PROXY: "10.96.0.1" }, undefined],
  ["NO_PROXY: a network", "https://10.96.0.1", { ...PROXY, NO_PROXY: "10.96.0.0/12" }, undefined],
  ["NO_PROXY: another network", "https://10.96.0.1", { ...PROXY, NO_PROXY: "10.97.0.0/16" }, "http://proxy:3128"],
  ["NO_PROXY: an IPv6 network", "https://[fd00::1]:443", { ...PROXY, NO_PROXY: "fd00::/8" }, undefined],
  ["NO_PROXY: an IPv6 address", "https://[fd00::1]:443", { ...PROXY, NO_PROXY: "fd00::1" }, undefined],
  [
    "NO_PROXY: no network at all",
    "https://10.96.0.1",
    { ...PROXY, NO_PROXY: "10.96.0.0/99,x/8,," },
    "http://proxy:3128",
  ],
])("%s", (_, server, env, expected) => {
  expect(proxyFor(server, env)).toBe(expected);
});
