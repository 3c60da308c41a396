import { type RunResource, textOfItem } from '@perdure/core'
import { EVERY_ROW, fromJsonText } from '@perdure/ports'
import { eventsOf, type TestRun } from './run-agent.ts'
import type { World } from './world.ts'

/** A run of a chat in a test. */
export interface ChatRun extends Pick<RunResource, 'status' | 'input' | 'result' | 'error' | 'usage'> {
  readonly runId: string
  readonly events: TestRun['events']
}

const PAGE = { limit: 200, order: 'asc' } as const

/** Reads the runs of a world, oldest first, without those that other runs started: their usage counts for these. */
export async function chatRuns(world: World): Promise<readonly ChatRun[]> {
  const runs: ChatRun[] = []
  let cursor: string | undefined
  do {
    const query = { include: ['input', 'result'] } as const
    const page = await world.composition.engine.readRuns.list(query, { ...PAGE, cursor }, EVERY_ROW)
    for (const item of page.items) {
      const {
        id: runId,
        parentRunId,
        status,
        input,
        result,
        error,
        usage,
      } = fromJsonText(await textOfItem(item)) as RunResource
      if (parentRunId !== undefined) continue
      runs.push({ ...{ runId, status, input, result, error, usage }, events: await eventsOf(world, runId) })
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return runs
}
