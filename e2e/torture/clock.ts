import { globSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Report, runKills } from './kills.ts'
import { pause } from './world.ts'

const HOUR = 3_600

/**
 * Clock corrections in seconds, applied in this order again and again. They add up to zero, so that the clock never
 * moves beyond the lifetime of idempotency keys.
 */
const JUMPS = [2 * HOUR, -HOUR, 24 * HOUR, -90, 90, -25 * HOUR]

/** A wall clock that can be set while a process runs; the monotonic clock stays real. */
export function createJumpingClock() {
  const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1')
  if (library === undefined) throw new Error('libfaketime is missing: apt-get install libfaketime')
  const file = join(mkdtempSync(join(tmpdir(), 'perdure-clock-')), 'offset')
  let offset = 0
  const write = () => writeFileSync(file, `${offset < 0 ? '' : '+'}${offset}s`)
  write()
  return {
    env: {
      ...{ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: file, TZ: 'UTC' },
      ...{ FAKETIME_DONT_FAKE_MONOTONIC: '1', FAKETIME_NO_CACHE: '1' },
    },
    jump(seconds: number) {
      offset += seconds
      write()
    },
  }
}

export interface ClockOptions {
  readonly seed: number
  readonly kills: number
  readonly workers: number
}

/** Runs clients while the wall clock of the server jumps before each kill. */
export async function runUnderJumps({ seed, kills, workers }: ClockOptions): Promise<Report> {
  const clock = createJumpingClock()
  return runKills({
    ...{ seed, kills, workers, uptimeMs: [100, 600], env: clock.env },
    async onKill(world, kill) {
      clock.jump(JUMPS[kill % JUMPS.length] ?? 0)
      await pause(world.between(50, 500))
    },
  })
}
