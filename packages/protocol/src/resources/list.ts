import * as v from 'valibot'
import { type Documented, documentationOf, documented, member } from '../documented.ts'

/** Query members that every list accepts. A page also ends at 4 MiB; `nextCursor` tells whether another follows. */
export const PageEntries = {
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,3}$/),
      v.transform(Number),
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(200),
    ),
    '50',
  ),
  cursor: v.optional(v.pipe(v.string(), v.maxLength(512))),
  order: v.optional(v.picklist(['asc', 'desc']), 'desc'),
}

/** Members of a run that a list returns only on request. */
const RUN_INCLUDES = ['input', 'result'] as const

/** The query member of lists of runs that asks for them: names separated by commas. */
export const Include = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => text.split(',')),
    v.array(v.picklist(RUN_INCLUDES)),
  ),
)

export const listOf = <Item extends v.GenericSchema & Documented>(item: Item) =>
  documented(
    v.object({
      items: member(v.array(item), 'The items of the page.'),
      nextCursor: member(
        v.nullable(v.string()),
        'Value of the parameter `cursor` for the next page; null when this page is the last.',
      ),
    }),
    'A page of a list.',
    { items: [documentationOf(item)?.example as v.InferInput<Item>], nextCursor: null },
  )
