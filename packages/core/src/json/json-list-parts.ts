import { toJsonText } from '@perdure/ports'

/** JSON that is rendered part by part, so that a long list in it is never in memory as a whole. */
export type JsonParts = AsyncIterable<string>

/** Renders a JSON list, one part for each page of its items. */
export async function* jsonListParts(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string, void, void> {
  let separator = '['
  for await (const page of pages) {
    if (page.length === 0) continue
    yield `${separator}${page.map((item) => toJsonText(item)).join(',')}`
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}
