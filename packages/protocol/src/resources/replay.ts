import * as v from 'valibot'
import { strictObject } from '../plain-object.ts'

export const ReplayRequest = strictObject({
  raw: v.optional(v.boolean()),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(200))),
  cursor: v.optional(v.string()),
  order: v.optional(v.picklist(['asc', 'desc'])),
  speed: v.optional(v.pipe(v.number(), v.gtValue(0))),
})

/** A decision on one approval, identified by its id or by the tool call that requested it. */
export const Decision = strictObject({
  id: v.optional(v.string()),
  toolCallId: v.optional(v.string()),
  approved: v.boolean(),
  reason: v.optional(v.string()),
  payload: v.optional(v.unknown()),
})

/** What a tool call that the client performs has returned, or why it failed. */
export const ClientToolResult = strictObject({
  toolCallId: v.string(),
  result: v.optional(v.unknown()),
  error: v.optional(v.string()),
})

export const ResumeRequest = strictObject({
  payload: v.optional(v.unknown()),
  approvals: v.optional(v.array(Decision)),
  toolResults: v.optional(v.array(ClientToolResult)),
})
