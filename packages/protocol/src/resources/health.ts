import * as v from 'valibot'

const CheckStatus = v.picklist(['ok', 'warn', 'fail', 'disabled'])
const check = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.object({ status: CheckStatus, message: v.optional(v.string()), ...entries })

/** The health document; `checks` has exactly these seven members. */
export const Health = v.object({
  status: v.picklist(['ok', 'degraded', 'failing']),
  version: v.string(),
  uptimeSeconds: v.number(),
  checks: v.object({
    storage: check({ walBytes: v.number(), thresholdBytes: v.number(), dbBytes: v.number(), writable: v.boolean() }),
    embedder: check({ name: v.optional(v.string()) }),
    secrets: check({ store: v.string() }),
    encryption: check({ enabled: v.boolean(), cipher: v.optional(v.string()) }),
    consolidator: check({ queueDepth: v.number(), deadLetters: v.number(), running: v.boolean() }),
    triggers: check({
      running: v.boolean(),
      active: v.number(),
      disabled: v.number(),
      nextFireAt: v.nullable(v.string()),
    }),
    replayBuffer: check({ events: v.number(), subjects: v.number(), bytes: v.number() }),
  }),
})

export const Liveness = v.object({ status: v.picklist(['ok']) })
export const Readiness = v.object({ status: v.picklist(['ready', 'starting', 'draining', 'failing']) })
