/** One answer of HTTP/1.1 as it came. */
export interface Http1Answer {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * All answers that came whole, as latin1.
 * @param methods of the requests in their order: an answer to HEAD has no body
 */
export const readAnswers = (text: string, methods: readonly string[]): readonly Http1Answer[] => {
  const answers: Http1Answer[] = [];
  for (let rest = text; ;) {
    const read = readOne(rest, methods[answers.length] === 'HEAD');
    if (!read) return answers;
    // 100 Continue is none yet.
    if (read.answer.status >= 200) answers.push(read.answer);
    rest = read.rest;
  }
};

/** It goes on for as long as somebody listens, and whatever was asked after it waits. */
export const isEndless = ({ headers }: Http1Answer): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true;

interface Read {
  readonly answer: Http1Answer;
  readonly rest: string;
}

const readOne = (text: string, isHead: boolean): Read | undefined => {
  const end = text.indexOf('\r\n\r\n');
  const [, digits] = /^HTTP\/1\.[01] (\d{3})/.exec(text) ?? [];
  if (end < 0 || digits === undefined) return undefined;
  const status = Number(digits);
  const headers = new Map(
    text
      .slice(0, end)
      .split('\r\n')
      .slice(1)
      .map((line) => [line.split(':')[0]?.toLowerCase() ?? '', line.replace(/^[^:]*: ?/, '')]),
  );
  const rest = text.slice(end + 4);
  const hasNoBody = isHead || status < 200 || status === 204 || status === 304;
  if (hasNoBody) return { answer: { status, headers, body: '' }, rest };
  const stream = { status, headers, body: rest };
  if (isEndless(stream)) return { answer: stream, rest: '' };
  const body = headers.get('transfer-encoding') === 'chunked' ? chunks(rest) : plain(rest, headers);
  return body && { answer: { status, headers, body: body.content }, rest: body.rest };
};

const plain = (text: string, headers: ReadonlyMap<string, string>) => {
  const length = Number(headers.get('content-length') ?? text.length);
  return text.length < length
    ? undefined
    : { content: text.slice(0, length), rest: text.slice(length) };
};

const chunks = (text: string) => {
  const parts: string[] = [];
  for (let at = 0; ;) {
    const line = text.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = parseInt(text.slice(at, line), 16);
    const end = line + 2 + size + 2;
    if (text.length < end) return undefined;
    if (size === 0) return { content: parts.join(''), rest: text.slice(end) };
    parts.push(text.slice(line + 2, end - 2));
    at = end;
  }
};
