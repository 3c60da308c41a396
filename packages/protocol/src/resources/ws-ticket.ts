import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { Count } from './count.ts'

export const WsTicket = documented(
  v.object({
    ticket: member(v.string(), 'The ticket, to offer as the subprotocol `ticket.<value>`. Valid once.'),
    expiresAt: member(Timestamp, 'When the ticket expires.'),
    ttlMs: member(Count, 'Milliseconds until the ticket expires.'),
  }),
  'A ticket for one WebSocket connection.',
  { ticket: 'Zm9vYmFyYmF6', expiresAt: '2026-03-02T09:15:30.000Z', ttlMs: 30_000 },
)
