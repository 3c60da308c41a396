import type { LogEvent } from '@perdure/core'
import type { StreamAnswer, Visibility } from '@perdure/ports'
import type { RunTargetId } from '../chat/limited-streams.ts'
import type { Frame, Projector } from '../projection.ts'

export interface CallStreamRequest {
  readonly runId: string
  readonly target: RunTargetId
  readonly visibility: Visibility
  readonly tokenId?: string | undefined
  /** The id of the last frame that the client received, without what `frameIdOf` adds. */
  readonly lastEventId?: string | undefined
  readonly projector: Projector
  readonly start: 'first' | 'now' | ((event: LogEvent) => boolean)
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The id of a frame as the client receives it; `undefined` for none. */
  readonly frameIdOf?: ((frameId: string) => string | undefined) | undefined
  /** Ends the stream with these frames after this time, in milliseconds. */
  readonly deadline?: { readonly afterMs: number; frames(): readonly Frame[] } | undefined
}

/** Opens the stream of a run as the answer to a call. @throws PerdureError `run-not-found`, `overloaded` */
export type OpenCallStream = (request: CallStreamRequest) => Promise<StreamAnswer>

/** The blocks of the stream as one text, once it has ended. @throws PerdureError `run-not-found`, `overloaded` */
export type ReadCallStream = (request: Omit<CallStreamRequest, 'headers'>) => Promise<string>

/** Streams several runs in one response. @throws PerdureError `run-not-found`, `overloaded` */
export type OpenJoinedStream = (request: {
  readonly streams: ReadonlyArray<Omit<CallStreamRequest, 'tokenId' | 'headers'>>
  readonly tokenId?: string | undefined
  readonly opening: readonly Frame[]
  readonly closing: readonly Frame[]
}) => Promise<StreamAnswer>
