import { ClusterNode } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { id, status } from '../output/columns.ts'
import type { CommandGroup } from './command-spec.ts'
import { lists } from './operation-rows.ts'
import { CHANGES } from './server-rows.ts'

async function drainNode(call: Call, { node }: { readonly node: string }): Promise<void> {
  const { nodes } = call.client()
  const { items } = await nodes.list({ limit: 200 })
  const drained = await nodes.drain(items.find(({ name }) => name === node)?.id ?? node)
  call.out.document(drained, () => `${drained.name} hands over its work; restart it to use it again\n`)
}

export const nodesCommands: CommandGroup = {
  summary: 'list and drain the servers of a cluster',
  commands: [
    lists('nodes.list', {
      path: 'nodes list',
      summary: 'list the servers of the cluster',
      examples: ['perdure nodes list', 'perdure nodes list --json=id,status,duties'],
      note: (items) => (items.length === 0 ? 'this server shares its storage with no other server' : undefined),
      columns: {
        NODE: id('id'),
        NAME: ({ name, answered }) => (answered ? `${name} (answered)` : name),
        STATUS: status('status'),
        VERSION: 'version',
        RUNS: 'runs',
        LEASE: ({ leaseMs }) => `${(leaseMs / 1_000).toFixed(1)} s`,
        DUTIES: ({ duties }) => duties.join(' '),
        DIFFERS: ({ differs }) => differs.join(' '),
      },
    }),
    {
      path: 'nodes drain',
      summary: 'make a server hand over its work and execute no new runs until it is restarted',
      ...CHANGES,
      arguments: [{ name: 'node', note: 'id or name of the server, as nodes list prints it' }],
      examples: [
        'perdure nodes drain 3d1f4f0e-6f1c-4a53-9a0f-2b7f0f3f8a11',
        'perdure nodes drain "perdure-1 7" --json',
      ],
      schema: ClusterNode,
      load: async () => drainNode,
    },
  ],
}
