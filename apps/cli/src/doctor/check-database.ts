import type { ServerConfig } from '@perdure/protocol'
import { type DatabaseInspection, inspectDatabase } from '@perdure/server-app/admin'
import type { LoadedConfig } from '../config/load-config.ts'
import { type Finding, failFrom, ok, pendingText, warn } from './finding.ts'

/** Due times and leases would differ between the server and its database. */
const MOST_SKEW_MS = 2_000
/** A keyed run waits for at least four round trips. */
const SLOW_ROUND_TRIP_MS = 5

/** Checks that the PostgreSQL server can be used, without changing anything. */
export async function checkDatabase(config: ServerConfig, loaded: LoadedConfig): Promise<readonly Finding[]> {
  try {
    const found = await inspectDatabase(config, loaded)
    return [checkServer(found), checkSkew(found), checkSchema(config, found)]
  } catch (error) {
    return [failFrom('storage', error, 'check storage.urlRef, and that the server runs')]
  }
}

function checkServer({ serverVersion, roundTripMs }: DatabaseInspection): Finding {
  const text = `PostgreSQL ${serverVersion} answers in ${roundTripMs.toFixed(1)} ms`
  if (roundTripMs <= SLOW_ROUND_TRIP_MS) return ok('storage', text)
  return warn('storage', `${text}: each write waits for several round trips`, 'run the server close to its database')
}

function checkSkew({ clockSkewMs }: DatabaseInspection): Finding {
  const seconds = (Math.abs(clockSkewMs) / 1_000).toFixed(1)
  if (Math.abs(clockSkewMs) <= MOST_SKEW_MS) return ok('clocks', 'the clock of the database server agrees')
  const direction = clockSkewMs > 0 ? 'ahead of' : 'behind'
  return warn(
    'clocks',
    `the clock of the database server is ${seconds} s ${direction} this machine`,
    'timedatectl status',
  )
}

function checkSchema({ storage }: ServerConfig, { applied, pending }: DatabaseInspection): Finding {
  if (applied.length === 0) return ok('schema', `no schema ${storage.schema} yet: the first start creates it`)
  if (pending.length === 0) return ok('schema', `${storage.schema} is up to date, ${applied.length} migrations applied`)
  return warn('schema', `${pendingText(pending)}; applied by the next start`, 'perdure migrate up')
}
