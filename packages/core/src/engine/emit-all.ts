import type { CallScope } from '../durable/call-scope.ts'
import { checkMembers } from '../durable/check-options.ts'
import type { AgentEvent } from '../targets/agent.ts'

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
  events: AsyncGenerator<AgentEvent, unknown, void>,
  scope: CallScope,
  onRefused: (error: unknown) => void,
): Promise<unknown> {
  const { journal, ledger, signal } = scope
  const close = () => void events.return(undefined).catch(() => undefined)
  signal.addEventListener('abort', close, { once: true })
  let newest: Promise<void> | undefined
  let half: Promise<void> | undefined
  try {
    for (let count = 1; ; count++) {
      const next = await events.next()
      if (next.done) return next.value
      if (ledger.isReplaying()) continue
      checkMembers('what a generator yields', next.value, ['type', 'payload', 'phase'])
      const { type, payload, phase } = next.value
      const durable = journal.emit(type, payload, phase)
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

/** Whether the code of a run is a generator of events. */
export function isGenerator(value: unknown): value is AsyncGenerator<AgentEvent, unknown, void> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value
}
