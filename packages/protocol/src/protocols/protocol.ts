import type { ErrorCode } from '../errors.ts'
import type { OperationTable } from '../operation.ts'

/** An error of a request. */
export interface ShownError {
  readonly code: ErrorCode
  /** The name of the error in responses. */
  readonly error: string
  readonly message: string
  readonly hint?: string | undefined
  readonly requestId: string
  readonly retryAfterMs?: number | undefined
}

/** A protocol of other software that clients may speak. */
export interface Protocol {
  /** The group of its operations, with which their ids begin. */
  readonly group: string
  /** Describes the group. */
  readonly summary: string
  /** Describes the configuration field that turns the protocol off. */
  readonly mounts: string
  /** Requests may have members that this server does not know, because clients add members in minor versions. */
  readonly operations: OperationTable
  /** Its documented schemas, by name. */
  readonly schemas: object
  /** Headers of its own, which pages of other origins use. */
  readonly headers?: {
    /** The names of headers that a page may send. */
    readonly sent?: readonly string[]
    /** Matches the names of further headers that a page may send, because new versions of a client add some. */
    readonly sentPattern?: RegExp
    /** The names of headers that a page may read. */
    readonly read?: readonly string[]
  }
  /** `false` if a call that starts a run and finds every stream taken is answered with the state of its run. */
  readonly needsStream?: false
  /**
   * The body of an error response as the clients read it; by default, that of any other operation.
   *
   * @param json the body of the request, as far as it was read
   */
  readonly errorBody?: (
    error: ShownError,
    json: unknown,
  ) => {
    readonly text: string
    readonly contentType: string
    readonly headers?: Readonly<Record<string, string>> | undefined
  }
}
