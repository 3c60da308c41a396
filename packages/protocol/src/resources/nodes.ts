import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Count } from './count.ts'

export const ClusterNode = documented(
  v.object({
    id: member(v.string(), 'Id of the server process. A restarted server has another id.'),
    name: member(v.string(), 'Host name and process id of the server.'),
    version: member(v.string(), 'Version of the server.'),
    status: member(v.picklist(['ready', 'draining']), '`draining` when the server executes no new runs.'),
    answered: member(v.boolean(), 'Whether this server answered the request.'),
    startedAt: member(v.string(), 'When the server joined.'),
    leaseMs: member(Count, 'Milliseconds until others take over its runs, unless it renews its lease.'),
    runs: member(Count, 'Number of runs that it executes.'),
    duties: member(v.array(v.string()), 'Background work that it does for all servers.'),
    differs: member(
      v.array(v.string()),
      'Parts of the configuration that differ from those of the server that answered.',
    ),
  }),
  'A server that shares the storage with others.',
  {
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
)

export const ClusterHealth = documented(
  v.object({
    ready: member(Count, 'Number of servers that execute runs.'),
    draining: member(Count, 'Number of servers that execute no new runs.'),
    queuedRuns: member(Count, 'Number of runs that wait for a slot on any server.'),
    oldestQueuedSeconds: member(Count, 'How long the oldest of these runs has waited, in seconds.'),
    runsWithoutCode: member(
      Count,
      'Number of these runs that no server can execute: none has their agent or workflow in their version.',
    ),
  }),
  'The servers that share the storage and their common queue, as this server last read them.',
  { ready: 3, draining: 0, queuedRuns: 2, oldestQueuedSeconds: 1, runsWithoutCode: 0 },
)
