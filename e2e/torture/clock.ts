import { createMovableClock } from '../faked-clock.ts'
import { type Report, runKills } from './kills.ts'
import { pause } from './world.ts'

const HOUR = 3_600

/**
 * Clock corrections in seconds, applied in this order again and again. They add up to zero, so that the clock never
 * moves beyond the lifetime of idempotency keys.
 */
const JUMPS = [2 * HOUR, -HOUR, 24 * HOUR, -90, 90, -25 * HOUR]

export interface ClockOptions {
  readonly seed: number
  readonly kills: number
  readonly workers: number
}

/** Runs clients while the wall clock of the server jumps before each kill. */
export async function runUnderJumps({ seed, kills, workers }: ClockOptions): Promise<Report> {
  const clock = createMovableClock()
  return runKills({
    ...{ seed, kills, workers, uptimeMs: [100, 600], env: clock.env },
    async onKill(world, kill) {
      clock.move((JUMPS[kill % JUMPS.length] ?? 0) * 1_000)
      await pause(world.between(50, 500))
    },
  })
}
