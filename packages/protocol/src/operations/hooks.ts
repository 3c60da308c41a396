import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'
import { Hook, HookDelivery, HookDeliveryStatus, HookDeliverySummary, TestHookRequest } from '../resources/hooks.ts'
import { listOf, PageEntries } from '../resources/list.ts'

const READ = 'hooks:read:{hookId}'
const WRITE = 'hooks:write:{hookId}'

export const hookOperations = {
  listHooks: {
    id: 'hooks.list',
    method: 'GET',
    path: '/hooks',
    scope: 'hooks:read',
    idempotent: false,
    query: v.strictObject(PageEntries),
    responses: { 200: { schema: listOf(Hook), description: 'The hooks of the configuration, sorted by id.' } },
    errors: [],
    summary: 'List hooks.',
  },
  receiveHook: {
    id: 'hooks.receive',
    method: 'POST',
    path: '/hooks/:hookId',
    scope: null,
    idempotent: false,
    takesRaw: true,
    responses: {
      200: {
        stream: 'text',
        description:
          'The server has stored the delivery and what it starts, now or when it first arrived. The body is empty, or the answer to a URL challenge.',
      },
    },
    errors: [
      'hook-not-found',
      'hook-signature-invalid',
      'hook-unavailable',
      'SQLITE_BUSY',
      'storage-failed',
      'storage-unavailable',
    ],
    summary: 'Receive a signed request of another service. It needs a signature instead of a token.',
  },
  getHook: {
    id: 'hooks.get',
    method: 'GET',
    path: '/hooks/:hookId',
    scope: READ,
    idempotent: false,
    responses: { 200: { schema: Hook, description: 'The hook.' } },
    errors: ['hook-not-found'],
    summary: 'Read a hook.',
  },
  testHook: {
    id: 'hooks.test',
    method: 'POST',
    path: '/hooks/:hookId/test',
    scope: WRITE,
    idempotent: true,
    privileged: true,
    body: TestHookRequest,
    responses: { 200: { schema: HookDelivery, description: 'The sample was signed, verified and handled.' } },
    errors: ['hook-not-found', 'hook-not-testable', 'hook-signature-invalid', 'hook-unavailable'],
    summary: 'Send a signed sample to a hook; it starts what a real delivery starts.',
  },
  listHookDeliveries: {
    id: 'hooks.deliveries',
    method: 'GET',
    path: '/hooks/:hookId/deliveries',
    scope: READ,
    idempotent: false,
    query: v.strictObject({ ...PageEntries, status: v.optional(HookDeliveryStatus) }),
    responses: {
      200: { schema: listOf(HookDeliverySummary), description: 'What the hook has received, newest first.' },
    },
    errors: ['hook-not-found'],
    summary: 'List the deliveries that a hook has received.',
  },
  getHookDelivery: {
    id: 'hooks.delivery',
    method: 'GET',
    path: '/hooks/:hookId/deliveries/:hookDeliveryId',
    scope: READ,
    idempotent: false,
    responses: { 200: { schema: HookDelivery, description: 'The delivery.' } },
    errors: ['hook-delivery-not-found'],
    summary: 'Read a delivery that a hook has received.',
  },
  replayHookDelivery: {
    id: 'hooks.replay',
    method: 'POST',
    path: '/hooks/:hookId/deliveries/:hookDeliveryId/replay',
    scope: WRITE,
    idempotent: true,
    privileged: true,
    responses: { 200: { schema: HookDelivery, description: 'The delivery with its new outcome.' } },
    errors: ['hook-not-found', 'hook-delivery-not-found'],
    summary: 'Handle a received delivery again, as if it had just arrived.',
  },
} as const satisfies OperationTable
