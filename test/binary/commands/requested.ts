/** Returns an HTTP answer, 200 with that body. */
export const ok = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
