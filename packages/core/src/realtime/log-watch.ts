import type { EventLog } from '@perdure/ports'
import type { Daemon } from '../lifecycle/daemon.ts'
import { createSupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import type { EventHub } from './event-hub.ts'

export interface LogWatchDeps extends SupervisedLoopDeps {
  readonly events: Pick<EventLog, 'head'>
  readonly hub: Pick<EventHub, 'refresh'>
}

const EVERY_MS = 2_000

/**
 * Wakes the readers of the event log when the log has grown, for a storage that several processes write to: the hub
 * publishes only the commits of its own process.
 */
export function createLogWatch(deps: LogWatchDeps): Daemon {
  let last = 0
  return createSupervisedLoop(deps, {
    name: 'event log',
    async work() {
      const { position } = await deps.events.head()
      if (position !== last) deps.hub.refresh(position)
      last = position
      return EVERY_MS
    },
  })
}
