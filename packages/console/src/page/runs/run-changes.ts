import type { EventType } from '@perdure/protocol'
import type { Event, RunSummary } from '../client/resources.ts'

type Change = Partial<RunSummary>

/** What a lifecycle event can say about its run. */
interface Lifecycle {
  readonly status?: RunSummary['status']
  readonly attempt?: number
  readonly usage?: RunSummary['usage']
  readonly error?: RunSummary['error']
  readonly reason?: string
  readonly result?: unknown
  readonly finishReason?: RunSummary['finishReason']
}

type ChangeOf = (at: string, payload: Lifecycle, run: RunSummary) => Change

/** What each event changes besides the status. */
const CHANGES: Readonly<Record<string, ChangeOf>> = {
  'run.started': (at, _, run) => ({ startedAt: run.startedAt ?? at }),
  'run.suspended': (at) => ({ suspendedAt: at }),
  'run.resumed': () => ({ suspendedAt: undefined }),
  'run.completed': (at, { finishReason = 'completed', result }) => ({
    ...{ completedAt: at, finishReason },
    ...(result === undefined ? {} : { result }),
  }),
  'run.failed': (at, { finishReason = 'error', error }) => ({ completedAt: at, finishReason, error }),
  'run.aborted': (at, { finishReason = 'aborted', reason }) => ({ completedAt: at, finishReason, abortReason: reason }),
} satisfies Partial<Record<EventType, ChangeOf>>

/** The run after a lifecycle event. */
export function applyEvent<Shown extends RunSummary>(run: Shown, { type, at, payload }: Event): Shown {
  const change = (payload ?? {}) as Lifecycle
  const { status, attempt = run.attempt, usage = run.usage } = change
  if (status === undefined) return run
  return { ...run, status, attempt, usage, ...CHANGES[type]?.(at, change, run) }
}
