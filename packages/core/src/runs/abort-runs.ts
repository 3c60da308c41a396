import { EVERY_ROW, type RunFilter, type RunStore } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { abortIfActive } from './abort-if-active.ts'
import type { AbortRun } from './abort-request.ts'
import { eachRun } from './each-run.ts'

export interface AbortRunsDeps {
  readonly runs: Pick<RunStore, 'list'>
  readonly abortRun: AbortRun
}

/** Aborts the matching runs that are active. */
export async function abortRuns(
  { runs, abortRun }: AbortRunsDeps,
  filter: Omit<RunFilter, 'statuses'>,
  reason: string,
): Promise<void> {
  for await (const { id } of eachRun(runs, { ...filter, statuses: ACTIVE_RUN_STATUSES }, { content: [] })) {
    await abortIfActive(abortRun, { runId: id, reason, visibility: EVERY_ROW })
  }
}
