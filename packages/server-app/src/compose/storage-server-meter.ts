import type { Meter, StorageServerStatus } from '@perdure/ports'

/** Records the use of the database server. Adds to each counter what was counted since the last scrape. */
export function createServerMeter(meter: Meter): (status: StorageServerStatus) => void {
  const counted = new Map<string, number>()
  const since = (name: string, total: number): number => {
    const added = total - (counted.get(name) ?? 0)
    counted.set(name, total)
    return added
  }
  return ({ connections, commits, transactions, unknownCommits, refusedConnections, retries }) => {
    for (const [state, count] of Object.entries(connections)) meter.gauge('svc_storage_connections', { state }, count)
    meter.gauge('svc_storage_group_commits', {}, transactions === 0 ? 0 : commits / transactions)
    meter.count('svc_storage_commits_unknown_total', {}, since('unknown', unknownCommits))
    meter.count('svc_storage_connections_refused_total', {}, since('refused', refusedConnections))
    for (const [code, total] of Object.entries(retries)) {
      meter.count('svc_storage_retries_total', { code }, since(`retries ${code}`, total))
    }
  }
}
