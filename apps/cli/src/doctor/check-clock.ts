import { statSync } from 'node:fs'
import type { ServerConfig } from '@perdure/protocol'
import { type Finding, ok, warn } from './finding.ts'

/** Clocks of file servers differ from that of this machine by a little. */
const TOLERANCE_MS = 5_000

/** Whether the clock stands before the last write of the database: what is new would then seem older than what is there. */
export function checkClock({ storage: { path } }: Pick<ServerConfig, 'storage'>, now: number): Finding {
  const written = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  const last = Math.max(...written)
  if (last <= now + TOLERANCE_MS) return ok('clock', new Date(now).toISOString())
  const message = `the clock shows ${isoOf(now)}, and the database was last written at ${isoOf(last)}`
  return warn('clock', message, 'timedatectl set-ntp true')
}

const isoOf = (at: number): string => new Date(at).toISOString()
