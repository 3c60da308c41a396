import type { GenericSchema, InferOutput } from 'valibot'
import type { Documented } from './documented.ts'
import type { ErrorCode } from './errors.ts'

/**
 * The callers that an operation accepts. `null`: anyone. `'principal'`: any authenticated caller. A string: callers
 * with that scope; `{name}` stands for a path parameter. `anyOf`: callers see a row through any of these scopes, where
 * `{name}` stands for a field of the row; a row that no grant covers is treated as if it did not exist.
 */
export type ScopeRule =
  | null
  | 'principal'
  | `${string}:${string}`
  | { readonly anyOf: readonly string[] }
  | { readonly scope: string; readonly whenConfig: 'metrics.requireAuth' }
  | { readonly scope: string; readonly rawScope: string }

export interface ResponseSpec {
  readonly schema?: GenericSchema & Documented
  /** Format of the body, when it is not a single JSON document. */
  readonly stream?: 'event-stream' | 'ndjson' | 'csv' | 'text' | 'html' | 'bytes' | 'websocket'
  readonly description: string
  readonly location?: true
}

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * One row of the operation table, from which routing, validation, authorization, OpenAPI, docs and the client derive.
 */
export interface Operation {
  /** `resource.verb`, unique. */
  readonly id: string
  readonly method: (typeof METHODS)[number]
  /** Relative to the base path; parameters are written `:name`. */
  readonly path: string
  readonly scope: ScopeRule
  /**
   * Set when `scope` names something other than the rows that the operation changes, such as their agent: the scopes
   * that make those rows visible to a caller, where `{name}` stands for a field of the row. The operation acts only on
   * rows that one of these scopes covers or that the caller owns, and treats any other row as if it did not exist. An event
   * wakes every run that waits for it; its response lists only these rows.
   */
  readonly sight?: readonly string[]
  /**
   * Scopes that some requests need besides `scope`, depending on their body and on the rows that they name, where `{name}`
   * stands for a field of the row. The use case checks them.
   */
  readonly mayNeed?: readonly string[]
  /**
   * The member of the body that names what the operation starts: the id of an agent, or `workflow:` and the id of a
   * workflow. The caller needs the scope to start it.
   */
  readonly targetFrom?: 'model'
  /** A public operation whose response contains more for a caller with a valid token. */
  readonly showsMore?: true
  /** The response describes this process and contains no row, so it is the same while other servers may take over. */
  readonly describesProcess?: true
  /**
   * A read that clients of a protocol repeat to follow a run: it has a rate limit of its own, `protocols.pollsPerMinute`.
   * With a header, only requests that send this value in it. The operation refuses a request whose header is wrong.
   */
  readonly polls?: true | { readonly header: string; readonly value: string }
  /** Whether the operation honours `Idempotency-Key`. */
  readonly idempotent: boolean
  /**
   * The response contains a secret. It is stored sealed under its idempotency key, and shown again only to the tokens
   * of the family that received it.
   */
  readonly sealed?: true
  /**
   * A request with a repeated idempotency key reads its response again. Stored under the key is only that the first
   * request took effect. For operations whose response shows recorded events.
   */
  readonly rereads?: true
  /** The method is not GET, and yet the operation changes nothing that another caller can see. */
  readonly changesNothing?: true
  readonly query?: GenericSchema
  readonly body?: GenericSchema & Documented
  /** The body may also have the type `text/plain`, which `fetch` sends with a text when the caller names no type. */
  readonly acceptsText?: true
  /** Clients send the whole history with each message, so the body may have more members than those of other operations. */
  readonly sendsHistory?: true
  /** The body is the content of a file, of any media type, instead of JSON. */
  readonly takesFile?: true
  /** The use case reads the body, as bytes, after its own checks. The operation may have its own limit of requests. */
  readonly takesRaw?: true
  /**
   * The operation responds only after its audit entry is durable. It has no effect when the entry cannot be written.
   */
  readonly privileged?: true
  /** Successful responses by status; health checks also list 503. */
  readonly responses: { readonly [status: number]: ResponseSpec }
  /** Errors beyond those that the other fields imply; see `errorsOf`. */
  readonly errors: readonly ErrorCode[]
  readonly summary: string
  /** The contract defines this operation as not implemented: it has no handler and responds 501 `not-implemented`. */
  readonly refused?: true
}

type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type ParsedBy<Schema> = Schema extends GenericSchema ? InferOutput<Schema> : unknown

/** What a validated request passes to its operation. */
export interface OperationInput<Op extends Operation> {
  readonly params: { readonly [Name in ParamNames<Op['path']>]: string }
  readonly query: ParsedBy<Op['query']>
  readonly body: ParsedBy<Op['body']>
}

/** Whether the operation changes something: `console.readOnly` refuses it to sessions of the console. */
export const changesState = ({ method, changesNothing }: Operation): boolean =>
  method !== 'GET' && changesNothing !== true

export type OperationTable = Readonly<Record<string, Operation>>
