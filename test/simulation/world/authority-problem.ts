/** A refusal as the authority sends it (RFC 8555, section 6.7). */
export interface ProblemDocument {
  /** Without its namespace. */
  readonly type: string;
  readonly detail: string;
  readonly status: number;
}

/** The request is refused; nothing was done. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly problem: ProblemDocument;
  readonly retryAfterS: number | undefined;

  constructor(problem: ProblemDocument, retryAfterS?: number) {
    super(problem.detail);
    this.problem = problem;
    this.retryAfterS = retryAfterS;
  }
}

export const problemOf = (type: string, detail: string, status = 400): ProblemDocument => ({
  type,
  detail,
  status,
});

export const refuse = (type: string, detail: string, status = 400): never => {
  throw new Refused(problemOf(type, detail, status));
};
