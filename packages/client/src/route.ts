import type { Operation } from '@perdure/protocol'

/** The part of an operation's table row that the client needs at run time. */
export interface Route {
  readonly method: Operation['method']
  /** Relative to the base path; parameters as `:name`. */
  readonly path: string
  readonly input?: 'body' | 'query'
  /** The body is the content of a file. */
  readonly takesFile?: boolean
  /** The operation honours `Idempotency-Key`. */
  readonly isKeyed?: boolean
  /** The operation returns pages, selected by `cursor` in the query. */
  readonly isList?: boolean
  /** The response is not JSON; the caller gets an unread `Response`. */
  readonly isRaw?: boolean
  /** Statuses of 400 or above that count as a normal response. */
  readonly alsoAnswers?: readonly number[]
}

export type RouteTable = Readonly<Record<string, Readonly<Record<string, Route>>>>
