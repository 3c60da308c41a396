import { triggerKindOf } from '@perdure/core'
import type { Call } from '../call.ts'
import type { ItemOf } from '../manifest/operation-types.ts'
import { type Columns, columnsText, id, pairsText, status } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'

export const TRIGGER_COLUMNS: Columns<ItemOf<'triggers.list'>> = {
  TRIGGER: id('id'),
  WHEN: (trigger) => triggerKindOf(trigger).text(trigger),
  STARTS: ({ target }) => ('agentId' in target ? target.agentId : target.workflowId),
  STATUS: status('status'),
  'CATCH-UP': 'catchUp',
  LAST: ({ lastFireAt }) => relativeText(lastFireAt),
  NEXT: ({ nextFireAt }) => relativeText(nextFireAt),
  FIRES: 'fireCount',
  MISSED: 'missed',
}

const FIRE_COLUMNS: Columns<ItemOf<'triggers.fires'>> = {
  FIRE: id('id'),
  STATUS: status('status'),
  'BY HAND': ({ manual }) => (manual ? 'yes' : ''),
  RUN: id('runId'),
  DUE: ({ scheduledAt }) => relativeText(scheduledAt),
}

const SHOWN_FIRES = 10

export async function triggersShowCommand(call: Call, { trigger: id }: { readonly trigger: string }): Promise<void> {
  const { triggers } = call.client()
  const trigger = await triggers.get(id)
  const { items: fires } = await triggers.fires(id, { limit: SHOWN_FIRES })
  call.out.document({ trigger, fires }, (paint) => {
    const table = columnsText(fires, FIRE_COLUMNS, { paint, width: undefined })
    return `${pairsText(Object.entries(trigger), paint)}\n${table}`
  })
}
