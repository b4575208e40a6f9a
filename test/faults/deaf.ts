import { dlopen, ptr } from "bun:ffi";
import { encodeAddress, type Place } from "./place.ts";

const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0x800;
const SOCK_CLOEXEC = 0x80000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;

const libc = dlopen("libc.so.6", {
  bind: { args: ["i32", "ptr", "u32"], returns: "i32" },
  close: { args: ["i32"], returns: "i32" },
  connect: { args: ["i32", "ptr", "u32"], returns: "i32" },
  listen: { args: ["i32", "i32"], returns: "i32" },
  setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
}).symbols;

/**
 * Listens at a place, accepts no connection, and fills its queue: a client that connects gets no answer at all, neither
 * yes nor no. @throws Error if nothing can listen there
 */
export function listenDeaf(place: Place): Disposable {
  const address = encodeAddress(place);
  const family = address[0] as number;
  const open = () => libc.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const sockets = [open()];
  const [listener] = sockets as [number];
  const on = new Int32Array([1]);
  libc.setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, ptr(on), 4);
  const isBound = libc.bind(listener, ptr(address), address.length) === 0 && libc.listen(listener, 0) === 0;
  for (let waiting = 0; waiting < 3; waiting++) {
    const socket = open();
    libc.connect(socket, ptr(address), address.length);
    sockets.push(socket);
  }
  const close = () => {
    for (const socket of sockets.splice(0)) libc.close(socket);
  };
  if (isBound) return { [Symbol.dispose]: close };
  close();
  throw new Error(`nothing can listen at ${JSON.stringify(place)}`);
}
