import type { Page } from '@perdure/ports'

/** Yields the items of every page of a list. Reads the next page only when the caller has taken the items before. */
export async function* eachItem<T>(
  read: (cursor: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void, void> {
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    yield* page.items
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}
