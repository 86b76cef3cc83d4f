import { parseExact, stringifyExact } from './exact-json.ts';

/**
 * A `fetch` for generated clients, which cannot read int64: `id`, `categoryId` and `petId` are strings of
 * digits for the client, and JSON numbers for the API.
 */
export const int64AsStrings =
  (send: typeof fetch = fetch): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const body = await request.clone().text();
    const sent = body === '' ? undefined : { body: stringifyExact(JSON.parse(body)) };
    const answer = await send(sent ? new Request(request, sent) : request);
    const text = await answer.text();
    const headers = new Headers(answer.headers);
    // These headers describe the original bytes, but the text has changed.
    headers.delete('Content-Length');
    headers.delete('Content-Encoding');
    const isJson = headers.get('Content-Type')?.startsWith('application/json') ?? false;
    const { status, statusText } = answer;
    const received = isJson && text !== '' ? JSON.stringify(parseExact(text, String)) : text;
    return new Response(received === '' ? null : received, { status, statusText, headers });
  };
