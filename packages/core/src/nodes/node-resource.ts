import type { NodeRecord } from '@perdure/ports'
import type { ClusterNode } from '@perdure/protocol'
import type { InferOutput } from 'valibot'

interface Beside {
  /** The processes of the cluster. */
  readonly all: readonly NodeRecord[]
  /** The process that answers. */
  readonly executor: string | undefined
}

/** A process as the API shows it. */
export function nodeResource(node: NodeRecord, { all, executor }: Beside): InferOutput<typeof ClusterNode> {
  const { id, name, version = 'unknown', startedAt, leaseMs, isDraining, runs, duties } = node
  const self = all.find((one) => one.id === executor)
  return {
    ...{ id, name, version, status: isDraining ? 'draining' : 'ready', answered: id === executor },
    startedAt: new Date(startedAt).toISOString(),
    leaseMs: Math.max(0, Math.round(leaseMs)),
    ...{ runs, duties: [...duties] },
    differs: self === undefined ? [] : differencesOf(node.settings, self.settings),
  }
}

/** The parts of the configuration that are not the same in two processes. */
const differencesOf = (one: NodeRecord['settings'], other: NodeRecord['settings']): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((part) => one[part] !== other[part]).toSorted()
