import * as v from 'valibot'

export const SecretReferenceHealth = v.object({ field: v.string(), scheme: v.string(), resolved: v.boolean() })

export const SecretsHealth = v.object({
  active: v.string(),
  fallbackChain: v.array(v.string()),
  downgradedFrom: v.optional(v.string()),
  downgradeReason: v.optional(v.string()),
  references: v.array(SecretReferenceHealth),
})
