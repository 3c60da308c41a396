import { createRetry, type Retry } from '@perdure/core'
import { systemClock, systemTimers } from '@perdure/platform-node'

/** For the code of agents: calls again what failed for a reason that may pass, at the pace its provider asks for. */
export const retry: Retry = createRetry({ timers: systemTimers, clock: systemClock, random: Math.random })
