// Starts the endpoint. SIGTERM lets the requests in flight finish.

import { server } from "./server.js";

const secretFile = process.env.WEBHOOK_SECRET_FILE;
if (!secretFile) throw new Error("set WEBHOOK_SECRET_FILE");
const running = server(secretFile).listen(Number(process.env.PORT ?? 8000));
process.on("SIGTERM", () => {
  running.close();
  running.closeIdleConnections();
});
