import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'
import { listOf, PageEntries } from '../resources/list.ts'
import { ClusterNode } from '../resources/nodes.ts'

export const nodeOperations = {
  listNodes: {
    id: 'nodes.list',
    method: 'GET',
    path: '/nodes',
    scope: 'nodes:read',
    idempotent: false,
    query: v.strictObject(PageEntries),
    responses: {
      200: {
        schema: listOf(ClusterNode),
        description: 'The servers that share the storage, by id; empty without storage.cluster.',
      },
    },
    errors: [],
    summary: 'List the servers of the cluster.',
  },
  drainNode: {
    id: 'nodes.drain',
    method: 'POST',
    path: '/nodes/:nodeId/drain',
    scope: 'nodes:drain',
    idempotent: true,
    privileged: true,
    responses: {
      202: {
        schema: ClusterNode,
        description: 'The server hands over its work and executes no new runs until it is restarted.',
      },
    },
    errors: ['node-not-found'],
    summary: 'Drain a server of the cluster.',
  },
} as const satisfies OperationTable
