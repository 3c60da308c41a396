import type { Daemon } from '@perdure/core'
import type { Logger, Timers } from '@perdure/ports'
import type { Composition } from '../compose/compose.ts'
import { waitAtMost } from './stop-budget.ts'

export interface DrainDeps {
  readonly logger: Logger
  readonly timers: Timers
}

export interface DrainTime {
  /** How long runs may work on. */
  readonly runsMs: number
  /** Resolves when only the time for closing is left. */
  readonly closing: Promise<void>
}

const STREAM_GRACE_MS = 500

/** Ends the work of a server and hands over what is left: its daemons, its runs, and the streams and sockets of its clients. */
export async function drain(
  { logger, timers }: DrainDeps,
  { engine, streams, webSockets, daemons }: Composition,
  { runsMs, closing }: DrainTime,
): Promise<void> {
  const stopDaemon = async ({ name, stop }: Daemon) => {
    try {
      await stop()
    } catch (error) {
      logger.error(`failed to stop ${name}`, error)
    }
  }

  const stopping = Promise.all(daemons.map(stopDaemon))
  try {
    await Promise.race([engine.drain(runsMs), closing])
    await engine.release()
  } catch (error) {
    logger.error('failed to release the executing runs', error)
  }
  await Promise.race([stopping, closing])
  await waitAtMost(timers, STREAM_GRACE_MS, [Promise.all([streams.closeAll(), webSockets.closeAll()])])
  webSockets.terminateAll()
}
