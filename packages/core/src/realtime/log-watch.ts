import type { EventLog } from '@perdure/ports'
import type { Daemon } from '../lifecycle/daemon.ts'
import { createSupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import type { EventHub } from './event-hub.ts'

export interface LogWatchDeps extends SupervisedLoopDeps {
  readonly events: Pick<EventLog, 'head'>
  readonly hub: Pick<EventHub, 'refresh' | 'misses'>
}

const EVERY_MS = 2_000
/**
 * This process publishes its own commits within this time, so another process wrote any event that is still
 * unpublished.
 */
const CONFIRM_MS = 250

/**
 * Wakes the readers of the event log when another process has written to it, such as `perdure token create` beside a
 * server: the hub publishes only the commits of its own process.
 */
export function createLogWatch({ events, hub, ...deps }: LogWatchDeps): Daemon {
  let unpublished: number | undefined
  let isFirst = true

  return createSupervisedLoop(deps, {
    name: 'event log',
    async work() {
      const { position } = await events.head()
      const hasOtherWriter = unpublished !== undefined && hub.misses(unpublished)
      if (isFirst || hasOtherWriter) hub.refresh(position)
      isFirst = false
      unpublished = hub.misses(position) ? position : undefined
      return unpublished === undefined ? EVERY_MS : CONFIRM_MS
    },
  })
}
