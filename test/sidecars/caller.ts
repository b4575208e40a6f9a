import { connect } from "node:net";

// bun caller.ts HOST HTTP TCP holds open what an app holds open to others: a request to one port, whose answer does not
// end, and a connection to another. It says so once both are there.

const [, , host = "", http, tcp] = process.argv;
const socket = connect(Number(tcp), host);
await new Promise((answered, failed) => {
  socket.once("data", answered).once("error", failed).write("hello");
});
const { body } = await fetch(`http://${host}:${http}/`);
const reader = body?.getReader();
await reader?.read();
console.log("both are open");
await reader?.read();
