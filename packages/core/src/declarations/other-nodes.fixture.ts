import { type EpochMs, type NodeDirectory, type NodeRecord, nodeDeclaration } from '@perdure/ports'

/** The other processes of a cluster; a test changes what they declare. `undefined`: one of an earlier release. */
export function createOtherNodes() {
  const others = new Map<string, readonly string[] | undefined>()
  const record = (id: string, declares: readonly string[] | undefined): NodeRecord => ({
    ...{ id, name: id, version: '1', settings: {}, startedAt: 0 as EpochMs, leaseMs: 1, isDraining: false, runs: 0 },
    ...{ duties: [], declares },
  })
  const nodes: Pick<NodeDirectory, 'list'> = {
    list: async () => [record('self', []), ...Array.from(others, ([id, declares]) => record(id, declares))],
  }
  return { nodes: nodes as NodeDirectory, others, declaring: nodeDeclaration }
}
