import type { CallScope } from '../durable/call-scope.ts'
import { checkMembers } from '../durable/check-options.ts'
import { isStreamSource, type StreamSource } from '../model-parts/stream-source.ts'
import type { Yielded } from '../targets/agent.ts'

/**
 * Half the number of events by which a generator may be ahead of the log: the generator yields one half while the other
 * half is written.
 */
const EVENTS_AHEAD = 128

/**
 * Emits what the generator yields, at most twice `EVENTS_AHEAD` events ahead of the log. When the run is aborted or an
 * event is rejected, closes the generator so that its `finally` blocks run.
 */
export async function emitAll(
  events: AsyncGenerator<Yielded, unknown, void>,
  scope: CallScope,
  { onRefused, text, show }: Emitting,
): Promise<unknown> {
  const { journal, ledger, signal } = scope
  const emitOne = (value: Exclude<Yielded, StreamSource>): Promise<void> | undefined => {
    if (typeof value === 'string') return text(value)
    if (ledger.isReplaying()) return undefined
    checkMembers('what a generator yields', value, ['type', 'payload', 'phase'])
    return journal.emit(value.type, value.payload, value.phase)
  }
  const close = () => void events.return(undefined).catch(() => undefined)
  signal.addEventListener('abort', close, { once: true })
  let newest: Promise<void> | undefined
  let half: Promise<void> | undefined
  try {
    for (let count = 1; ; count++) {
      const next = await events.next()
      if (next.done) return next.value
      const durable = isStreamSource(next.value) ? await show(next.value).then(nothing) : emitOne(next.value)
      if (durable === undefined) continue
      // Events that are written together share one promise, which needs only one handler.
      if (durable !== newest) durable.catch(onRefused)
      newest = durable
      if (count % EVENTS_AHEAD > 0) continue
      await half
      half = durable
    }
  } catch (error) {
    close()
    throw error
  } finally {
    signal.removeEventListener('abort', close)
  }
}

const nothing = () => undefined

interface Emitting {
  /** Called with the error of an event that the storage refuses. */
  readonly onRefused: (error: unknown) => void
  /** Writes a piece of text, unless the run is replaying. */
  readonly text: (delta: string) => Promise<void>
  /** Shows a stream to its end. */
  readonly show: (source: StreamSource) => Promise<unknown>
}

/** Whether the code of a run is a generator of events. */
export function isGenerator(value: unknown): value is AsyncGenerator<Yielded, unknown, void> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value
}
