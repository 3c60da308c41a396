import { type EventHub, isTerminal, type Recording, type RenderEnvelope } from '@berth/core'
import { AppError, type EventLog, type Logger, type RunStore, type Timers, type Visibility } from '@berth/ports'
import { followEvents } from './follow.ts'
import { renderReplayBlocks } from './replay-stream.ts'
import { renderRunBlocks } from './run-blocks.ts'
import { createBlockStream } from './sse/block-stream.ts'
import { findStartingPoint } from './starting-point.ts'

export interface RunStreamsDeps {
  readonly runs: RunStore
  readonly events: EventLog
  readonly hub: EventHub
  readonly timers: Timers
  readonly logger: Logger
  readonly render: RenderEnvelope
  /** Streams open at once at most. */
  readonly maxStreams: number
  readonly heartbeatMs: number
}

export interface OpenRunStreamRequest {
  readonly runId: string
  readonly visibility: Visibility
  /** The last event the client has; without it the stream starts at the run's first event. */
  readonly lastEventId?: string | undefined
}

export interface RunStreams {
  /**
   * The events of a run as Server-Sent Events, until the one that ends it; 204 when the run has ended and the client has
   * everything.
   *
   * @throws AppError `run-not-found`; `overloaded` when too many streams are open
   */
  openRunStream(request: OpenRunStreamRequest): Promise<Response>
  /** The recorded events as Server-Sent Events, paced by `speed` where it is given. @throws AppError `overloaded` */
  openReplayStream(recording: Recording, speed: number | undefined): Response
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

export function createRunStreams(deps: RunStreamsDeps): RunStreams {
  const { runs, events, render, maxStreams } = deps
  const open = new Set<() => void>()
  let isClosed = false

  const claim = (end: () => void) => {
    if (isClosed || open.size >= maxStreams) throw new AppError('overloaded', { retryAfterMs: RETRY_AFTER_MS })
    open.add(end)
  }

  /** A response that streams the blocks until they end, its reader leaves, or all streams are closed. */
  const stream200 = (blocksOf: (signal: AbortSignal) => AsyncGenerator<string, void, void>): Response => {
    const ending = new AbortController()
    const end = () => ending.abort()
    claim(end)
    const { body, end: endBody } = createBlockStream(deps, {
      blocks: blocksOf(ending.signal),
      onEnd() {
        open.delete(end)
        ending.abort()
      },
    })
    ending.signal.addEventListener('abort', endBody)
    return new Response(body, { headers: HEADERS })
  }

  return {
    async openRunStream({ runId, visibility, lastEventId }) {
      // The run is read before its events: one that ends in between is still found ended by its last event.
      const run = await runs.find(runId, visibility)
      if (run === undefined) throw new AppError('run-not-found')
      const isComplete = isTerminal(run.status)
      const stream = { runId }
      const firstAfter = async (after: number) => (await events.read(stream, { after, limit: 1 }))[0]
      const head = await events.head()
      const start = await findStartingPoint(head, { lastEventId, startsAt: 'first' }, firstAfter)

      const hasAll = isComplete && lastEventId !== undefined && start.gap === undefined
      if (hasAll && (await firstAfter(start.after)) === undefined) return new Response(null, { status: 204 })

      return stream200((signal) => {
        const following = followEvents(deps, stream, { after: start.after, isComplete, signal })
        return renderRunBlocks({ run, epoch: head.epoch, start, lastEventId, render }, following)
      })
    },

    openReplayStream: (recording, speed) =>
      stream200((signal) => renderReplayBlocks(deps, recording, { speed, signal })),

    async closeAll() {
      isClosed = true
      for (const end of open) end()
    },

    size: () => open.size,
  }
}
