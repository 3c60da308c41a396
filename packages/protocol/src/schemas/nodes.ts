import { ClusterHealth, ClusterNode } from '../resources/nodes.ts'
import { type NamedSchemas, namedObject } from './named-schema.ts'

export const nodeSchemas = {
  ClusterNode: namedObject(ClusterNode, {
    description: 'A server that shares the storage with others.',
    members: {
      id: 'Id of the server process. A restarted server has another id.',
      name: 'Host name and process id of the server.',
      version: 'Version of the server.',
      status: '`draining` when the server executes no new runs.',
      answered: 'Whether this server answered the request.',
      startedAt: 'When the server joined.',
      leaseMs: 'Milliseconds until others take over its runs, unless it renews its lease.',
      runs: 'Number of runs that it executes.',
      duties: 'Background work that it does for all servers.',
      differs: 'Parts of the configuration that differ from those of the server that answered.',
    },
    example: {
      id: '3d1f4f0e-6f1c-4a53-9a0f-2b7f0f3f8a11',
      name: 'perdure-1 7',
      version: '0.1.0',
      status: 'ready',
      answered: true,
      startedAt: '2026-03-03T08:00:00.000Z',
      leaseMs: 5_400,
      runs: 12,
      duties: ['timers', 'triggers'],
      differs: [],
    },
  }),
  ClusterHealth: namedObject(ClusterHealth, {
    description: 'The servers that share the storage and their common queue, as this server last read them.',
    members: {
      ready: 'Number of servers that execute runs.',
      draining: 'Number of servers that execute no new runs.',
      queuedRuns: 'Number of runs that wait for a slot on any server.',
      oldestQueuedSeconds: 'How long the oldest of these runs has waited, in seconds.',
      runsWithoutCode:
        'Number of these runs that no server can execute: none has their agent or workflow in their version.',
    },
    example: { ready: 3, draining: 0, queuedRuns: 2, oldestQueuedSeconds: 1, runsWithoutCode: 0 },
  }),
} as const satisfies NamedSchemas
