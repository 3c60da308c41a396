import { formatEventId, type Recording, type RenderEnvelope } from '@perdure/core'
import type { EventLog, Timers } from '@perdure/ports'
import { formatBlock } from './sse/block.ts'

export interface ReplayStreamDeps {
  readonly events: EventLog
  readonly timers: Timers
  readonly render: RenderEnvelope
}

const PAGE_LIMIT = 200
const MAX_PAUSE_MS = 60_000

/**
 * Yields the blocks of a replay, oldest event first, up to the event that was the newest when the replay began. If
 * `speed` is given, the original time between events is divided by `speed`; otherwise events follow each other without
 * pauses.
 */
export async function* renderReplayBlocks(
  { events, timers, render }: ReplayStreamDeps,
  { stream, subject, raw }: Recording,
  { speed, signal }: { readonly speed: number | undefined; readonly signal: AbortSignal },
): AsyncGenerator<string, void, void> {
  const { epoch, position: last } = await events.head()
  let after = 0
  let previousAt: number | undefined
  for (;;) {
    const page = await events.read(stream, { after, limit: PAGE_LIMIT })
    for (const event of page) {
      if (event.position > last || signal.aborted) return
      if (speed !== undefined && previousAt !== undefined) await pause(timers, (event.at - previousAt) / speed, signal)
      previousAt = event.at
      after = event.position
      const id = formatEventId({ epoch, position: event.position })
      yield formatBlock({ id, event: event.type, data: render(event, { subject, epoch, raw }) })
    }
    if (page.length < PAGE_LIMIT) return
  }
}

function pause(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return Promise.resolve()
  return new Promise((resolve) => {
    const cancel = timers.after(Math.min(ms, MAX_PAUSE_MS), resolve)
    signal.addEventListener('abort', () => {
      cancel()
      resolve()
    })
  })
}
