import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { isInPath } from "../../build/setup/packages.mjs";
import { type Place, stopDuringRequest, withPlace } from "./place.ts";

// The rows of the manual's page "apps" about servers, beside the real ones: Debian's nginx-light, php8.2-fpm, apache2,
// uwsgi-core, uwsgi-plugin-python3, gunicorn. Without them they are skipped. nginx also stands before PHP-FPM.

setDefaultTimeout(60_000);

type Start = (place: Place) => {
  readonly argv: readonly string[];
  readonly url: string;
  /** Ends what it has started besides. */
  readonly end?: () => void;
};

const nginxConfig = ({ folder, port }: Place, location: string) => `
error_log stderr; pid ${folder}/nginx.pid; events {}
http { access_log off; server { listen 127.0.0.1:${port}; location / { ${location} } } }`;

const nginx: Start = (place) => {
  const config = nginxConfig(place, `proxy_pass http://127.0.0.1:${place.upstreamPort};`);
  const path = place.write("nginx.conf", config);
  return { argv: ["nginx", "-c", path, "-g", "daemon off;"], url: `http://127.0.0.1:${place.port}` };
};

const fpm: Start = (place) => {
  const socket = `${place.folder}/fpm.sock`;
  const script = place.write("app.php", `<?php if ($_SERVER["REQUEST_URI"] == "/slow") sleep(2); echo "answered";`);
  const config = place.write(
    "fpm.conf",
    `[global]\nerror_log = ${place.folder}/fpm.log\nprocess_control_timeout = 10s
[www]\nlisten = ${socket}\nuser = root\ngroup = root\npm = static\npm.max_children = 2\n`,
  );
  const parameters = "include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME";
  const front = place.write(
    "nginx.conf",
    nginxConfig(place, `fastcgi_pass unix:${socket}; ${parameters} ${script};`).replace("pid ", "user root; pid "),
  );
  const server = Bun.spawn(["nginx", "-c", front, "-g", "daemon off;"], { stdio: ["ignore", "ignore", "ignore"] });
  const url = `http://127.0.0.1:${place.port}`;
  return { argv: ["php-fpm8.2", "-F", "-R", "-y", config], url, end: () => server.kill() };
};

const apache: Start = (place) => {
  const modules = ["mpm_event", "authz_core", "proxy", "proxy_http"];
  const load = modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
  const path = place.write(
    "apache.conf",
    [
      `ServerRoot ${place.folder}\nServerName localhost\nUser www-data\nGroup www-data\nListen 127.0.0.1:${place.port}\nPidFile ${place.folder}/pid`,
      // With several children, one may miss the stop: all read it from one pipe, and it answers until Apache kills it.
      "StartServers 1\nServerLimit 1",
      ...load,
      `ErrorLog ${place.folder}/error.log\nProxyPass / http://127.0.0.1:${place.upstreamPort}/\n`,
    ].join("\n"),
  );
  return { argv: ["apache2", "-f", path, "-DFOREGROUND"], url: `http://127.0.0.1:${place.port}` };
};

const wsgi = `import time
def application(environ, start_response):
    if environ["PATH_INFO"] == "/slow": time.sleep(2)
    start_response("200 OK", [])
    return [b"answered"]
`;

const uwsgi =
  (...flags: readonly string[]): Start =>
  (place) => {
    const app = place.write("app.py", wsgi);
    const argv = ["uwsgi", "--plugin", "python3", "--http-socket", `127.0.0.1:${place.port}`, "--wsgi-file", app];
    return { argv: [...argv, "--master", ...flags], url: `http://127.0.0.1:${place.port}` };
  };

const gunicorn: Start = (place) => {
  place.write("app.py", wsgi);
  const argv = ["gunicorn", "--chdir", place.folder, "--bind", `127.0.0.1:${place.port}`, "app:application"];
  return { argv, url: `http://127.0.0.1:${place.port}` };
};

const both = (graceful: string) => ["--stop-signal", `TERM,${graceful}`, "--rewrite-signal", `TERM:${graceful}`];
const graceful = ["--hook-master-start", "unix_signal:15 gracefully_kill_them_all"];

describe.each<[string, Start, readonly (readonly [NodeJS.Signals, readonly string[], boolean, number])[]]>([
  [
    "nginx",
    nginx,
    [
      ["SIGTERM", [], false, 0],
      ["SIGTERM", both("QUIT"), true, 0],
      ["SIGQUIT", both("QUIT"), true, 0],
    ],
  ],
  [
    "php-fpm8.2",
    fpm,
    [
      ["SIGTERM", [], false, 0],
      ["SIGTERM", both("QUIT"), true, 0],
    ],
  ],
  [
    "apache2",
    apache,
    [
      ["SIGTERM", [], false, 0],
      ["SIGTERM", both("WINCH"), true, 0],
      ["SIGWINCH", both("WINCH"), true, 0],
    ],
  ],
  ["uwsgi", uwsgi("--die-on-term"), [["SIGTERM", [], false, 0]]],
  ["uwsgi", uwsgi(...graceful), [["SIGTERM", [], true, 0]]],
  [
    "gunicorn",
    gunicorn,
    [
      ["SIGTERM", [], true, 0],
      ["SIGQUIT", [], false, 0],
    ],
  ],
])("%s", (program, start, rows) => {
  test.skipIf(!isInPath("nginx") || !isInPath(program)).each(rows)(
    "%s with %j: a request is answered: %p",
    async (signal, flags, isAnswered, code) => {
      await withPlace(async (place) => {
        const { argv, url, end } = start(place);
        const stopped = await stopDuringRequest(argv, flags, signal, url).finally(end);
        expect({ ...stopped, stderr: "" }).toEqual({ wasAnswered: isAnswered, code, stderr: "" });
      });
    },
  );
});
