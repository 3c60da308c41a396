import type { ListCall, Page } from '@perdure/client'

export interface PageFlags {
  readonly limit?: number
  readonly cursor?: string
  readonly all?: boolean
}

/** The pagination part of a query. */
export const pageQuery = ({ limit, cursor, all }: PageFlags) => ({
  ...(all ? { limit: 200 } : limit === undefined ? {} : { limit }),
  ...(cursor === undefined ? {} : { cursor }),
})

/** The requested page or, with `--all`, the items of this page and of every later page. */
export async function readPage<Item>(list: ListCall<Item>, { all }: PageFlags): Promise<Page<Item>> {
  return all ? { items: await list.all(), nextCursor: null } : list
}
