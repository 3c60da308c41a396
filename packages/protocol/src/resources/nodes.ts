import * as v from 'valibot'
import { Count } from './count.ts'

/** A server that shares the storage with others. */
export const ClusterNode = v.object({
  id: v.string(),
  name: v.string(),
  version: v.string(),
  status: v.picklist(['ready', 'draining']),
  answered: v.boolean(),
  startedAt: v.string(),
  leaseMs: Count,
  runs: Count,
  duties: v.array(v.string()),
  differs: v.array(v.string()),
})

/** The servers of a cluster and their queue, as one of them last read them. */
export const ClusterHealth = v.object({
  ready: Count,
  draining: Count,
  queuedRuns: Count,
  oldestQueuedSeconds: Count,
  runsWithoutCode: Count,
})
