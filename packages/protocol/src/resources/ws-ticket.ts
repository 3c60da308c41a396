import * as v from 'valibot'
import { Timestamp } from '../ids.ts'

/** Single use; offered as `ticket.<value>` among the subprotocols of the upgrade. */
export const WsTicket = v.object({ ticket: v.string(), expiresAt: Timestamp, ttlMs: v.number() })
