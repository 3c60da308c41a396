import { ClusterNode, listOf } from '@perdure/protocol'
import type { CommandSpec } from './command-spec.ts'
import { CHANGES, PAGE_FLAGS, READS } from './server-rows.ts'

export const nodeCommands: readonly CommandSpec[] = [
  {
    path: 'nodes list',
    summary: 'list the servers of the cluster',
    ...READS,
    flags: PAGE_FLAGS,
    examples: ['perdure nodes list', 'perdure nodes list --json=id,status,duties'],
    schema: listOf(ClusterNode),
    load: async () => (await import('../commands/nodes-command.ts')).nodesListCommand,
  },
  {
    path: 'nodes drain',
    summary: 'make a server hand over its work and execute no new runs until it is restarted',
    ...CHANGES,
    arguments: [{ name: 'node', note: 'id or name of the server, as nodes list prints it' }],
    examples: ['perdure nodes drain 3d1f4f0e-6f1c-4a53-9a0f-2b7f0f3f8a11', 'perdure nodes drain "perdure-1 7" --json'],
    schema: ClusterNode,
    load: async () => (await import('../commands/nodes-command.ts')).nodesDrainCommand,
  },
]
