import * as v from 'valibot'
import { documented, member } from '../documented.ts'

export const SecretReferenceHealth = documented(
  v.object({
    field: member(v.string(), 'Path of the configuration field.'),
    scheme: member(v.string(), 'Scheme of the reference, such as `env`.'),
    resolved: member(v.boolean(), 'Whether the reference names a secret that exists.'),
  }),
  'A secret reference of the configuration.',
  { field: 'auth.pepperRef', scheme: 'env', resolved: true },
)

export const SecretsHealth = documented(
  v.object({
    active: member(v.string(), 'Name of the active store.'),
    fallbackChain: member(v.array(v.string()), 'Names of the stores that the server tried, in this order.'),
    downgradedFrom: member(
      v.optional(v.string()),
      'Store that the configuration prefers. Absent when it is the active store.',
    ),
    downgradeReason: member(v.optional(v.string()), 'Why that store is not active. Absent when it is.'),
    references: member(v.array(SecretReferenceHealth), 'Every secret reference of the configuration.'),
  }),
  'Health of the secrets stores, without secret values.',
  {
    active: 'env',
    fallbackChain: ['env'],
    references: [{ field: 'auth.pepperRef', scheme: 'env', resolved: true }],
  },
)
