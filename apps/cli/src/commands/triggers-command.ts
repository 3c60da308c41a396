import { triggerKindOf } from '@perdure/core'
import type { Call } from '../call.ts'
import { columnsText, pairsText } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

export interface TriggerFlags {
  readonly trigger: string
}

const SHOWN_FIRES = 10

export async function triggersListCommand(call: Call, flags: PageFlags): Promise<void> {
  const now = Date.now()
  const page = await readPage(call.client().triggers.list(pageQuery(flags)), flags)
  call.out.list(page, [
    { head: 'TRIGGER', cell: ({ id }) => id, isId: true },
    { head: 'WHEN', cell: (trigger) => triggerKindOf(trigger).text(trigger) },
    { head: 'STARTS', cell: ({ target }) => ('agentId' in target ? target.agentId : target.workflowId) },
    { head: 'STATUS', cell: ({ status }) => status, isStatus: true },
    { head: 'CATCH-UP', cell: ({ catchUp }) => catchUp },
    { head: 'LAST', cell: ({ lastFireAt }) => relativeText(lastFireAt, now) },
    { head: 'NEXT', cell: ({ nextFireAt }) => relativeText(nextFireAt, now) },
    { head: 'FIRES', cell: ({ fireCount }) => fireCount },
    { head: 'MISSED', cell: ({ missed }) => missed },
  ])
}

export async function triggersShowCommand(call: Call, { trigger: id }: TriggerFlags): Promise<void> {
  const { triggers } = call.client()
  const trigger = await triggers.get(id)
  const { items: fires } = await triggers.fires(id, { limit: SHOWN_FIRES })
  const now = Date.now()
  call.out.document({ trigger, fires }, (paint) => {
    const table = columnsText(
      fires,
      [
        { head: 'FIRE', cell: (fire) => fire.id, isId: true },
        { head: 'STATUS', cell: ({ status }) => status, isStatus: true },
        { head: 'BY HAND', cell: ({ manual }) => (manual ? 'yes' : '') },
        { head: 'RUN', cell: ({ runId }) => runId, isId: true },
        { head: 'DUE', cell: ({ scheduledAt }) => relativeText(scheduledAt, now) },
      ],
      { paint, width: undefined },
    )
    return `${pairsText(Object.entries(trigger), paint)}\n${table}`
  })
}

export async function triggersFireCommand(call: Call, { trigger }: TriggerFlags): Promise<void> {
  const receipt = await call.client().triggers.fire(trigger)
  call.out.document(receipt, () => `fired ${trigger}: ${receipt.runId}\n`)
}

export async function triggersEnableCommand(call: Call, { trigger: id }: TriggerFlags): Promise<void> {
  const trigger = await call.client().triggers.enable(id)
  call.out.document(trigger, () => `enabled ${id}; next fire ${trigger.nextFireAt ?? '-'}\n`)
}

export async function triggersDisableCommand(call: Call, { trigger: id }: TriggerFlags): Promise<void> {
  const trigger = await call.client().triggers.disable(id)
  call.out.document(trigger, () => `disabled ${id}\n`)
}

export async function triggersPruneCommand(call: Call): Promise<void> {
  const pruned = await call.client().triggers.prune()
  call.out.document(pruned, () => `${JSON.stringify(pruned)}\n`)
}
