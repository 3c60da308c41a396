export interface ListQuery {
  readonly limit?: number | undefined
  readonly order?: 'asc' | 'desc' | undefined
  readonly after?: string | undefined
}

const DEFAULT_LIMIT = 20

/** A page of items in the form of OpenAI. @param items oldest first */
export function toList<Item extends { readonly id: string }>(
  items: readonly Item[],
  { limit = DEFAULT_LIMIT, order = 'desc', after }: ListQuery,
): object {
  const ordered = order === 'asc' ? items : items.toReversed()
  const rest = after === undefined ? ordered : ordered.slice(ordered.findIndex(({ id }) => id === after) + 1)
  const data = rest.slice(0, limit)
  return toPage({ items: data, hasMore: rest.length > data.length })
}

export const toPage = ({ items, hasMore }: ListPage): object => ({
  ...{ object: 'list', data: items },
  ...{ first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null, has_more: hasMore },
})

interface ListPage {
  readonly items: readonly { readonly id: string }[]
  readonly hasMore: boolean
}
