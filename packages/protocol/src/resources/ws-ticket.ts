import * as v from 'valibot'
import { Timestamp } from '../ids.ts'
import { Count } from './count.ts'

/** A single-use ticket. The client offers it as the subprotocol `ticket.<value>` in the upgrade request. */
export const WsTicket = v.object({ ticket: v.string(), expiresAt: Timestamp, ttlMs: Count })
