/** Whole programs: test/contract/notifications/webhook-receivers.test.ts runs them as the page shows them. */
export const nodeReceiver = `import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
const seen = new Set(); // Keep it in your database: this one forgets when you restart.

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  let message;
  try {
    message = webhook.verify(Buffer.concat(chunks).toString(), request.headers);
  } catch {
    return response.writeHead(401).end('The signature is wrong.');
  }
  response.writeHead(204).end(); // Answer first, work afterwards.
  const id = request.headers['webhook-id'];
  if (seen.has(id)) return; // It was sent before.
  seen.add(id);
  console.log(message.type, JSON.stringify(message.data));
}).listen(process.env.PORT ?? 8000);`;

export const pythonReceiver = `import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
seen = set()  # Keep it in your database: this one forgets when you restart.

def is_genuine(id, sent_at, signatures, body):
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > 5 * 60:
        return False
    signed = f"{id}.{sent_at}.".encode() + body
    right = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return any(hmac.compare_digest(right, one.encode()) for one in signatures.split(" "))

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        id, *rest = [self.headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")]
        genuine = is_genuine(id, *rest, body)
        self.send_response(204 if genuine else 401)
        self.end_headers()
        if genuine and id not in seen:
            seen.add(id)
            message = json.loads(body)
            print(message["type"], json.dumps(message["data"]), flush=True)

ThreadingHTTPServer(("", int(os.environ.get("PORT", 8000))), Receiver).serve_forever()`;
