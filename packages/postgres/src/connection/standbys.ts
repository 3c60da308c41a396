import type { Execute } from './connection.ts'

export interface Standbys {
  readonly connected: number
  readonly synchronous: number
  /** Whether the role may see how standbys replicate. */
  readonly areVisible: boolean
}

export async function readStandbys(execute: Execute): Promise<Standbys> {
  const { rows } = await execute({ text: SELECT, values: [] })
  const { connected, synchronous, hidden } = rows[0] as Record<'connected' | 'synchronous' | 'hidden', number>
  return { connected, synchronous, areVisible: hidden === 0 }
}

const SELECT = `select count(*)::int as connected,
  count(*) filter (where sync_state in ('sync', 'quorum'))::int as synchronous,
  count(*) filter (where sync_state is null)::int as hidden
  from pg_stat_replication`

/** A warning for the operator, if a promoted standby could lack acknowledged commits. */
export const asynchronousWarning = ({ connected, synchronous, areVisible }: Standbys): string | undefined =>
  connected > 0 && synchronous === 0 && areVisible
    ? 'every standby of the database server replicates asynchronously: a promoted standby may lack acknowledged commits'
    : undefined

/** The reason why a storage that needs a synchronous standby is not ready. */
export function missingStandby({ synchronous, areVisible }: Standbys): string | undefined {
  if (synchronous > 0) return undefined
  return areVisible
    ? 'No synchronous standby is connected to the database server; storage.requireSyncStandby demands one.'
    : 'The role may not see how standbys replicate; grant pg_monitor to it, as storage.requireSyncStandby is set.'
}
