import {
  type AuthorizedSubject,
  type EventFeed,
  type Recording,
  type RenderEnvelope,
  runSubject,
  type WatchCredential,
} from '@perdure/core'
import {
  type EventLog,
  type Logger,
  perdureError,
  type RunStore,
  type SessionStore,
  type StreamAnswer,
  type Timers,
  type Visibility,
  type YieldTurn,
} from '@perdure/ports'
import { formatSubject, isTerminal } from '@perdure/protocol'
import { openSource } from '../open-source.ts'
import { formatBlock } from './block.ts'
import { type BlockSource, fromGenerator } from './block-source.ts'
import { createBlockStream } from './block-stream.ts'
import { type ClosingFrames, closeAfter } from './close-after.ts'
import { collectBlocks } from './collect-blocks.ts'
import { createFollower } from './follow.ts'
import { joinBlocks } from './join-blocks.ts'
import { NO_CONTENT, type NoContent } from './no-content.ts'
import { createOpenStreams, type StreamPlace } from './open-streams.ts'
import { createProjectedBlocks, formatFrameId, type ProjectedStart, parseFrameId } from './projected-blocks.ts'
import { renderReplayBlocks } from './replay-stream.ts'
import type { ProjectedFrame, RunProjector } from './run-projector.ts'
import { createSharedChunks } from './shared-chunks.ts'
import { createSharedProjections } from './shared-projections.ts'
import { createStreamBlocks } from './stream-blocks.ts'

export interface EventStreamsDeps {
  readonly runs: Pick<RunStore, 'find'>
  readonly sessions: Pick<SessionStore, 'find'>
  readonly events: EventLog
  readonly feed: EventFeed
  readonly render: RenderEnvelope
  readonly timers: Timers
  readonly yieldTurn: YieldTurn
  readonly logger: Logger
  readonly watchCredential: WatchCredential
  /** Maximum streams open at once. */
  readonly maxStreams: number
  /** Maximum streams open at once for one token. */
  readonly maxStreamsPerToken: number
  readonly heartbeatMs: number
  /** The interval of heartbeats on streams of other protocols. */
  readonly projectedHeartbeatMs: number
  /** A client that reads nothing for this long while blocks are waiting is disconnected. */
  readonly stallMs: number
}

export interface OpenStreamRequest {
  readonly visibility: Visibility
  /** The caller's token; the stream ends when the token is revoked, expires or loses its scopes. */
  readonly tokenId?: string | undefined
  /** Id of the last event the client received. */
  readonly lastEventId?: string | undefined
  /** The place that was reserved for the stream. */
  readonly place?: StreamPlace | undefined
}

export interface OpenReplayStreamRequest extends Pick<OpenStreamRequest, 'tokenId'> {
  readonly speed: number | undefined
}

export interface OpenProjectedStreamRequest extends OpenStreamRequest {
  readonly runId: string
  readonly projector: RunProjector
  /** How the events are rendered once for all live readers. Missing: the frames are for this reader only. */
  readonly sharing?: FrameSharing | undefined
  /** Where the response begins unless `lastEventId` names a frame. */
  readonly start: ProjectedStart
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * The id of a frame as the client receives it; `lastEventId` is the id without what this adds. `undefined`: the frame
   * has no id, and the client cannot resume.
   */
  readonly frameIdOf?: ((frameId: string) => string | undefined) | undefined
  /** Ends the stream with these frames after this time. */
  readonly deadline?: ClosingFrames | undefined
}

/** Readers of a run whose requests have the same `form` get the same frames. */
export interface FrameSharing {
  readonly form: string
  /** Another projector like the one of the request, for a reader that was too far behind the others. */
  renew(): RunProjector
}

export type ReadProjectedStreamRequest = Omit<OpenProjectedStreamRequest, 'headers'>

/** Opens Server-Sent Events streams. Each stream must be piped or cancelled. */
export interface EventStreams {
  /**
   * Streams the events of a run up to the last event. Without a cursor it starts at the first event. Answers 204 if the
   * run has ended and the client has all of its events.
   *
   * @throws PerdureError `run-not-found`; `overloaded` if too many streams are open, in all or for the token
   */
  openRunStream(request: OpenStreamRequest & { readonly runId: string }): Promise<StreamAnswer | NoContent>
  /**
   * Streams the events of a session; without a cursor, new events only.
   *
   * @throws PerdureError `session-not-found`, `overloaded`
   */
  openSessionStream(request: OpenStreamRequest & { readonly sessionId: string }): Promise<StreamAnswer | NoContent>
  /**
   * Streams the events of a run as frames of another protocol. Ends with the run, and when the run waits for its client.
   *
   * @throws PerdureError `run-not-found`, `overloaded`
   */
  openProjectedStream(request: OpenProjectedStreamRequest): Promise<StreamAnswer>
  /**
   * The blocks of such a stream as one text, once the stream has ended. It counts as an open stream meanwhile, and ends
   * early if the token becomes invalid or all streams are closed.
   *
   * @throws PerdureError `run-not-found`, `overloaded`
   */
  readProjectedStream(request: ReadProjectedStreamRequest): Promise<string>
  /** Streams several runs in one response, which counts as one stream. @throws PerdureError `run-not-found`, `overloaded` */
  openJoinedStream(request: OpenJoinedStreamRequest): Promise<StreamAnswer>
  /** Counts a stream before what leads to it happens. @throws PerdureError `overloaded` */
  reserveStream(tokenId: string | undefined): StreamPlace
  /** Streams the recorded events, paced by `speed` if given. @throws PerdureError `overloaded` */
  openReplayStream(recording: Recording, request: OpenReplayStreamRequest): StreamAnswer
  /** Ends every stream after the blocks already buffered, and refuses new streams. */
  closeAll(): Promise<void>
  /** Number of open streams. */
  size(): number
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}

type ProjectedRequest = Omit<ReadProjectedStreamRequest, 'tokenId' | 'place'>

export interface OpenJoinedStreamRequest extends Pick<OpenStreamRequest, 'tokenId'> {
  readonly streams: readonly ProjectedRequest[]
  /** The frames before those of the runs. */
  readonly opening: readonly ProjectedFrame[]
  /** The frames after those of all runs. */
  readonly closing: readonly ProjectedFrame[]
}

type OpenBlocks = (wake: () => void) => BlockSource

interface Reader extends Pick<OpenStreamRequest, 'tokenId' | 'place'> {
  readonly heartbeatMs?: number
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export function createEventStreams(deps: EventStreamsDeps): EventStreams {
  const { runs, sessions, events, watchCredential } = deps
  const open = createOpenStreams(deps)
  const shared = createSharedProjections()
  const chunks = createSharedChunks()

  /**
   * Streams the blocks until they end, the client disconnects, its token becomes invalid, or all streams are closed.
   */
  const stream200 = (
    { tokenId, place, heartbeatMs = deps.heartbeatMs, headers }: Reader,
    openBlocks: OpenBlocks,
  ): StreamAnswer => {
    const onEnd = claim(() => stream.end(), { tokenId, place })
    const stream = createBlockStream({ ...deps, heartbeatMs }, { open: openBlocks, onEnd })
    return { status: 200, headers: { ...HEADERS, ...headers }, stream }
  }

  /** Counts a stream until the returned function is called. @throws PerdureError `overloaded` */
  const claim = (end: () => void, { tokenId, place }: Pick<Reader, 'tokenId' | 'place'>): (() => void) => {
    const release = place === undefined ? open.claim(end, tokenId) : open.take(place, end)
    const unwatch = tokenId === undefined ? () => undefined : watchCredential(tokenId, end)
    return () => {
      release()
      unwatch()
    }
  }

  const follow = async (followed: AuthorizedSubject, request: OpenStreamRequest, runId?: string) => {
    const { lastEventId } = request
    const { source, start } = await openSource(events, followed, lastEventId)
    const { isComplete, stream } = followed
    const hasAll = isComplete && lastEventId !== undefined && start.gap === undefined
    if (hasAll && (await events.read(stream, { after: start.after, limit: 1 })).length === 0) {
      return NO_CONTENT
    }
    return stream200(request, (wake) => {
      const follower = createFollower(deps.feed, source, { after: start.after, isComplete, wake })
      const seat = chunks.enter(`${source.epoch} ${source.subject} ${runId ?? ''}`)
      return createStreamBlocks({ source, runId, start, lastEventId, seat }, follower)
    })
  }

  /** The run is read before its events: if the run ends in between, its last event still ends the stream. */
  const findRun = async (runId: string, visibility: Visibility) => {
    const run = await runs.find(runId, visibility)
    if (run === undefined) throw perdureError('run-not-found')
    const isComplete = isTerminal(run.status)
    const followed: AuthorizedSubject = { subject: runSubject(run), stream: { runId }, startsAt: 'first', isComplete }
    return { run, followed }
  }

  const seatOf = (sharing: FrameSharing | undefined, { runId, epoch }: { runId: string; epoch: string }) => {
    if (sharing === undefined) return undefined
    const { form, renew } = sharing
    return { renew, seat: shared.enter(`${epoch} ${runId} ${form}`, (frame) => formatFrameId(epoch, frame)) }
  }

  const openProjected = async (request: ProjectedRequest): Promise<OpenBlocks> => {
    const { runId, visibility, lastEventId, projector, sharing, start, frameIdOf, deadline } = request
    const { run, followed } = await findRun(runId, visibility)
    const opened = await openSource(events, followed, undefined)
    const { source, head } = opened
    const sent = parseFrameId(lastEventId, source.epoch)
    const cursor = sent !== undefined && sent.position <= head.position ? sent : undefined
    return (wake) => {
      const { isComplete } = followed
      const follow = () => createFollower(deps.feed, source, { after: opened.start.after, isComplete, wake })
      const { yieldTurn } = deps
      const stream = { source, run, projector, start, cursor, frameIdOf, yieldTurn, head: head.position }
      // The log of a run that has ended is not followed, so nobody else needs its frames at this time.
      const seat = isComplete ? undefined : seatOf(sharing, { runId, epoch: source.epoch })
      const blocks = createProjectedBlocks({ ...stream, sharing: seat }, follow)
      return deadline === undefined ? blocks : closeAfter(deps.timers, blocks, { ...deadline, wake })
    }
  }

  return {
    async openRunStream({ runId, visibility, ...request }) {
      const { followed } = await findRun(runId, visibility)
      return follow(followed, { visibility, ...request }, runId)
    },
    async openProjectedStream({ tokenId, place, headers, ...request }) {
      const openBlocks = await openProjected(request)
      return stream200({ tokenId, place, headers, heartbeatMs: deps.projectedHeartbeatMs }, openBlocks)
    },
    async readProjectedStream({ tokenId, place, ...request }) {
      const openBlocks = await openProjected(request)
      const end = () => collector.end()
      const collector = collectBlocks({ open: openBlocks, onEnd: claim(end, { tokenId, place }) })
      return collector.text
    },
    async openJoinedStream({ streams, opening, closing, tokenId }) {
      const sources = await Promise.all(streams.map(openProjected))
      const framing = { opening: blocksOf(opening), closing: blocksOf(closing) }
      return stream200({ tokenId, heartbeatMs: deps.projectedHeartbeatMs }, (wake) =>
        joinBlocks(
          sources.map((openBlocks) => openBlocks(wake)),
          framing,
        ),
      )
    },

    async openSessionStream({ sessionId, visibility, ...request }) {
      if ((await sessions.find(sessionId, visibility)) === undefined) throw perdureError('session-not-found')
      const subject = formatSubject('session', { sessionId })
      const followed: AuthorizedSubject = { subject, stream: { sessionId }, startsAt: 'head', isComplete: false }
      return follow(followed, { visibility, ...request })
    },

    openReplayStream: (recording, { speed, ...reader }) =>
      stream200(reader, () => {
        const ending = new AbortController()
        const { next, close } = fromGenerator(
          renderReplayBlocks(deps, recording, { speed, signal: ending.signal }),
          (error) => deps.logger.error('failed to release an event stream', error),
        )
        return {
          next,
          close() {
            ending.abort()
            close()
          },
        }
      }),

    reserveStream: open.reserve,
    closeAll: async () => open.closeAll(),
    size: open.size,
  }
}

const blocksOf = (frames: readonly ProjectedFrame[]): string => frames.map(formatBlock).join('')
