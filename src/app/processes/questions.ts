/** Questions to another process, which answers by messages, in any order or never. */
export class Questions<Answer> {
  readonly #patienceMs: number;
  readonly #open = new Map<number, (answer?: Answer) => void>();
  #asked = 0;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** @returns undefined when there is no answer in time */
  ask(send: (question: number) => void): Promise<Answer | undefined> {
    const question = this.#asked++;
    return new Promise((resolve) => {
      const end = (answer?: Answer) => {
        clearTimeout(timer);
        this.#open.delete(question);
        resolve(answer);
      };
      const timer = setTimeout(end, this.#patienceMs);
      this.#open.set(question, end);
      send(question);
    });
  }

  answered(question: number, answer: Answer): void {
    this.#open.get(question)?.(answer);
  }
}
