import type { LogEvent } from '@perdure/core'
import type { StreamAnswer, Visibility } from '@perdure/ports'
import { type ProtocolCall, type StreamPlace, toCall } from '../handlers.ts'
import type { FrameSharing, Projector } from '../projection.ts'
import type { RunTargetId } from './limited-streams.ts'

/** Opens the stream of a run in the form of a protocol. @throws PerdureError `run-not-found`, `overloaded` */
export type OpenProjectedStream = (request: {
  readonly runId: string
  readonly target: RunTargetId
  readonly visibility: Visibility
  readonly tokenId?: string | undefined
  readonly place?: StreamPlace | undefined
  readonly lastEventId?: string | undefined
  readonly projector: Projector
  readonly sharing?: FrameSharing | undefined
  readonly start: 'first' | 'now' | ((event: LogEvent) => boolean)
  readonly headers?: Readonly<Record<string, string>>
}) => Promise<StreamAnswer>

/** The blocks of such a stream as one text, once it has ended. @throws PerdureError `run-not-found`, `overloaded` */
export type ReadProjectedStream = (request: Omit<Parameters<OpenProjectedStream>[0], 'headers'>) => Promise<string>

/** A request of a chat protocol to one agent. */
export interface ChatCall extends ProtocolCall {
  readonly agentId: string
}

export const toChatCall = (call: ProtocolCall & { readonly params: { readonly agentId: string } }): ChatCall => ({
  ...toCall(call),
  agentId: call.params.agentId,
})
