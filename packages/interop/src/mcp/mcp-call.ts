import type { StreamAnswer } from '@perdure/ports'
import type { ProtocolCall } from '../handlers.ts'
import type { Client, ReadHeader } from './era.ts'
import type { RpcAnswer, RpcId, RpcRefusal } from './json-rpc.ts'
import type { CallStreamRequest } from './open-call-stream.ts'

/** A message of a client, and who sent it. */
export interface McpCall extends ProtocolCall {
  /** The only agent that the server has for this client; `undefined` for all agents and workflows. */
  readonly agentId?: string | undefined
  readonly acceptsEventStream: boolean
  readonly header: ReadHeader
}

/** Which answer a client follows. */
export interface Followed {
  readonly runId: string
  readonly target: CallStreamRequest['target']
  readonly requestId: RpcId
  readonly client: Client
  readonly start: CallStreamRequest['start']
  readonly lastEventId?: string | undefined
  readonly waitMs?: number | undefined
}

/** What a handler returns: the result of the request, an error, or a whole answer. */
export type Answer = { readonly result: object } | RpcRefusal | RpcAnswer | StreamAnswer
