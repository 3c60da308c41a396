import { EVERY_ROW, type RunRecord, type RunStore } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'

/** The ids of the parent of the run, of its parent, and so on, as long as they have not ended. */
export async function activeAncestors(
  runs: Pick<RunStore, 'find'>,
  run: Pick<RunRecord, 'parentRunId'> | undefined,
): Promise<readonly string[]> {
  const ids: string[] = []
  for (let parentId = run?.parentRunId; parentId !== undefined; ) {
    const parent = await runs.find(parentId, EVERY_ROW)
    if (parent === undefined) break
    if (!isTerminal(parent.status)) ids.push(parent.id)
    parentId = parent.parentRunId
  }
  return ids
}
