import {
  type EventFeed,
  type Followed,
  isTerminal,
  type Recording,
  type RenderEnvelope,
  runSubject,
  type WatchCredential,
} from '@perdure/core'
import {
  AppError,
  type EventLog,
  type Logger,
  type RunStore,
  type SessionStore,
  type Timers,
  type Visibility,
} from '@perdure/ports'
import { formatSubject } from '@perdure/protocol'
import { followEvents } from './follow.ts'
import { openSource } from './open-source.ts'
import { renderReplayBlocks } from './replay-stream.ts'
import { createBlockStream } from './sse/block-stream.ts'
import { renderStreamBlocks } from './stream-blocks.ts'

export interface EventStreamsDeps {
  readonly runs: Pick<RunStore, 'find'>
  readonly sessions: Pick<SessionStore, 'find'>
  readonly events: EventLog
  readonly feed: EventFeed
  readonly render: RenderEnvelope
  readonly timers: Timers
  readonly logger: Logger
  readonly watchCredential: WatchCredential
  /** Streams open at once at most. */
  readonly maxStreams: number
  readonly heartbeatMs: number
  /** How long a reader may take nothing while blocks wait for it. */
  readonly stallMs: number
}

export interface OpenStreamRequest {
  readonly visibility: Visibility
  /** Of who asks; the stream ends when it is lost. */
  readonly tokenId?: string | undefined
  /** The last event the client has. */
  readonly lastEventId?: string | undefined
  /** Cuts off a reader that takes nothing; without it, its stream fails. */
  readonly hangUp?: (() => void) | undefined
}

export interface OpenReplayStreamRequest extends Pick<OpenStreamRequest, 'tokenId' | 'hangUp'> {
  readonly speed: number | undefined
}

/** Server-Sent Events. */
export interface EventStreams {
  /**
   * The events of a run, from its first one without a cursor, until the one that ends it; 204 when the run has ended and
   * the client has everything.
   *
   * @throws AppError `run-not-found`; `overloaded` when too many streams are open
   */
  openRunStream(request: OpenStreamRequest & { readonly runId: string }): Promise<Response>
  /** The events of a session, without a cursor those to come. @throws AppError `session-not-found`, `overloaded` */
  openSessionStream(request: OpenStreamRequest & { readonly sessionId: string }): Promise<Response>
  /** The recorded events, paced by `speed` where it is given. @throws AppError `overloaded` */
  openReplayStream(recording: Recording, request: OpenReplayStreamRequest): Response
  /** Ends every stream after what is already on its way, and opens no more. */
  closeAll(): Promise<void>
  /** Open streams. */
  size(): number
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}
const RETRY_AFTER_MS = 1_000

type Reader = Pick<OpenStreamRequest, 'tokenId' | 'hangUp'>
type BlocksOf = (signal: AbortSignal) => AsyncGenerator<string, void, void>

export function createEventStreams(deps: EventStreamsDeps): EventStreams {
  const { runs, sessions, events, watchCredential, maxStreams } = deps
  const open = new Set<() => void>()
  let isClosed = false

  const claim = (end: () => void) => {
    if (isClosed || open.size >= maxStreams) throw new AppError('overloaded', { retryAfterMs: RETRY_AFTER_MS })
    open.add(end)
  }

  /** A response that streams the blocks until they end, its reader leaves, its token is lost, or all streams are closed. */
  const stream200 = ({ tokenId, hangUp }: Reader, blocksOf: BlocksOf): Response => {
    const ending = new AbortController()
    const end = () => ending.abort()
    claim(end)
    const unwatch = tokenId === undefined ? () => undefined : watchCredential(tokenId, end)
    const { body, end: endBody } = createBlockStream(deps, {
      ...{ blocks: blocksOf(ending.signal), hangUp },
      onEnd() {
        open.delete(end)
        unwatch()
        ending.abort()
      },
    })
    ending.signal.addEventListener('abort', endBody)
    return new Response(body, { headers: HEADERS })
  }

  const follow = async (followed: Followed, request: OpenStreamRequest, runId?: string) => {
    const { lastEventId } = request
    const { source, start } = await openSource(events, followed, lastEventId)
    const { isComplete, stream } = followed
    const hasAll = isComplete && lastEventId !== undefined && start.gap === undefined
    if (hasAll && (await events.read(stream, { after: start.after, limit: 1 })).length === 0) {
      return new Response(null, { status: 204 })
    }
    return stream200(request, (signal) => {
      const following = followEvents(deps.feed, source, { after: start.after, isComplete, signal })
      return renderStreamBlocks({ source, runId, start, lastEventId }, following)
    })
  }

  return {
    async openRunStream({ runId, visibility, ...request }) {
      // The run is read before its events: one that ends in between is still found ended by its last event.
      const run = await runs.find(runId, visibility)
      if (run === undefined) throw new AppError('run-not-found')
      const isComplete = isTerminal(run.status)
      const followed: Followed = { subject: runSubject(run), stream: { runId }, startsAt: 'first', isComplete }
      return follow(followed, { visibility, ...request }, runId)
    },

    async openSessionStream({ sessionId, visibility, ...request }) {
      if ((await sessions.find(sessionId, visibility)) === undefined) throw new AppError('session-not-found')
      const subject = formatSubject('session', { sessionId })
      const followed: Followed = { subject, stream: { sessionId }, startsAt: 'head', isComplete: false }
      return follow(followed, { visibility, ...request })
    },

    openReplayStream: (recording, request) =>
      stream200(request, (signal) => renderReplayBlocks(deps, recording, { speed: request.speed, signal })),

    async closeAll() {
      isClosed = true
      for (const end of open) end()
    },

    size: () => open.size,
  }
}
