import { CreateFactRequest, Metadata } from '@perdure/protocol'
import * as v from 'valibot'
import { checkBySchema } from '../memory/check-by-schema.ts'

const Instant = v.number()
const Importance = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
const Read = v.object({ id: v.string(), revision: v.number() })
const Change = v.strictObject({
  text: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
  metadata: v.optional(Metadata),
  importance: v.optional(Importance),
  expiresAt: v.optional(v.nullable(Instant)),
})

const Result = v.strictObject({
  remember: v.optional(v.array(v.strictObject({ ...CreateFactRequest.entries, expiresAt: v.optional(Instant) }))),
  revise: v.optional(v.array(v.object({ fact: Read, change: Change }))),
  forget: v.optional(v.array(Read)),
  weigh: v.optional(v.array(v.object({ fact: Read, importance: Importance }))),
  spent: v.optional(v.object({ tokens: v.number(), costUsd: v.number() })),
  hasMore: v.optional(v.boolean()),
})

/**
 * Validates the result of a phase: a custom phase may return model output that it has not checked.
 *
 * @throws PerdureError `validation-failed`
 */
export const checkPhaseResult = (result: unknown): void => checkBySchema(Result, result)
