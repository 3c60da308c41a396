import { EVERY_ROW, type ListedRun, type OutlinedMessage, type RunStore } from '@perdure/ports'
import { eachItem } from '../collections/each-item.ts'
import type { PageItem } from '../json/json-page.ts'
import { renderMessage } from './session-resource.ts'

type Runs = Pick<RunStore, 'list'>

/** Messages of a transcript as JSON. Those that the conversation does not show any more are marked. */
export async function renderMessages(runs: Runs, messages: readonly OutlinedMessage[]): Promise<readonly PageItem[]> {
  const withdrawn = await withdrawnAmong(runs, new Set(messages.flatMap(({ runId }) => runId ?? [])))
  return messages.map((message) => renderMessage(message, withdrawn.has(message.runId ?? '')))
}

/** Those of the runs whose messages are withdrawn. A message that another run has taken is withdrawn with that run. */
export async function withdrawnAmong(runs: Runs, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const found = await runsOf(runs, ids)
  const takers = await runsOf(runs, new Set(found.flatMap((run) => takerOf(run) ?? [])))
  const withdrawn = new Set(takers.flatMap(({ id, withdrawnBy }) => (withdrawnBy === undefined ? [] : [id])))
  const isWithdrawn = (run: ListedRun<never>) => {
    const taker = takerOf(run)
    return taker === undefined ? run.withdrawnBy !== undefined : withdrawn.has(taker)
  }
  return new Set(found.filter(isWithdrawn).map(({ id }) => id))
}

/** The run that has taken the message of this one. */
const takerOf = ({ finishReason, withdrawnBy }: ListedRun<never>): string | undefined =>
  finishReason === 'joined' ? withdrawnBy : undefined

async function runsOf({ list }: Runs, ids: ReadonlySet<string>): Promise<readonly ListedRun<never>[]> {
  if (ids.size === 0) return []
  const page = { limit: ids.size, order: 'asc', content: [] } as const
  const found: ListedRun<never>[] = []
  for await (const run of eachItem((cursor) => list({ ids: [...ids] }, { ...page, cursor }, EVERY_ROW))) found.push(run)
  return found
}
