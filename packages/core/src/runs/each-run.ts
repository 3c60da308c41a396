import { EVERY_ROW, type RunFilter, type RunRecord, type RunStore } from '@berth/ports'

const PAGE = 200

/** Every run that matches, oldest first, whoever owns it. Each page is read before its runs are handed out. */
export async function* eachRun(runs: RunStore, filter: RunFilter): AsyncGenerator<RunRecord, void, void> {
  let cursor: string | undefined
  do {
    const page = await runs.list(filter, { limit: PAGE, order: 'asc', cursor }, EVERY_ROW)
    yield* page.items
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}
