// bun idle.ts HOST PORT is a client that keeps its connection: it sends one request, prints "idle", and then waits.
import { connect } from "node:net";

const [host = "", port = ""] = process.argv.slice(2);
const socket = connect(Number(port), host);
socket.on("data", (bytes) => console.log(`${bytes.toString().startsWith("HTTP/1.1 200") ? "idle" : bytes}`));
socket.on("close", () => console.log("closed"));
socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
setInterval(() => undefined, 1e6);
