import type { OperationTable } from '../operation.ts'
import { WsTicket } from '../resources/ws-ticket.ts'

export const realtimeOperations = {
  createWsTicket: {
    id: 'realtime.create-ws-ticket',
    method: 'POST',
    path: '/session/ws-ticket',
    scope: 'principal',
    idempotent: true,
    changesNothing: true,
    sealed: true,
    responses: { 201: { schema: WsTicket, description: 'The ticket, shown once.' } },
    errors: ['ticket-limit-exceeded', 'server-draining'],
    summary: 'Issue a single-use ticket for opening a WebSocket from a browser.',
  },
  openWebSocket: {
    id: 'realtime.open-ws',
    method: 'GET',
    path: '/ws',
    scope: 'principal',
    idempotent: false,
    responses: { 101: { stream: 'websocket', description: 'The connection speaks svc.protocol.v1.' } },
    errors: ['validation-failed', 'cors-denied', 'scope-denied', 'overloaded', 'server-draining'],
    summary: 'Open a WebSocket.',
  },
} as const satisfies OperationTable
