import * as v from 'valibot'
import { Timestamp } from '../ids.ts'

/** Can be used once; the client offers it as the subprotocol `ticket.<value>` in the upgrade request. */
export const WsTicket = v.object({ ticket: v.string(), expiresAt: Timestamp, ttlMs: v.number() })
