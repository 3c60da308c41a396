export interface Page<Item> {
  readonly items: Item[]
  readonly nextCursor: string | null
}

/** A list: await it for its first page, iterate it for every item, page by page as they are needed. */
export interface ListCall<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {
  /** Every page from the first on. */
  pages(): AsyncIterableIterator<Page<Item>>
  /** Every item at once. */
  all(): Promise<Item[]>
}

/** @param readPage reads the page at a cursor; the first one without. */
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
