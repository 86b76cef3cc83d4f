import type { Service } from '../service/service-process.ts';

export interface PageAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The path of the redirect, without the origin. */
  readonly location: string | undefined;
}

export interface PageRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | FormData | ReadableStream;
  readonly duplex?: 'half';
}

/** A client like a browser without a window. It keeps cookies and sends the usual headers. */
export class DashboardVisitor {
  readonly origin: string;
  cookie: string | undefined;
  device: string | undefined;

  constructor(origin: string, cookie?: string) {
    this.origin = origin;
    this.cookie = cookie;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<PageAnswer> {
    return this.send(path, { headers });
  }

  post(
    path: string,
    fields: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<PageAnswer> {
    return this.send(path, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'Sec-Fetch-Site': 'same-origin',
        ...headers,
      },
    });
  }

  /** Does not follow redirects, so that a test can see them. */
  async send(path: string, { headers, ...request }: PageRequest = {}): Promise<PageAnswer> {
    const cookies = [this.cookie, this.device].filter((one) => one !== undefined);
    const response = await fetch(this.origin + path, {
      ...request,
      redirect: 'manual',
      headers: { ...(cookies.length > 0 && { Cookie: cookies.join('; ') }), ...headers },
    }).catch((error: unknown) => {
      throw unanswered(`${request.method ?? 'GET'} ${path}`, error);
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const location = response.headers.get('Location') ?? undefined;
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location?.replace(this.origin, ''),
    };
  }

  #keep(line: string): void {
    const [pair = ''] = line.split(';');
    const isCleared = /Max-Age=0(;|$)/i.test(line);
    const kept = isCleared ? undefined : pair;
    const [name = ''] = pair.split('=');
    if (/^(__Host-)?device$/.test(name)) this.device = kept;
    else if (!isCleared || this.cookie?.startsWith(`${name}=`) === true) this.cookie = kept;
  }
}

/** @param error from `fetch`, which names no request, and whose cause is not printed */
export const unanswered = (request: string, error: unknown): Error => {
  const { cause = error } = error as { readonly cause?: object };
  const socket = 'socket' in Object(cause) ? (cause as { socket: unknown }).socket : undefined;
  return new Error(`no answer to ${request}: ${String(cause)} ${JSON.stringify(socket)}`);
};

export const printedLink = ({ stdout }: Pick<Service, 'stdout'>): string => {
  const [link] = /\/dashboard\/sign-in\/[0-9A-Za-z]{43}/.exec(stdout()) ?? [];
  if (link === undefined) throw new Error(`no sign-in link in:\n${stdout()}`);
  return link;
};

export const signInFirst = async (service: Service): Promise<DashboardVisitor> => {
  const visitor = new DashboardVisitor(service.origin);
  const { status } = await visitor.get(printedLink(service));
  if (status !== 303) throw new Error(`the printed link was answered ${status}`);
  return visitor;
};
