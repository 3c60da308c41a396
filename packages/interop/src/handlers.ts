import type { KeyedRequest, Principal, Reply } from '@perdure/core'
import type { StreamAnswer, Visibility } from '@perdure/ports'
import type { Operation, OperationInput, PROTOCOLS, ProtocolName } from '@perdure/protocol'
import type { RpcAnswer } from './mcp/json-rpc.ts'

/** A stream that the server counts before it is open, so that it can be refused before a run starts. */
export interface StreamPlace {
  /** Frees the place, unless a stream has taken it. */
  release(): void
}

/** The caller of a request, and how to answer it. */
export interface ProtocolCall {
  readonly principal: Principal
  /** The runs or sessions that the caller may see. */
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
  readonly traceparent?: string | undefined
  readonly lastEventId?: string | undefined
  /** The place that is reserved for the stream of the answer. */
  readonly place?: StreamPlace | undefined
  /** Counts a poll by the bytes that it has cost. */
  readonly charge?: ((bytes: number) => void) | undefined
}

/** A validated, authorized request to any operation of a protocol. */
export interface ProtocolRequest extends ProtocolCall {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly acceptsEventStream: boolean
  /** Reads a header. @param name in lower case */
  readonly header: (name: string) => string | undefined
}

export type Answer = Reply | StreamAnswer | Response | RpcAnswer

type Operations<Name extends ProtocolName> = (typeof PROTOCOLS)[Name]['operations']
type Request<Op> = Omit<ProtocolRequest, keyof OperationInput<Operation>> & OperationInput<Op & Operation>

/** One handler for each operation of a protocol. */
export type Handlers<Name extends ProtocolName> = {
  readonly [Id in keyof Operations<Name>]: (call: Request<Operations<Name>[Id]>) => Answer | Promise<Answer>
}

/** Leaves out what a stream must not keep in memory, such as the body. */
export const toCall = ({
  principal,
  visibility,
  key,
  traceparent,
  lastEventId,
  place,
  charge,
}: ProtocolCall): ProtocolCall => ({ principal, visibility, key, traceparent, lastEventId, place, charge })
