import type { GenericSchema } from 'valibot'
import type { ErrorCode } from './errors.ts'

/**
 * Who may call an operation. `null`: anyone. `'principal'`: any authenticated caller. A string: that scope, where
 * `{name}` stands for the path parameter. `anyOf`: rows are visible through any of the grants, where `{name}` stands
 * for a field of the row; a row that none covers answers as if it did not exist.
 */
export type ScopeRule =
  | null
  | 'principal'
  | `${string}:${string}`
  | { readonly anyOf: readonly string[] }
  | { readonly scope: string; readonly whenConfig: 'metrics.requireAuth' }
  | { readonly scope: string; readonly rawScope: string }

export interface ResponseSpec {
  readonly schema?: GenericSchema
  /** What the body is, where it is not one JSON document. */
  readonly stream?: 'event-stream' | 'ndjson' | 'csv' | 'text' | 'html' | 'websocket'
  readonly description: string
  readonly location?: true
}

/** One row of the operation table: routing, validation, authorization, OpenAPI, docs and the client derive from it. */
export interface Operation {
  /** `resource.verb`, unique. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base path; parameters as `:name`. */
  readonly path: string
  readonly scope: ScopeRule
  /**
   * For what changes rows under a scope that names something else, such as their agent: the scopes that show a caller
   * those rows, with `{name}` for a field of the row. It acts on what one of them covers, and on what the caller owns;
   * anything else answers as if it did not exist.
   */
  readonly sight?: readonly string[]
  /** Whether it honours `Idempotency-Key`. */
  readonly idempotent: boolean
  /** Its answer holds a secret: remembered under a key only sealed. */
  readonly sealed?: true
  readonly query?: GenericSchema
  readonly body?: GenericSchema
  /** Answered only when its entry in the audit chain is durable; does nothing when that cannot be written. */
  readonly privileged?: true
  /** By status, 2xx only. */
  readonly responses: { readonly [status: number]: ResponseSpec }
  /** What it answers beyond what its other fields imply; see `errorsOf`. */
  readonly errors: readonly ErrorCode[]
  readonly summary: string
  /** Has no handler: part of the interface, answered 501 `not-implemented` by contract. */
  readonly refused?: true
}

export type OperationTable = Readonly<Record<string, Operation>>
