import { EVERY_ROW, type RunFilter, type RunRecord, type RunStore, type Visibility } from '@perdure/ports'

const PAGE = 200

/**
 * Iterates over the matching runs, oldest first, and reads them page by page. By default, the runs of every owner are
 * visible.
 */
export async function* eachRun(
  runs: RunStore,
  filter: RunFilter,
  visibility: Visibility = EVERY_ROW,
): AsyncGenerator<RunRecord, void, void> {
  let cursor: string | undefined
  do {
    const page = await runs.list(filter, { limit: PAGE, order: 'asc', cursor }, visibility)
    yield* page.items
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}
