import type { TriggerKind } from '@perdure/protocol'
import { cron } from './cron.ts'
import { event } from './event.ts'
import { idle } from './idle.ts'
import { interval } from './interval.ts'
import type { TriggerKindSpec } from './trigger-kind.ts'
import { webhook } from './webhook.ts'

/** The specification of each kind of trigger; the type requires an entry for every kind. */
const TRIGGER_KINDS: { readonly [Kind in TriggerKind]: TriggerKindSpec<Kind> } = {
  cron,
  interval,
  idle,
  event,
  webhook,
}

/** The specification of the kind of a trigger. */
export const kindOf = <Kind extends TriggerKind>({ kind }: { readonly kind: Kind }): TriggerKindSpec<Kind> =>
  TRIGGER_KINDS[kind]
