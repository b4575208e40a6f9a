// bun server.ts [ADDRESS [PORT [GRPC [TCP]]]] serves as serve.ts does. At SIGTERM it ends at once, whatever is under way, as
// most apps do that do not listen for it.
import { serve } from "./serve.ts";

process.on("SIGTERM", () => process.exit(0));

const [hostname = "127.0.0.1", port = 8081, grpc, tcp] = process.argv.slice(2);
serve({ hostname, port, grpc, tcp });
