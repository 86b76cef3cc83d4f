import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import type { SiteFiles } from '../../sites/ports.ts';
import { keepAliveMs, pieceBytes } from './edge-limits.ts';
import { ServedFile, type ServedForm } from './served-file.ts';

export type ServedSite = ReadonlyMap<string, ServedFile>;

interface SiteKey {
  readonly deployId: string;
  readonly isPreview: boolean;
}

interface Range {
  readonly first: number;
  readonly last: number;
}

const most = {
  sites: 10_000,
  files: 200_000,
  contentBytes: 64 * 1024 * 1024,
  bytesOfOneContent: 512 * 1024,
  readAtOnce: 32,
};

export class SiteCache {
  readonly #files: SiteFiles;
  readonly #sites: LRUCache<string, ServedSite, SiteKey>;
  readonly #contents: LRUCache<ServedForm, ReadyAnswer, string>;
  readonly #reading = new PQueue({ concurrency: most.readAtOnce });

  constructor(files: SiteFiles) {
    this.#files = files;
    this.#sites = new LRUCache<string, ServedSite, SiteKey>({
      max: most.sites,
      maxSize: most.files,
      sizeCalculation: (site) => site.size + 1,
      ignoreFetchAbort: true,
      fetchMethod: async (_key, _stale, { context: { deployId, isPreview } }) => {
        const stored = await this.#reading.add(() => files.list(deployId));
        return (
          stored && new Map(stored.map((file) => [file.path, new ServedFile(file, isPreview)]))
        );
      },
    });
    this.#contents = new LRUCache<ServedForm, ReadyAnswer, string>({
      maxSize: most.contentBytes,
      sizeCalculation: ({ bytes }) => bytes,
      ignoreFetchAbort: true,
      fetchMethod: (form, _stale, { context: deployId }) =>
        this.#reading.add(async () => {
          const content = await wholeOf(files.read(deployId, form.file, form.encoding));
          return new ReadyAnswer(form, content);
        }),
    });
  }

  /** Returns a cached site synchronously. @returns undefined if the deploy does not exist @throws Unavailable */
  site(site: SiteKey): ServedSite | undefined | Promise<ServedSite | undefined> {
    const key = site.isPreview ? `preview of ${site.deployId}` : site.deployId;
    return this.#sites.get(key) ?? this.#sites.fetch(key, { context: site });
  }

  keeps(form: ServedForm): boolean {
    return form.bytes <= most.bytesOfOneContent;
  }

  content(
    deployId: string,
    form: ServedForm,
  ): ReadyAnswer | undefined | Promise<ReadyAnswer | undefined> {
    if (!this.keeps(form)) return undefined;
    return this.#contents.get(form) ?? this.#contents.fetch(form, { context: deployId });
  }

  /** Looks up the cache for each piece, so that slow visitors do not keep evicted content in memory. */
  async *pieces(
    deployId: string,
    form: ServedForm,
    { first, last }: Range = { first: 0, last: form.bytes - 1 },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = first; at <= last; at += pieceBytes) {
      const kept = this.content(deployId, form);
      const ready = kept instanceof Promise ? await kept : kept;
      if (!ready) {
        yield* this.#files.read(deployId, form.file, form.encoding, { first: at, last });
        return;
      }
      yield Buffer.from(ready.content.subarray(at, Math.min(at + pieceBytes, last + 1)));
    }
  }
}

/** Joins the pieces. This is faster than `buffer` of node:stream/consumers, which creates a Blob. */
const wholeOf = async (pieces: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
};

/** The undocumented underscore fields let `end` send our head with the content. `writeHead` is slower. */
interface Response {
  readonly shouldKeepAlive: boolean;
  _header?: string | null;
  _headerSent?: boolean;
  end(piece: Uint8Array): unknown;
}

/** RFC 9110, section 5.6.7. */
const dateLength = 29;
const connection = `Connection: keep-alive\r\nKeep-Alive: timeout=${String(keepAliveMs / 1000)}\r\n\r\n`;

/** A file in memory with its HTTP/1.1 head in front, so that one write sends both. */
export class ReadyAnswer {
  readonly headers: readonly string[];
  readonly content: Buffer;
  readonly #whole: Buffer;
  readonly #dateAt: number;
  #second = -1;

  constructor({ headers }: ServedForm, content: Uint8Array) {
    this.headers = headers;
    const beforeDate = `HTTP/1.1 200 OK\r\n${linesOf(headers)}Date: `;
    const head = Buffer.from(`${beforeDate}${' '.repeat(dateLength)}\r\n${connection}`, 'latin1');
    this.#dateAt = beforeDate.length;
    // Not allocated from Node's shared pool, where a small piece keeps a large buffer alive.
    this.#whole = Buffer.allocUnsafeSlow(head.length + content.length);
    head.copy(this.#whole);
    this.#whole.set(content, head.length);
    this.content = this.#whole.subarray(head.length);
  }

  get bytes(): number {
    return this.#whole.length;
  }

  end(response: Response): boolean {
    const isPlain = response.shouldKeepAlive && response._header === null;
    if (!isPlain || response._headerSent !== false) return false;
    response._header = 'sent with the content';
    response._headerSent = true;
    response.end(this.#dated());
    return true;
  }

  /** Updates the date in the shared buffer. A write in progress may get the newer date, which is harmless. */
  #dated(): Buffer {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#whole.write(new Date(1000 * second).toUTCString(), this.#dateAt, 'latin1');
    }
    return this.#whole;
  }
}

const linesOf = (headers: readonly string[]): string => {
  let lines = '';
  for (let at = 0; at < headers.length; at += 2) {
    lines += `${headers[at] ?? ''}: ${headers[at + 1] ?? ''}\r\n`;
  }
  return lines;
};
