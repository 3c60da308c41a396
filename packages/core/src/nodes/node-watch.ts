import { type ClusterLoad, DUTIES, type Duty, type NodeDirectory, type NodeRecord } from '@perdure/ports'
import type { ClusterHealth } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import { createSupervisedLoop, type SupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'

export interface NodeWatchDeps extends SupervisedLoopDeps {
  /** Missing if no other process uses the storage. */
  readonly nodes?: NodeDirectory | undefined
}

/** The cluster as gauges. */
export interface ClusterGauges {
  readonly health: InferOutput<typeof ClusterHealth>
  readonly leaseMs: number
  readonly duties: readonly { readonly name: Duty; readonly isMine: boolean }[]
}

/** The cluster as this process last read it. */
export interface NodeWatch {
  readonly loop: SupervisedLoop
  /** `undefined` until the cluster was read for the first time. */
  health(): ClusterGauges['health'] | undefined
  gauges(): ClusterGauges | undefined
}

const EVERY_MS = 5_000

/** Reads the processes and the queue of the cluster at intervals, for health and metrics, which read memory. */
export function createNodeWatch(deps: NodeWatchDeps): NodeWatch {
  const { nodes, isMine = () => true } = deps
  let seen: { readonly nodes: readonly NodeRecord[]; readonly load: ClusterLoad } | undefined

  const loop = createSupervisedLoop(deps, {
    name: 'nodes',
    async work() {
      if (nodes === undefined) return undefined
      seen = { nodes: await nodes.list(), load: await nodes.load() }
      return EVERY_MS
    },
  })

  const health: NodeWatch['health'] = () => {
    if (seen === undefined) return undefined
    const { load } = seen
    const draining = seen.nodes.filter((node) => node.isDraining).length
    return {
      ...{ ready: seen.nodes.length - draining, draining, queuedRuns: load.queued },
      ...{ oldestQueuedSeconds: Math.round(load.oldestMs / 1_000), runsWithoutCode: load.withoutCode },
    }
  }

  return {
    loop,
    health,
    gauges() {
      const known = health()
      if (known === undefined || nodes === undefined) return undefined
      return {
        ...{ health: known, leaseMs: nodes.leaseMs() },
        duties: DUTIES.map((name) => ({ name, isMine: isMine(name) })),
      }
    },
  }
}
