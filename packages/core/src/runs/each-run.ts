import {
  EVERY_ROW,
  type ListedRun,
  type RunContent,
  type RunFilter,
  type RunStore,
  type Visibility,
} from '@perdure/ports'

const PAGE = 200

export interface EachRunOptions<Content extends RunContent> {
  readonly visibility?: Visibility | undefined
  /** The large members to read; without this member, all of them. */
  readonly content?: readonly Content[] | undefined
}

/**
 * Iterates over the matching runs, oldest first, and reads them page by page: by default the runs of every owner, with
 * all their members.
 */
export async function* eachRun<Content extends RunContent = RunContent>(
  runs: Pick<RunStore, 'list'>,
  filter: RunFilter,
  { visibility = EVERY_ROW, content }: EachRunOptions<Content> = {},
): AsyncGenerator<ListedRun<Content>, void, void> {
  let cursor: string | undefined
  do {
    const page = await runs.list(filter, { limit: PAGE, order: 'asc', cursor, content }, visibility)
    yield* page.items
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}
