import type { KeyedRequest, Principal, ReceivedFile, Reply } from '@perdure/core'
import type { RequestOrigin, Visibility } from '@perdure/ports'
import type { Operation, OperationInput, OperationTable } from '@perdure/protocol'
import type { Preferences } from './request/prefer.ts'
import type { Outgoing } from './response/text-answer.ts'

/** A validated, authenticated and authorized request, as passed to its handler. */
export interface Call<Op extends Operation> extends OperationInput<Op> {
  readonly principal: Principal
  /** The rows the caller may see. */
  readonly visibility: Visibility
  readonly key: KeyedRequest | undefined
  /** The content of an operation that takes a file; `undefined` for any other. */
  readonly received: ReceivedFile | undefined
  /** Reads the unparsed body of an operation that takes it raw. @throws PerdureError `body-too-large`, `unsupported-media-type` */
  readonly readRaw: () => Promise<Uint8Array>
  readonly prefer: Preferences
  readonly traceparent: string | undefined
  readonly acceptsEventStream: boolean
  /** The Origin header. */
  readonly origin: string | undefined
  /** Counts a poll by the bytes that it has cost; `undefined` for any other request. */
  readonly charge: ((bytes: number) => void) | undefined
  /** The Accept-Encoding header, or an empty text. */
  readonly acceptEncoding: string
  readonly ifNoneMatch: string
  readonly clientAddress: string
  /** The request, for its audit entries. */
  readonly requestOrigin: RequestOrigin
  /** The Host header. */
  readonly host: string
  /** Whether the client used TLS. */
  readonly isSecure: boolean
  /** The Last-Event-ID header. */
  readonly lastEventId: string | undefined
  /** Reads a header of a protocol that repeats parts of its messages in headers. @param name in lower case */
  readonly header: (name: string) => string | undefined
}

export type Answer = Reply | Outgoing

/** One handler per implemented operation of a resource group; a missing or misnamed handler is a type error. */
export type Handlers<Ops extends OperationTable> = {
  readonly [Id in keyof Ops as Ops[Id] extends { readonly refused: true } ? never : Id]: (
    call: Call<Ops[Id]>,
  ) => Answer | Promise<Answer>
}
