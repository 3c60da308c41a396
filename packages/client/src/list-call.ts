export interface Page<Item> {
  readonly items: Item[]
  readonly nextCursor: string | null
}

/** A paged list. Await it for the first page, or iterate it for all items; pages are fetched on demand. */
export interface ListCall<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {
  /** Iterates over the pages. */
  pages(): AsyncIterableIterator<Page<Item>>
  /** Fetches all pages and returns their items. */
  all(): Promise<Item[]>
}

/** @param readPage fetches the page at a cursor, or the first page without one */
export function createListCall<Item>(readPage: (cursor?: string) => Promise<Page<Item>>): ListCall<Item> {
  const first = readPage()

  async function* pages() {
    let page = await first
    yield page
    while (page.nextCursor !== null) {
      page = await readPage(page.nextCursor)
      yield page
    }
  }

  async function* items() {
    for await (const page of pages()) yield* page.items
  }

  const all = async () => {
    const found: Item[] = []
    for await (const item of items()) found.push(item)
    return found
  }

  return Object.assign(first, { pages, all, [Symbol.asyncIterator]: items })
}
