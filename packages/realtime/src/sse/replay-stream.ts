import { eachEvent, formatEventId, type Recording, type RenderEnvelope, recordedLog } from '@perdure/core'
import type { EventLog, StoredEvent, Timers } from '@perdure/ports'
import { formatBlock } from './block.ts'

export interface ReplayStreamDeps {
  readonly events: EventLog
  readonly timers: Timers
  readonly render: RenderEnvelope
}

const MAX_PAUSE_MS = 60_000

/**
 * Yields the blocks of a replay, oldest event first, up to the event that was the newest when the replay began. If
 * `speed` is given, the original time between events is divided by `speed`; otherwise events follow each other without
 * pauses. Reads the log only as fast as the caller iterates.
 */
export async function* renderReplayBlocks(
  { events, timers, render }: ReplayStreamDeps,
  recording: Recording,
  { speed, signal }: { readonly speed: number | undefined; readonly signal: AbortSignal },
): AsyncGenerator<string, void, void> {
  const { stream, subject, raw } = recording
  const { epoch, position: through } = await events.head()
  const toBlock = (event: StoredEvent) => ({
    at: event.at,
    block: formatBlock({
      id: formatEventId({ epoch, position: event.position }),
      event: event.type,
      data: render(event, { subject, epoch, raw }),
    }),
  })
  let previousAt: number | undefined
  for await (const { at, block } of eachEvent(recordedLog(events, recording), { stream, through }, toBlock)) {
    if (signal.aborted) return
    if (speed !== undefined && previousAt !== undefined) await pause(timers, (at - previousAt) / speed, signal)
    previousAt = at
    yield block
  }
}

function pause(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = timers.after(Math.min(ms, MAX_PAUSE_MS), end)
    signal.addEventListener('abort', end)
  })
}
