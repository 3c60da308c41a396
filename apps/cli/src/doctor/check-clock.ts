import { statSync } from 'node:fs'
import type { ServerConfig } from '@perdure/protocol'
import { type Finding, ok, warn } from './finding.ts'

/** Allows for small differences between this clock and that of a file server. */
const TOLERANCE_MS = 5_000

/** Warns if the clock is behind the last write of the database: new rows would then look older than existing ones. */
export function checkClock({ storage: { path } }: Pick<ServerConfig, 'storage'>, now: number): Finding {
  const written = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  const last = Math.max(...written)
  if (last <= now + TOLERANCE_MS) return ok('clock', new Date(now).toISOString())
  const message = `the clock is at ${isoOf(now)}, behind the last write of the database at ${isoOf(last)}`
  return warn('clock', message, 'timedatectl set-ntp true')
}

const isoOf = (at: number): string => new Date(at).toISOString()
