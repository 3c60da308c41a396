import * as v from 'valibot'

/** Query members that every list accepts. */
export const PageEntries = {
  limit: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,3}$/), v.transform(Number), v.minValue(1), v.maxValue(200)),
    '50',
  ),
  cursor: v.optional(v.pipe(v.string(), v.maxLength(512))),
  order: v.optional(v.picklist(['asc', 'desc']), 'desc'),
}

export const listOf = <Item extends v.GenericSchema>(item: Item) =>
  v.object({ items: v.array(item), nextCursor: v.nullable(v.string()) })
