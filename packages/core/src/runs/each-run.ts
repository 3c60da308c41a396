import { EVERY_ROW, type RunFilter, type RunRecord, type RunStore, type Visibility } from '@perdure/ports'

const PAGE = 200

/** Every run that matches and is visible, oldest first; whoever owns it when nothing is said. Each page is read before its runs are handed out. */
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
