/** How an operation is called: what of its row in the operation table is needed at run time. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base path; parameters as `:name`. */
  readonly path: string
  readonly input?: 'body' | 'query'
  /** Honours `Idempotency-Key`. */
  readonly isKeyed?: boolean
  /** Answers pages by a cursor in the query. */
  readonly isList?: boolean
  /** Answers something else than JSON; handed on unread. */
  readonly isRaw?: boolean
  /** Statuses from 400 on that are an answer and no refusal. */
  readonly alsoAnswers?: readonly number[]
}

export type RouteTable = Readonly<Record<string, Readonly<Record<string, Route>>>>
