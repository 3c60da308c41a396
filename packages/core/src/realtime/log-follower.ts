import type { CommitSignal, LogFollower, TailedEvent } from '@perdure/ports'
import type { EventHub } from './event-hub.ts'

export interface LogFollowerDeps {
  readonly hub: EventHub
  /** Discarded when another process deletes something. */
  readonly answers: { clear(): void }
  /** Whether a caller or the code of a run waits for other processes. */
  readonly isWaiting: () => boolean
  readonly onForeignEvent: (event: TailedEvent) => void
  readonly onSignal: (signal: CommitSignal) => void
  /** Called when commits of other processes were skipped: anything may have changed. */
  readonly onSkip: () => void
}

/** Applies the commits of all processes to what this process keeps in memory. */
export function createLogFollower(deps: LogFollowerDeps): LogFollower {
  const { hub, answers } = deps

  const discard = () => {
    hub.invalidate()
    answers.clear()
  }

  return {
    watched: hub.watched,
    isWaiting: () => hub.hasWatchers() || deps.isWaiting(),
    deliver({ events, foreign, signals }) {
      // Readers that are woken by the events must not find what was deleted before.
      for (const signal of signals) {
        if (signal.type === 'deleted') discard()
        deps.onSignal(signal)
      }
      if (events.length > 0) hub.publish(events)
      for (const event of foreign) deps.onForeignEvent(event)
    },
    skip(position) {
      answers.clear()
      hub.refresh(position)
      deps.onSkip()
    },
  }
}
